#if canImport(StoreKit)
  public import StoreKit

  extension StoreKitStore {
    /// A sheet with more options, for ``Shop/purchase(_:quantity:for:context:isAnother:sheet:)``: an offer, the user's eligibility
    /// for an introductory offer, or a promotion that your backend signs.
    ///
    /// The payment has the order's account token and quantity in any case: give no token and no quantity of your own.
    ///
    /// - Parameters:
    ///   - options: The other options of an order, made before the sheet is shown. A signature of the older kind covers
    ///     the account token: sign `order.accountToken`, in lower case. If this throws, `StoreError.noOptions` says so, and
    ///     nothing was charged.
    ///   - sheet: Shows the sheet. StoreKit's own unless it is given; on visionOS it has to be.
    public func sheet(
      options: @escaping @Sendable (PurchaseOrder) async throws -> Set<Product.PurchaseOption>,
      showing sheet: Sheet? = nil
    ) -> Shop.Sheet {
      { order in
        let product = try await Self.product(of: order)
        let more: Set<Product.PurchaseOption>
        do {
          more = try await options(order)
        } catch {
          // By its type only: the app's own error may quote a signature.
          throw StoreError.noOptions(reason: "\(type(of: error))")
        }
        return try await Self.pay(order, for: product, options: more, sheet: sheet ?? Self.systemSheet)
      }
    }

    /// As above, with options that are the same for each order, such as `.winBackOffer(offer)`.
    public func sheet(
      options: Set<Product.PurchaseOption>, showing sheet: Sheet? = nil
    ) -> Shop.Sheet {
      self.sheet(options: { _ in options }, showing: sheet)
    }

    /// A sheet for a subscription with seats, for ``Shop/purchase(_:seats:for:context:isAnother:sheet:)``. The payment has the
    /// order's account token and its number of seats.
    ///
    /// - Parameters:
    ///   - option: StoreKit's option for a number of seats in all: `{ .seats($0) }`. It is back-deployed to iOS 15, and needs
    ///     the SDK of iOS 27.3.
    ///   - sheet: Shows the sheet. StoreKit's own unless it is given; on visionOS it has to be.
    public func sheet(
      seats option: @escaping @Sendable (Int) -> Product.PurchaseOption, showing sheet: Sheet? = nil
    ) -> Shop.Sheet {
      { order in
        let product = try await Self.product(of: order)
        return try await Self.pay(
          order, for: product, options: [], seats: option(order.quantity), sheet: sheet ?? Self.systemSheet)
      }
    }

    /// A sheet for an offer code, for ``Shop/redeem(for:sheet:)``.
    ///
    /// - Parameter sheet: Shows the sheet, and returns what the code gives:
    ///   `try await AppStore.presentOfferCodeRedeemSheet(from: controller)`, since iOS 27 and macOS 27. The older forms return
    ///   nothing: return nil after them in a sheet of your own.
    public func redeemSheet(
      _ sheet: @escaping @MainActor @Sendable () async throws -> VerificationResult<StoreKit.Transaction>
    ) -> Shop.RedeemSheet {
      {
        do {
          return StoreTransaction(try await sheet())
        } catch {
          guard case .purchased(let transaction) = try Self.end(of: error, product: "") else { return nil }
          return transaction
        }
      }
    }
  }
#endif
