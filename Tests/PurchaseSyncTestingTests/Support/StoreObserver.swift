import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Watches a store from outside: each charge must stay, each unfinished transaction must be listed again, and each
/// document must agree with the store.
struct StoreObserver {
  private var ids: [String] = []
  /// The transactions that have to be listed, by store account.
  private var open: [String: Set<String>] = [:]
  /// Refunded and upgraded as they were last seen.
  private var marks: [String: [Bool]] = [:]

  mutating func finished(_ id: String, of storeAccount: String) { open[storeAccount]?.remove(id) }

  /// Looks at everything that a call may have changed.
  mutating func look(at store: StoreModel, accounts: [String], now: Timestamp) {
    let seen = store.transactions.map(\.transactionID)
    #expect(Array(seen.prefix(ids.count)) == ids)
    #expect(Set(seen).count == seen.count)
    #expect(store.charges.allSatisfy { ($0.price ?? 0) >= $0.returnedPrice && $0.returnedPrice >= 0 })
    ids = seen
    for record in store.transactions {
      let mark = [record.revokedAt != nil, record.isUpgraded]
      if marks[record.transactionID] != mark {
        open[record.storeAccount, default: []].insert(record.transactionID)
      }
      marks[record.transactionID] = mark
    }
    for account in accounts {
      let listed = store.unfinished(storeAccount: account).map(\.transactionID)
      #expect(Set(listed).count == listed.count)
      // A store may list more transactions again than have changed: a restore does so for subscriptions.
      #expect(Set(listed).isSuperset(of: open[account] ?? []))
      let own = store.subscriptions.values.filter { $0.storeAccount == account && $0.plan.groupID != nil }
      #expect(Dictionary(grouping: own, by: \.plan.groupID).values.allSatisfy { $0.count == 1 })
    }
    #expect(store.subscriptions.values.allSatisfy { $0.dueAt.map { $0 > now } ?? true })
  }

  /// Compares the answers that a backend would read with the store's own state.
  func compare(_ shop: inout Shop, _ account: String) throws {
    let refreshed = try shop.store.refreshReceipt(storeAccount: account, now: shop.now)
    let bytes = try #require(refreshed)
    let known = shop.store.transactions(storeAccount: account)
    let expected = known.filter { $0.kind != .consumable || !$0.isFinished }.map(\.transactionID)
    #expect(try AppReceipt(decoding: bytes).inApp.map(\.transactionID) == expected)
    let response = try shop.ask(Data(bytes).base64EncodedString())
    #expect(response.status == .ok)
    let statuses = SubscriptionStatus.all(in: SubscriptionFacts(response), at: shop.now.milliseconds)
    for status in statuses where status.ownership == .purchased {
      let life = try #require(shop.store.subscription(of: status.originalTransactionID))
      #expect(status.isEntitled == life.isEntitled, "\(status) \(life)")
      #expect(status.productID == life.last.productID)
      // After a voluntary cancel in the grace period, the answer does not mention the renewal any more.
      if case .gracePeriod = life.phase, !life.willRenew { continue }
      #expect(status.willAutoRenew == life.willRenew)
    }
    let entitled = statuses.filter { $0.isEntitled && $0.ownership == .purchased && $0.groupID != nil }
    #expect(Set(entitled.map(\.groupID)).count == entitled.count)
    for delivered in shop.store.listing(storeAccount: account, now: shop.now).transactions {
      let jws = try #require(delivered.proof)
      let facts = try SignedTransaction(jws: jws)
      #expect(facts.transactionID == delivered.transactionID && facts.unknownFields.isEmpty)
      let proof = ProofDocument(kind: .signedTransaction, data: jws)
      #expect(shop.store.verify(.proof(proof), now: shop.now) == .genuine([facts]))
    }
    if let last = known.last {
      let old = try shop.ask(try shop.oldReceipt(of: last))
      #expect(old.status == .ok || (old.status == .lapsed && last.kind == .autoRenewable))
    }
  }

  /// Every notification decodes and is about a transaction that there is. A second attempt has the same body.
  func read(_ notifications: [OutgoingNotification], _ store: StoreModel) throws {
    for notification in notifications where notification.failures == 0 {
      let json = Data(notification.body.utf8)
      if notification.version == .one {
        #expect(try ServerNotificationV1(json: json).unknownFields.isEmpty)
      } else {
        let details = try #require(try ServerNotificationV2(json: json).details)
        #expect(try details.transaction()?.transactionID == notification.transactionID)
        _ = try details.renewalInfo()
      }
      #expect(store.transaction(notification.transactionID) != nil)
    }
  }
}
