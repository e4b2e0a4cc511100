import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// A backend that is restored from a backup.
struct BackendRestoreTests {
  private func order(_ store: BackendStore, _ key: String) throws -> BackendOrder {
    try store.perform { model in
      let outcome = try model.createOrder(
        OrderRequest(productID: "coins", quantity: 1), account: "a", idempotencyKey: key, now: Sample.now)
      return (outcome.order, outcome.writes)
    }
  }

  private func grant(_ store: BackendStore, _ id: String) throws {
    try store.change { model in
      let verdict = RecordedVerdict(
        environment: "Production", transactionID: id, verdict: .granted, orderNumber: nil, reason: nil,
        uploader: .account("a"), at: Sample.now)
      let credit = Credit(
        sequence: model.credits.count + 1, transaction: TransactionKey(Sample.record(id)), orderNumber: nil,
        owner: .account("a"), productID: "coins", quantity: 1, cause: .granted, at: Sample.now,
        purchasedAt: Sample.now)
      let writes = [BackendWrite.credit(credit), .verdict(verdict)]
      for write in writes { model.apply(write) }
      return writes
    }
  }

  @Test func `a restored backend has the backup's ledger, another epoch, and the log of verdicts`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path("backend.sqlite")
    let store = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 3)
    try grant(store, "1")
    let backup = try store.backUp()
    let before = try store.model()
    try grant(store, "2")
    try store.restore(backup)
    let after = try store.model()
    #expect(after.credits == before.credits)
    #expect(after.ledgerEpoch != before.ledgerEpoch)
    #expect(after.verdicts.map(\.transactionID) == ["1", "2"])
    try store.restore(backup)
    #expect(Set([before, after, try store.model()].map(\.ledgerEpoch)).count == 3)
    let again = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 9)
    #expect(try again.model() == store.model())
  }

  @Test func `numbers and tokens of orders that the restoration lost are never given out again`()
    throws
  {
    let directory = try TemporaryDirectory()
    let store = try BackendStore(
      path: directory.path("backend.sqlite"), bundleID: Sample.bundleID, seed: 3)
    let backup = try store.backUp()
    let lost = try (0..<3).map { try order(store, "\($0)") }
    try store.restore(backup)
    let new = try (0..<3).map { try order(store, "\($0)") }
    #expect(Set((lost + new).map(\.number)).count == 6)
    #expect(Set((lost + new).map(\.accountToken)).count == 6)
  }

  @Test func `after a restore, HTTP replies have the new epoch, and later grants are granted again`()
    async throws
  {
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    let backup = try fixture.server.backUp()
    let first = try await fixture.reply(payment)
    try fixture.server.restore(backup)
    #expect(try fixture.server.snapshot().credits.isEmpty)
    // Finished transactions have no proof any more: the store's record names the order.
    let second = try await fixture.reply(payment, withProof: false)
    #expect(first.ledgerEpoch != second.ledgerEpoch)
    #expect(second.verdicts.map(\.verdict) == [.granted])
    #expect(try fixture.server.snapshot().doubledCredits == 0)
  }
}
