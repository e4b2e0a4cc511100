#if canImport(StoreKit)
  public import StoreKit

  extension StoreKitStore: SellingStore {
    /// Shows the system's sheet for a product and returns its result: `product.purchase(options:)`,
    /// `purchase(confirmIn:options:)`, or SwiftUI's `PurchaseAction`.
    public typealias Sheet =
      @MainActor (Product, Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult

    /// Transactions that arrive while the app runs, except the results of `purchase`; for
    /// ``SyncEngine/receive(updates:)``. Unfinished transactions come first, so listen from launch on.
    public var updates: AsyncMapSequence<StoreKit.Transaction.Transactions, StoreTransaction> {
      StoreKit.Transaction.updates.map { StoreTransaction($0) }
    }

    /// Asks the user to pay for an order. On visionOS it throws `StoreError.noSheet`: there, and in apps with several
    /// scenes, pass the sheet: ``purchase(_:sheet:)``.
    @MainActor public func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult {
      try await purchase(order, sheet: Self.systemSheet)
    }

    /// Asks the user to pay for an order, with a sheet of the app's choice.
    ///
    /// The payment carries the order's account token, which binds the transaction to its order. Pass a
    /// `purchased` transaction to the engine, which finishes it. Do not finish it yourself.
    ///
    /// - Throws: `StoreError` if there is no such product, or if the system's result is unknown; otherwise
    ///   StoreKit's error. An error does not prove that nothing was charged: leave the order open.
    @MainActor public func purchase(_ order: PurchaseOrder, sheet: Sheet) async throws -> PurchaseResult {
      try await Self.pay(order, for: Self.product(of: order), options: [], sheet: sheet)
    }

    /// The product that StoreKit sells under the order's id.
    static func product(of order: PurchaseOrder) async throws -> Product {
      let products = try await Product.products(for: [order.productID])
      guard let product = products.first(where: { $0.id == order.productID }) else {
        throw StoreError.productUnavailable(productID: order.productID)
      }
      return product
    }

    /// Shows a sheet, with the order's own options and others.
    @MainActor static func pay(
      _ order: PurchaseOrder, for product: Product, options: Set<Product.PurchaseOption>, sheet: Sheet
    ) async throws -> PurchaseResult {
      do {
        return try result(of: try await sheet(product, Self.options(for: order).union(options)))
      } catch StoreKitError.userCancelled {
        return .cancelled
      }
    }

    /// StoreKit's own sheet. visionOS shows one only in a scene that the app names.
    static var systemSheet: Sheet {
      #if os(visionOS)
        return { _, _ in throw StoreError.noSheet }
      #else
        return { product, options in try await product.purchase(options: options) }
      #endif
    }

    /// The order's account token, and its quantity if it is not 1. StoreKit accepts a quantity only for
    /// consumables and non-renewing subscriptions, and 10 at most.
    static func options(for order: PurchaseOrder) -> Set<Product.PurchaseOption> {
      var options: Set<Product.PurchaseOption> = [.appAccountToken(order.accountToken)]
      if order.quantity != 1 { options.insert(.quantity(order.quantity)) }
      return options
    }

    private static func result(of answer: Product.PurchaseResult) throws(StoreError) -> PurchaseResult {
      switch answer {
      case .success(let result): return .purchased(StoreTransaction(result))
      case .pending: return .pending
      case .userCancelled: return .cancelled
      @unknown default: throw .unknownAnswer
      }
    }
  }
#endif
