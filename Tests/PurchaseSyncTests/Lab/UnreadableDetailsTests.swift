import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A settled transaction whose stored details are not JSON, behind a right checksum: so a row looks after it was
/// isolated and discarded.
@Suite struct UnreadableDetailsTests {
  private func settle(
    _ transaction: StoreTransaction, isUnfinished: Bool = true, in configuration: SyncConfiguration
  ) throws {
    let queue = try QueueFile(path: configuration.path, now: .wallClock())
    let file = try SyncFile(queue: queue)
    _ = try queue.enqueue(
      NewEntry(key: transaction.key, lane: .device, details: "not JSON", payloads: [transaction.proof]),
      now: .wallClock())
    _ = try file.acknowledge([SettledClaim(key: transaction.key, verdict: .granted)], now: .wallClock())
    if !isUnfinished { try file.markFinished(transaction.key) }
  }

  @Test(arguments: [true, false])
  func `it does not stop a listing, and is finished`(isUnfinished: Bool) async throws {
    try await EngineFixture.with { fixture in
      for _ in 0..<2 {
        _ = try fixture.server.withStore { (store) throws(StoreModelError) in
          try store.pay(
            product: EngineFixture.product, quantity: 1, accountToken: nil, storeAccount: "apple-id",
            now: .wallClock())
        }
      }
      let listed = try await fixture.store.unfinished().transactions
      try settle(try #require(listed.first), isUnfinished: isUnfinished, in: fixture.configuration)
      let engine = try await fixture.open()
      try await until {
        fixture.server.withStore { $0.unfinished(storeAccount: "apple-id").isEmpty }
      }
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered(2)
    }
  }

  @Test func `an unlisted one ends its duty with the listing`() async throws {
    try await EngineFixture.with { fixture in
      _ = try fixture.server.withStore { (store) throws(StoreModelError) in
        try store.pay(
          product: EngineFixture.product, quantity: 1, accountToken: nil, storeAccount: "apple-id",
          now: .wallClock())
      }
      let listed = try await fixture.store.unfinished().transactions
      let transaction = try #require(listed.first)
      try settle(transaction, in: fixture.configuration)
      _ = try await fixture.store.finish(transactionID: transaction.transactionID)
      let engine = try await fixture.open()
      try await until { try await engine.snapshot().pendingFinishes == 0 }
      await engine.shutdown()
    }
  }

  @Test(
    arguments: [("Production/100", "100"), ("Xcode/3@1700000000000", "3"), ("a/b/7", "7"), ("", "")])
  func `a key names its transaction`(key: String, id: String) {
    #expect(EntryKey(rawValue: key).transactionID == id)
  }
}
