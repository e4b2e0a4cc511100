import AppStoreReceipts
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// If the store's ids restart, no record of a transaction stays after its last duty.
@Suite struct StorageForgettingTests {
  private static let restarting: [StoreEnvironment] = [.xcode, .localTesting]

  private func bought(
    _ id: String, in environment: StoreEnvironment, token: UInt8? = nil
  ) -> StoreTransaction {
    payment(id, token: token.map { orderToken($0) }) { $0.environment = environment }
  }

  private func settle(_ site: StorageSite, _ transaction: StoreTransaction) throws {
    try site.enqueue(transaction)
    _ = try site.storage.acknowledge(
      [SettledClaim(key: transaction.key, verdict: .granted)], now: midday)
  }

  @Test(arguments: StorageKind.allCases, restarting)
  func `a tombstone is removed with its last duty, and the next run's transaction is a new one`(
    kind: StorageKind, environment: StoreEnvironment
  ) throws {
    for isSeenFirst in [true, false] {
      try StorageSite.with(kind, limits: QueueLimits(entries: 1)) { site in
        let transaction = bought("0", in: environment)
        let key = transaction.key
        try settle(site, transaction)
        for isFirst in [true, false] {
          #expect(try site.storage.tombstone(key) != nil, "it has a duty")
          if isSeenFirst == isFirst {
            try site.storage.markConfirmed(key)
          } else {
            try site.storage.markFinished(key)
          }
        }
        try site.reopen()
        #expect(try site.storage.tombstone(key) == nil)
        #expect(try site.storage.tombstonesWithDuties() == [])
        #expect(try site.storage.knownTransaction(key) == nil)
        #expect(throws: QueueError.unknownEntry(key)) { try site.storage.markConfirmed(key) }
        // Its capacity is free.
        guard case .inserted = try site.enqueue(transaction) else {
          Issue.record("not inserted")
          return
        }
      }
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `the order stays bound to the transaction`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      let transaction = bought("0", in: .xcode, token: 1)
      try settle(site, transaction)
      try site.storage.markConfirmed(transaction.key)
      try site.storage.markFinished(transaction.key)
      #expect(try site.storage.orderFacts(accountToken: orderToken(1))?.boundTo == transaction.key)
      #expect(
        try site.storage.knownTransaction(transaction.key)
          == KnownTransaction(lane: alice, orderNumber: "1"))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a queued update stays, and leaves no tombstone either`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      let transaction = bought("0", in: .xcode)
      let key = transaction.key
      try settle(site, transaction)
      let tombstone = try #require(try site.storage.tombstone(key))
      var refund = transaction
      refund.revokedAt = midday
      _ = try site.storage.enqueueUpdate(refund, of: tombstone, now: midday)
      try site.storage.markConfirmed(key)
      try site.storage.markFinished(key)
      #expect(try site.storage.tombstone(key) == nil)
      #expect(try site.storage.entry(key) != nil)
      // The pending update is removed with it.
      try site.storage.oweUpdate(refund, now: midday)
      _ = try site.storage.acknowledge([SettledClaim(key: key, verdict: .refunded)], now: midday)
      try site.storage.markFinished(key)
      try site.storage.markConfirmed(key)
      #expect(try site.storage.tombstone(key) == nil)
      #expect(
        try site.storage.queuePendingUpdates(now: midday) == QueuedUpdates(queued: [], areWaiting: false))
    }
  }

  @Test(arguments: StorageKind.allCases, [StoreEnvironment.production, .sandbox])
  func `if ids do not restart, tombstones stay`(kind: StorageKind, environment: StoreEnvironment) throws {
    try StorageSite.with(kind) { site in
      let transaction = bought("100", in: environment)
      try settle(site, transaction)
      try site.storage.markConfirmed(transaction.key)
      try site.storage.markFinished(transaction.key)
      #expect(try site.storage.tombstone(transaction.key) != nil)
    }
  }

  @Test func `a discarded transaction stays discarded`() throws {
    try StorageSite.with(.file) { site in
      let transaction = bought("0", in: .xcode)
      try site.enqueue(transaction)
      let file = try #require(site.storage as? SyncFile)
      _ = try file.queue.discard(transaction.key, by: "support", reason: "a test's", now: midday)
      #expect(throws: Never.self) { try file.markFinished(transaction.key) }
      #expect(try file.tombstone(transaction.key)?.outcome == "discarded")
    }
  }
}
