#if canImport(StoreKit)
  import Foundation
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

    /// Asks the user to pay for an order, in the scene that the user turned to last. The store knows the scenes that became
    /// active after it was made, so make it at launch. Without one, visionOS throws `StoreError.noSheet`, and the other
    /// systems choose a place. To choose it yourself, pass the sheet: ``purchase(_:sheet:)``.
    @MainActor public func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult {
      try await purchase(order, sheet: Self.systemSheet)
    }

    /// Asks the user to pay for an order, with a sheet of the app's choice.
    ///
    /// The payment carries the order's account token, which binds the transaction to its order. Pass a
    /// `purchased` transaction to the engine, which finishes it. Do not finish it yourself.
    ///
    /// - Throws: `StoreError`: before the payment, or of an unknown end. Only the former proves that nothing was charged:
    ///   leave the order open after the others.
    @MainActor public func purchase(_ order: PurchaseOrder, sheet: Sheet) async throws -> PurchaseResult {
      try await Self.pay(order, for: Self.product(of: order), options: [], sheet: sheet)
    }

    /// The product that StoreKit sells under the order's id. No sheet is shown before, so that no error of it is one of a
    /// payment.
    static func product(of order: PurchaseOrder) async throws -> Product {
      let products: [Product]
      do {
        products = try await Product.products(for: [order.productID])
      } catch {
        throw StoreError.productUnreachable(reason: Self.name(of: error))
      }
      guard let product = products.first(where: { $0.id == order.productID }) else {
        throw StoreError.productUnavailable(productID: order.productID)
      }
      return product
    }

    /// Shows a sheet, with the order's own options and others.
    @MainActor static func pay(
      _ order: PurchaseOrder, for product: Product, options: Set<Product.PurchaseOption>,
      seats: Product.PurchaseOption? = nil, sheet: Sheet
    ) async throws -> PurchaseResult {
      let own: Set<Product.PurchaseOption> =
        seats.map { [.appAccountToken(order.accountToken), $0] } ?? Self.options(for: order)
      do {
        return try result(of: try await sheet(product, own.union(options)))
      } catch let error as StoreError {
        throw error
      } catch {
        return try end(of: error, product: order.productID)
      }
    }

    /// What an error of StoreKit says about the payment: the user closed the sheet, or a `StoreError` is thrown. Only where
    /// Apple describes a payment that does not begin, it proves that nothing was charged.
    static func end(of error: any Error, product: String) throws -> PurchaseResult {
      switch error {
      case let error as StoreKitError: return try end(of: error, product: product)
      case let error as Product.PurchaseError: throw refusal(of: error, product: product)
      case let error where SheetEnd.isCancellation(error): return .cancelled
      default:
        throw StoreError(originalAPI: error as NSError, product: product)
          ?? .sheetFailed(reason: name(of: error))
      }
    }

    /// What an error of StoreKit says that a sheet of the app's own has thrown as it is; nil for an error of another kind.
    static func end(ofOwnSheet error: any Error, product: String) -> Result<PurchaseResult, any Error>? {
      guard error is StoreKitError || error is Product.PurchaseError else { return nil }
      return Result { try end(of: error, product: product) }
    }

    private static func end(of error: StoreKitError, product: String) throws -> PurchaseResult {
      switch error {
      case .userCancelled: return .cancelled
      case .systemError(let cause) where SheetEnd.isCancellation(cause): return .cancelled
      case .notAvailableInStorefront: throw StoreError.productUnavailable(productID: product)
      case .notEntitled: throw StoreError.unsupported(reason: "the app lacks an entitlement")
      case .unsupported: throw StoreError.unsupported(reason: "StoreKit does not support this")
      case .networkError(let cause): throw StoreError.sheetFailed(reason: name(of: cause))
      case .systemError(let cause): throw StoreError.sheetFailed(reason: name(of: cause))
      case .unknown: throw StoreError.sheetFailed(reason: "an unknown error")
      @unknown default: throw newer(error) ?? StoreError.sheetFailed(reason: "a newer error")
      }
    }

    private static func refusal(of error: Product.PurchaseError, product: String) -> StoreError {
      switch error {
      case .productUnavailable: .productUnavailable(productID: product)
      case .purchaseNotAllowed: .notAllowed
      case .ineligibleForOffer: .ineligible
      case .invalidQuantity: .invalidPayment(reason: "its quantity")
      case .invalidOfferIdentifier: .invalidOffer(reason: "its identifier")
      case .invalidOfferPrice: .invalidOffer(reason: "its price")
      case .invalidOfferSignature: .invalidOffer(reason: "its signature")
      case .missingOfferParameters: .invalidOffer(reason: "a parameter is missing")
      @unknown default: newer(error) ?? .sheetFailed(reason: "a newer error of the purchase")
      }
    }

    /// The members of newer systems, by their names: the package is built with SDKs that lack them, too. Of another name
    /// nothing is known.
    private static func newer(_ error: any Error) -> StoreError? { StoreError(newerMember: "\(error)") }

    /// By its domain and number only: its text may quote a signature.
    private static func name(of error: any Error) -> String {
      let error = error as NSError
      return "\(error.domain) \(error.code)"
    }

    /// StoreKit's own sheet, in the scene that the user turned to last where one is known. visionOS shows one nowhere else.
    static var systemSheet: Sheet {
      { product, options in
        #if canImport(UIKit)
          if #available(iOS 17, macOS 14, *), let scene = AppScenes.shared.front {
            return try await purchase(product, in: scene, options)
          }
        #endif
        #if os(visionOS)
          throw StoreError.noSheet
        #else
          return try await product.purchase(options: options)
        #endif
      }
    }

    /// The order's account token, and its quantity if it is not 1. StoreKit accepts a quantity only for
    /// consumables and non-renewing subscriptions, and 10 at most: for seats it throws `invalidQuantity`, before a payment.
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
