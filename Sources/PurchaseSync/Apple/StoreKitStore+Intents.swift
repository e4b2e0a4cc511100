#if canImport(StoreKit)
  public import StoreKit

  // Apple's reference names no other system.
  #if !os(tvOS) && !os(watchOS) && !os(visionOS)
    @available(iOS 16.4, macOS 14.4, *)
    extension StoreKitStore {
      /// A purchase that the user began outside of the app: a promoted product, or a win-back offer.
      public struct Intent: Sendable {
        fileprivate let product: Product
        fileprivate let options: Set<Product.PurchaseOption>

        /// The product, for ``Shop/purchase(_:quantity:for:context:isAnother:sheet:)``.
        public var productID: String { product.id }

        /// The sheet for that call. It has the offer that the user chose.
        ///
        /// - Parameter sheet: Shows the sheet. StoreKit's own unless it is given.
        public func sheet(showing sheet: Sheet? = nil) -> Shop.Sheet {
          let (product, options) = (self.product, self.options)
          return { order in
            guard order.productID == product.id else {
              throw StoreError.productUnavailable(productID: order.productID)
            }
            return try await StoreKitStore.pay(
              order, for: product, options: options, sheet: sheet ?? StoreKitStore.systemSheet)
          }
        }
      }

      /// The purchases that the user begins outside of the app. Listen from launch on, and sell each when the user can be
      /// asked: nothing is charged before the sheet.
      ///
      /// It replaces `paymentQueue(_:shouldAddStorePayment:for:)` of the original API.
      public var purchaseIntents: AsyncMapSequence<PurchaseIntent.PurchaseIntents, Intent> {
        PurchaseIntent.intents.map { Intent(product: $0.product, options: Self.options(of: $0)) }
      }

      private static func options(of intent: PurchaseIntent) -> Set<Product.PurchaseOption> {
        guard #available(iOS 18, macOS 15, *), let offer = intent.offer, offer.type == .winBack else {
          return []
        }
        return [.winBackOffer(offer)]
      }
    }
  #endif
#endif
