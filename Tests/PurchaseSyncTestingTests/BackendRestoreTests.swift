import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// A backend that is restored from a backup.
struct BackendRestoreTests {
  private func order(_ store: BackendStore, _ key: String) throws -> BackendOrder {
    try store.perform(failing: { $0 as any Error }) { model throws in
      let outcome = try model.createOrder(
        OrderRequest(productID: "coins", quantity: 1), account: "a", idempotencyKey: key, now: Sample.now)
      return (outcome.order, outcome.writes)
    }
  }

  private func grant(_ store: BackendStore, _ id: String) throws {
    try store.perform(failing: { $0 }) { model throws(BackendStoreError) -> (Void, [BackendWrite]) in
      let verdict = RecordedVerdict(
        environment: "Production", transactionID: id, verdict: .granted, orderNumber: nil, reason: nil,
        uploader: .account("a"), at: Sample.now)
      let credit = Credit(
        sequence: model.credits.count + 1, transaction: TransactionKey(Sample.record(id)), orderNumber: nil,
        owner: .account("a"), productID: "coins", quantity: 1, cause: .granted, at: Sample.now,
        purchasedAt: Sample.now)
      let writes = [BackendWrite.credit(credit), .verdict(verdict)]
      for write in writes { model.apply(write) }
      return ((), writes)
    }
  }

  @Test func `a restored backend has the ledger of the backup, another epoch, and the log of what was said`()
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

  @Test func `orders that were lost with the restoration never get their numbers and tokens given out again`()
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

  @Test func `over HTTP the reply tells the new epoch, and what was granted since is granted again`()
    async throws
  {
    let world = try WorldFixture()
    let payment = try await world.pay()
    let backup = try world.server.backUp()
    let first = try await world.reply(payment)
    try world.server.restore(backup)
    #expect(try world.server.snapshot().credits.isEmpty)
    let second = try await world.reply(payment, withProof: false)
    #expect(first.ledgerEpoch != second.ledgerEpoch)
    #expect(second.verdicts.map(\.verdict) == [.granted])
    #expect(try world.server.snapshot().doubledCredits == 0)
  }
}
