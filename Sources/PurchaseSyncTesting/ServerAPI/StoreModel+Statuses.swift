import AppStoreDocuments
import AppStoreReceipts
import PurchaseQueue

/// *Get All Subscription Statuses*: where each subscription of a customer stands.
struct SubscriptionStatusItem: Hashable {
  var groupID: String
  var status: SubscriptionState
  /// The newest transaction of the subscription.
  var record: StoreTransactionRecord
  var renewal: ForgedRenewal
}

extension StoreModel {
  /// Each subscription that the customer has or had, in the order of its first purchase, family shares included. With
  /// statuses, only those in one of them.
  func subscriptionStatuses(
    of anyID: String, in statuses: [String] = []
  ) throws(ServerAPIError) -> [SubscriptionStatusItem] {
    var wanted: Set<Int> = []
    for word in statuses {
      guard let number = Int(word), 1...5 ~= number else { throw .invalidStatus }
      wanted.insert(number)
    }
    var chains: [String] = []
    var newest: [String: StoreTransactionRecord] = [:]
    for record in transactions(storeAccount: try customer(of: anyID)) where record.kind == .autoRenewable {
      if newest[record.originalTransactionID] == nil { chains.append(record.originalTransactionID) }
      newest[record.originalTransactionID] = record
    }
    return chains.compactMap { newest[$0] }.compactMap(statusItem)
      .filter { wanted.isEmpty || wanted.contains($0.status.rawValue) }
  }

  /// Nil for a transaction without a subscription, which the model never writes.
  private func statusItem(_ record: StoreTransactionRecord) -> SubscriptionStatusItem? {
    guard let subscription = subscription(of: record.transactionID) else { return nil }
    let isRevokedShare = record.ownership != .purchased && record.revokedAt != nil
    return SubscriptionStatusItem(
      // A product outside a group is its own group here. The real store has none outside.
      groupID: record.groupID ?? record.productID,
      status: isRevokedShare ? .revoked : subscription.state, record: record,
      renewal: renewal(of: record.originalTransactionID)
        ?? ForgedRenewal(of: subscription, originalTransactionID: record.originalTransactionID))
  }
}
