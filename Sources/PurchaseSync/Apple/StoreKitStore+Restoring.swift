#if canImport(StoreKit)
  import StoreKit

  extension StoreKitStore {
    /// Reads `Transaction.currentEntitlements`: non-consumables and running subscriptions, also of the family, and
    /// non-renewing subscriptions. Refunded and revoked ones are not in it, and neither are consumables.
    @concurrent public func currentEntitlements() async throws -> [StoreTransaction]? {
      var transactions: [StoreTransaction] = []
      for await result in StoreKit.Transaction.currentEntitlements {
        transactions.append(StoreTransaction(result))
      }
      // A cancelled sequence ends early. A partial list must not be taken for a complete one.
      try Task.checkCancellation()
      return transactions.oldestFirst
    }

    /// Calls `AppStore.sync()`. **Asks for a password**: the only caller is a restore for which the user asked.
    @concurrent public func sync() async throws {
      do {
        try await AppStore.sync()
      } catch StoreKitError.userCancelled {
        // StoreKit says so without a network, too.
        throw StoreError.syncFailed(reason: "the user cancelled it, or there is no network")
      } catch {
        throw StoreError.syncFailed(reason: "\(type(of: error))")
      }
    }
  }
#endif
