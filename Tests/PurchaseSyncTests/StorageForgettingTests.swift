import AppStoreReceipts
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Where the store's ids restart, nothing is left of a transaction that has no duty any more (design.md, 'Tombstones').
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
  func `a tombstone goes with its last duty, whichever that is, and the next run's transaction is a new one`(
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
            try site.storage.markSeen(key)
          } else {
            try site.storage.markFinished(key)
          }
        }
        try site.reopen()
        #expect(try site.storage.tombstone(key) == nil)
        #expect(try site.storage.tombstonesWithDuties() == [])
        #expect(try site.storage.knownTransaction(key) == nil)
        #expect(throws: QueueError.unknownEntry(key)) { try site.storage.markSeen(key) }
        // Its room is free.
        guard case .inserted = try site.enqueue(transaction) else {
          Issue.record("not inserted")
          return
        }
      }
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `the order stays bound to it`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      let transaction = bought("0", in: .xcode, token: 1)
      try settle(site, transaction)
      try site.storage.markSeen(transaction.key)
      try site.storage.markFinished(transaction.key)
      #expect(try site.storage.orderFacts(accountToken: orderToken(1))?.boundTo == transaction.key)
      #expect(
        try site.storage.knownTransaction(transaction.key)
          == KnownTransaction(lane: alice, orderNumber: "1"))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an update that is under way stays, and leaves no tombstone either`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      let transaction = bought("0", in: .xcode)
      let key = transaction.key
      try settle(site, transaction)
      let tombstone = try #require(try site.storage.tombstone(key))
      var refund = transaction
      refund.revokedAt = midday
      _ = try site.storage.enqueueUpdate(refund, of: tombstone, now: midday)
      try site.storage.markSeen(key)
      try site.storage.markFinished(key)
      #expect(try site.storage.tombstone(key) == nil)
      #expect(try site.storage.entry(key) != nil)
      // What was owed about it is nobody's any more.
      try site.storage.oweUpdate(refund, now: midday)
      _ = try site.storage.acknowledge([SettledClaim(key: key, verdict: .refunded)], now: midday)
      try site.storage.markFinished(key)
      try site.storage.markSeen(key)
      #expect(try site.storage.tombstone(key) == nil)
      #expect(
        try site.storage.queueOwedUpdates(now: midday) == OwedUpdates(queued: [], areWaiting: false))
    }
  }

  @Test(arguments: StorageKind.allCases, [StoreEnvironment.production, .sandbox])
  func `where ids do not restart, tombstones stay`(kind: StorageKind, environment: StoreEnvironment) throws {
    try StorageSite.with(kind) { site in
      let transaction = bought("100", in: environment)
      try settle(site, transaction)
      try site.storage.markSeen(transaction.key)
      try site.storage.markFinished(transaction.key)
      #expect(try site.storage.tombstone(transaction.key) != nil)
    }
  }

  @Test func `what somebody gave up stays given up`() throws {
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
