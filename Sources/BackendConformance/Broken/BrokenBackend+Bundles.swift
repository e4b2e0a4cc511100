import AppStoreReceipts
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs of bundles.
  static let bundles: [BrokenBackend] = [
    BrokenBackend(
      "bundle-as-member", "an order of a bundle is compared with the product of the subscription",
      hooks: changingFacts { facts, _, _ in facts.bundle?.productID = nil }),
    BrokenBackend(
      "bundle-once", "the payment of a bundle counts as one purchase: its first subscription is credited",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .granted {
          let id = reply.verdicts[index].transactionID
          let model = try mock.backend.model()
          guard let row = model.purchases.last(where: { $0.facts.transactionID == id }),
            let payment = row.facts.bundle?.transactionID
          else { continue }
          guard let first = mock.brokenMemory.payments[payment] else {
            mock.brokenMemory.payments[payment] = id
            continue
          }
          guard first != id else { continue }
          try write(mock) { _ in [.reversal(Reversal(transaction: row.transaction, at: call.now))] }
          reply.verdicts[index].verdict = .duplicate
        }
      })),
    BrokenBackend(
      "bundle-token-only", "a subscription of a bundle without a token belongs to who uploads it",
      hooks: changingFacts { facts, _, _ in
        guard facts.appAccountToken == nil else { return }
        facts.bundle?.transactionID = nil
        facts.bundle?.originalTransactionID = nil
      }),
    BrokenBackend(
      "bundle-refunds", "the switch to a bundle is taken for a refund",
      hooks: changingFacts { facts, _, _ in
        if facts.isUpgradedToBundle == true { facts.isUpgradedToBundle = false }
      }),
    BrokenBackend(
      "unknown-product-rejected", "a purchase of a product that is not in the table is rejected",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .granted {
          let id = reply.verdicts[index].transactionID
          let row = try mock.backend.model().purchases.last { $0.facts.transactionID == id }
          let known = [row?.facts.productID, row?.facts.bundle?.productID].compactMap(\.self)
          guard !known.contains(where: { mock.store.products[$0] != nil }) else { continue }
          reply.verdicts[index].verdict = .rejected
        }
      })),
  ]
}
