#if canImport(StoreKit)
  public import StoreKit

  extension StoreKitStore {
    /// Shows the system's sheet for a product and answers with what came of it: `product.purchase(options:)`,
    /// `purchase(confirmIn:options:)`, or SwiftUI's `PurchaseAction`.
    public typealias Sheet =
      @MainActor (Product, Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult

    /// What comes up while the app runs, other than the answers of `purchase`; for ``SyncEngine/receive(updates:)``.
    /// Unfinished transactions come first, so listen from launch on.
    public var updates: AsyncMapSequence<StoreKit.Transaction.Transactions, StoreTransaction> {
      StoreKit.Transaction.updates.map { StoreTransaction($0) }
    }

    #if !os(visionOS)
      /// Asks the user to pay for an order. On visionOS, and in apps with several scenes, say where:
      /// ``purchase(_:sheet:)``.
      @MainActor public func purchase(_ order: Order) async throws -> PurchaseResult {
        try await purchase(order) { product, options in try await product.purchase(options: options) }
      }
    #endif

    /// Asks the user to pay for an order, with a sheet of the app's choice.
    ///
    /// The payment carries the order's account token, by which the transaction finds its order again. Hand a
    /// `purchased` transaction to the engine, which finishes it; don't finish it yourself.
    ///
    /// - Throws: `StoreError` if there is no such product, or the system's answer is new; else what StoreKit throws.
    ///   An error doesn't prove that nothing was charged: leave the order open.
    @MainActor public func purchase(_ order: Order, sheet: Sheet) async throws -> PurchaseResult {
      let products = try await Product.products(for: [order.productID])
      guard let product = products.first(where: { $0.id == order.productID }) else {
        throw StoreError.productUnavailable(productID: order.productID)
      }
      do {
        return try Self.result(of: try await sheet(product, Self.options(for: order)))
      } catch StoreKitError.userCancelled {
        return .cancelled
      }
    }

    /// The order's account token, and its quantity where there is something to say: StoreKit takes one for consumables
    /// and non-renewing subscriptions only, and 10 at most.
    static func options(for order: Order) -> Set<Product.PurchaseOption> {
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
