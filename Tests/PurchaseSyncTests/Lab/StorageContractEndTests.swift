import AppStoreReceipts
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The rest of the contract: settlement, pending updates, adoptions.
@Suite struct StorageContractEndTests {
  private let later = midday.adding(milliseconds: 60_000)

  private func refund(of id: String) -> StoreTransaction {
    var transaction = bought(id, proof: "refund of \(id)")
    transaction.revokedAt = midday
    return transaction
  }

  // MARK: Settled

  @Test(arguments: StorageKind.allCases)
  func `a settled entry leaves a tombstone with its duties, and a redelivery finds it`(
    kind: StorageKind
  ) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      try site.enqueue(bought("100", token: 1), from: "apple-id")
      try site.storage.recordAttempt([key("100")], keeping: nil, now: midday)
      try site.storage.keep(
        RetryState(),
        [key("100"): PoisonWatch(failedRounds: 1, failingSince: midday, unknownAnswers: 0)], now: midday)
      let tombstone = try #require(try site.settle("100", at: later))
      #expect(tombstone.isFinishPending && tombstone.isUnconfirmed)
      #expect(tombstone.outcome == "granted")
      #expect(tombstone.orderNumber == "1")
      #expect(tombstone.lane == alice)
      #expect(tombstone.attempts == 1)
      #expect(tombstone.settledAt == later)
      try site.reopen()
      #expect(try site.storage.entry(key("100")) == nil)
      #expect(try site.storage.watch(of: key("100")) == PoisonWatch())
      #expect(try site.storage.storeAccount(of: tombstone) == "apple-id")
      #expect(try site.storage.orderFacts(accountToken: orderToken(1))?.state == .delivered)
      #expect(try site.storage.knownTransaction(key("100"))?.orderNumber == "1")
      guard case .settled(let found) = try site.enqueue(bought("100", token: 1)) else {
        Issue.record("queued again")
        return
      }
      #expect(found.key == tombstone.key)
    }
  }

  @Test(
    arguments: StorageKind.allCases,
    [
      (Verdict.lapsed, OrderState.paid), (.refunded, .refunded), (.otherOwner, .paid),
      (.duplicate, .delivered),
    ])
  func `only a granted transaction delivers its order`(
    kind: StorageKind, end: (verdict: Verdict, state: OrderState)
  ) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      try site.enqueue(bought("100", token: 1))
      try site.settle("100", end.verdict)
      #expect(try site.storage.orderFacts(accountToken: orderToken(1))?.state == end.state)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a proof that was not sent is pending as an update, in the commit that settles`(kind: StorageKind)
    throws
  {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      try site.enqueue(bought("101"))
      let sent = try ["100", "101"].map { try #require(try site.storage.entry(key($0))) }
      // Another process of this installation gets a newer proof of one of them.
      try site.enqueue(bought("100", proof: "newer"))
      let claims = sent.map { SettledClaim(key: $0.key, verdict: .granted, sent: $0.payloads) }
      let result = try site.storage.settle(claims, now: later)
      #expect(result.tombstones.map(\.key.id) == ["100", "101"] && result.hasPendingUpdates)
      try site.reopen()
      let updates = try site.storage.queuePendingUpdates(now: later)
      // The memory storage ends with its process.
      #expect(updates.queued == [key("100")])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a claim that does not name its proofs owes no update`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      try site.enqueue(bought("100", proof: "newer"))
      let result = try site.storage.settle([SettledClaim(key: key("100"), verdict: .granted)], now: later)
      #expect(result.tombstones.count == 1 && !result.hasPendingUpdates)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `duties are listed oldest first and end one by one`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      for id in ["102", "100", "101"] { try site.enqueue(bought(id)) }
      try site.settle("102", at: later)
      _ = try site.storage.acknowledge(
        ["101", "100"].map { SettledClaim(key: key($0), verdict: .granted) },
        now: later.adding(milliseconds: 1))
      func duties() throws -> [String] { try site.storage.tombstonesWithDuties().map(\.key.id) }
      #expect(try duties() == ["102", "100", "101"])
      try site.storage.markFinished(key("100"))
      #expect(try duties() == ["102", "100", "101"])
      try site.storage.markConfirmed(key("100"))
      #expect(try duties() == ["102", "101"])
      try site.storage.markConfirmed(key("100"))
      try site.reopen()
      #expect(try duties() == ["102", "101"])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a verdict's order number keeps, sets or contradicts a binding`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      for number in [1, 2] as [UInt8] { try site.addOrder(number) }
      try site.addOrder(3, product: "coins")
      try site.enqueue(bought("100", token: 1))
      try site.enqueue(bought("101"))
      func binding(_ number: String, _ id: String) throws -> VerdictBinding {
        try site.storage.binding(by: number, of: key(id))
      }
      #expect(try binding("1", "100") == .keep)
      #expect(try binding("2", "101") == .bind(orderNumber: "2"))
      #expect(try binding("of another device", "101") == .bind(orderNumber: "of another device"))
      for (number, id) in [("2", "100"), ("1", "101"), ("3", "101")] {
        guard case .contradiction = try binding(number, id) else {
          Issue.record("order \(number) does not contradict \(id)")
          continue
        }
      }
      #expect(try binding("2", "999") == .keep)
    }
  }

  /// The backend is wrong about it: the order is the purchaser's, and waits for another payment.
  @Test(arguments: StorageKind.allCases, [OwnershipType.assigned, .familyShared])
  func `a verdict binds no order to what another person has paid`(
    kind: StorageKind, ownership: OwnershipType
  ) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      var seat = bought("100", token: 1)
      seat.ownership = ownership
      try site.enqueue(seat)
      func isBound() throws -> Bool {
        if case .contradiction = try site.storage.binding(by: "1", of: seat.key) { false } else { true }
      }
      #expect(try !isBound())
      try site.settle("100")
      // A receipt that comes later does not say it.
      seat.ownership = nil
      seat.accountToken = nil
      let tombstone = try #require(try site.storage.tombstone(seat.key))
      _ = try site.storage.enqueueUpdate(seat, of: tombstone, now: later)
      #expect(try !isBound())
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a verdict binds with its settlement, and if one cannot be bound, none is settled`(
    kind: StorageKind
  ) throws {
    try StorageSite.with(kind) { site in
      for number in [1, 2] as [UInt8] { try site.addOrder(number) }
      for id in ["100", "101", "102"] { try site.enqueue(bought(id)) }
      try site.settle("100", order: "1")
      #expect(try site.storage.orderFacts(accountToken: orderToken(1))?.boundTo == key("100"))
      let before = try site.snapshot(["100", "101", "102"], orders: [1, 2])
      #expect(throws: QueueError.self) {
        try site.storage.acknowledge(
          [
            SettledClaim(key: key("101"), verdict: .granted, orderNumber: "2"),
            SettledClaim(key: key("102"), verdict: .granted, orderNumber: "1"),
          ], now: midday)
      }
      #expect(try site.snapshot(["100", "101", "102"], orders: [1, 2]) == before)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `old tombstones without a duty are removed for new ones`(kind: StorageKind) throws {
    try StorageSite.with(kind, limits: QueueLimits(tombstones: 2)) { site in
      for index in 0..<4 {
        let id = "10\(index)"
        try site.enqueue(bought(id))
        try site.settle(id, at: midday.adding(milliseconds: Int64(index)))
        guard index > 0 else { continue }
        try site.storage.markConfirmed(key(id))
        try site.storage.markFinished(key(id))
      }
      try site.enqueue(bought("104"))
      try site.settle("104", at: later)
      #expect(try site.storage.tombstone(key("100")) != nil, "it has duties")
      #expect(try site.storage.tombstone(key("101")) == nil)
      #expect(try site.storage.tombstone(key("104")) != nil)
    }
  }

  // MARK: Updates

  @Test(arguments: StorageKind.allCases)
  func `an update is distinguished from a redelivery`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      let tombstone = try #require(try site.settle("100"))
      #expect(try !site.storage.isNews(bought("100", proof: "another"), since: tombstone))
      #expect(try site.storage.isNews(refund(of: "100"), since: tombstone))
      _ = try site.storage.enqueueUpdate(refund(of: "100"), of: tombstone, now: midday)
      let again = try #require(try site.settle("100", .refunded))
      #expect(try !site.storage.isNews(refund(of: "100"), since: again))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an update is stored beside its tombstone, in its lane and for its order`(kind: StorageKind) throws {
    try StorageSite.with(kind, limits: QueueLimits(entries: 1)) { site in
      try site.addOrder(1)
      try site.enqueue(bought("100", token: 1), from: "apple-id")
      let tombstone = try #require(try site.settle("100"))
      try site.storage.markFinished(key("100"))
      let entry = try site.storage.enqueueUpdate(refund(of: "100"), of: tombstone, now: later)
      #expect(entry.lane == alice)
      #expect(entry.orderNumber == "1")
      #expect(entry.attempts == 0)
      #expect(try site.storage.tombstone(key("100"))?.outcome == "granted")
      guard case .collapsed = try site.enqueue(refund(of: "100")) else {
        Issue.record("not collapsed")
        return
      }
      let twice = try site.storage.enqueueUpdate(refund(of: "100"), of: tombstone, now: later)
      #expect(twice.place == entry.place)
      #expect(throws: QueueError.queueFull(.entries, needed: 2, allowed: 1)) {
        try site.enqueue(bought("101"))
      }
      let settled = try #require(try site.settle("100", .refunded, at: later))
      #expect(settled.isFinishPending && settled.isUnconfirmed)
      #expect(try site.storage.tombstone(key("100"))?.outcome == "refunded")
      #expect(try site.storage.storeAccount(of: settled) == "apple-id")
      // One unconfirmed outcome for the transaction, not two.
      try site.enqueue(bought("101"))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an update that is queued again later gets a new place`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      try site.enqueue(bought("101"))
      let tombstone = try #require(try site.settle("101"))
      try site.enqueue(bought("102"))
      _ = try site.storage.enqueueUpdate(refund(of: "101"), of: tombstone, now: later)
      #expect(try site.readyIDs(.device) == ["100", "102", "101"])
    }
  }

  @Test func `an update that does not fit into a shared commit stays pending`() throws {
    try StorageSite.with(.file, limits: QueueLimits(entries: 1)) { site in
      try site.enqueue(bought("100"))
      try site.settle("100")
      try site.storage.oweUpdate(refund(of: "100"), now: midday)
      try site.enqueue(bought("101"))
      let file = try #require(site.storage as? SyncFile)
      var areWaiting = false
      func queueUpdates(in queue: QueueFile) throws(QueueError) {
        areWaiting = try file.queuePendingUpdates(now: later).areWaiting
      }
      func setFact(in queue: QueueFile) throws(QueueError) { try queue.setFact("other", "call") }
      #expect(file.queue.groupCommit([queueUpdates, setFact]) == [nil, nil])
      #expect(areWaiting)
      try site.settle("101")
      #expect(
        try site.storage.queuePendingUpdates(now: later)
          == QueuedUpdates(queued: [key("100")], areWaiting: false))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `pending updates are queued oldest first, as capacity allows`(kind: StorageKind) throws {
    try StorageSite.with(kind, limits: QueueLimits(entries: 3)) { site in
      for (index, id) in ["100", "101", "102"].enumerated() {
        try site.enqueue(bought(id))
        try site.settle(id, at: midday.adding(milliseconds: Int64(index)))
        try site.storage.markConfirmed(key(id))
      }
      for id in ["101", "100", "102", "101"] { try site.storage.oweUpdate(refund(of: id), now: midday) }
      try site.enqueue(bought("103"))
      try site.reopen()
      let first = try site.storage.queuePendingUpdates(now: later)
      #expect(first == QueuedUpdates(queued: [key("101"), key("100")], areWaiting: true))
      #expect(try site.storage.entry(key("101"))?.payloads == [])
      #expect(
        try site.storage.queuePendingUpdates(now: later) == QueuedUpdates(queued: [], areWaiting: true))
      let settled = try #require(try site.settle("101", .refunded))
      #expect(try !site.storage.isNews(refund(of: "101"), since: settled), "its details are the newer ones")
      try site.storage.markConfirmed(key("101"))
      #expect(
        try site.storage.queuePendingUpdates(now: later)
          == QueuedUpdates(queued: [key("102")], areWaiting: false))
      #expect(
        try site.storage.queuePendingUpdates(now: later) == QueuedUpdates(queued: [], areWaiting: false))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an pending update that is already queued adds no entry and needs no capacity`(kind: StorageKind)
    throws
  {
    try StorageSite.with(kind, limits: QueueLimits(entries: 1)) { site in
      try site.enqueue(bought("100"))
      let tombstone = try #require(try site.settle("100"))
      try site.storage.markConfirmed(key("100"))
      _ = try site.storage.enqueueUpdate(refund(of: "100"), of: tombstone, now: midday)
      try site.storage.oweUpdate(refund(of: "100"), now: midday)
      // The settled details of this one are unknown.
      try site.storage.oweUpdate(refund(of: "999"), now: midday)
      #expect(
        try site.storage.queuePendingUpdates(now: midday)
          == QueuedUpdates(queued: [key("100")], areWaiting: false))
      #expect(try site.readyIDs(.device) == ["100"])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a new epoch owes everything that is settled, in the order of settlement`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      for (index, id) in ["102", "100", "101"].enumerated() {
        try site.enqueue(bought(id))
        try site.settle(id, at: midday.adding(milliseconds: Int64(index)))
      }
      #expect(try site.storage.ledgerEpoch() == nil)
      try site.storage.keepLedgerEpoch("first", offeringAgain: false)
      #expect(try site.storage.queuePendingUpdates(now: midday).queued == [])
      try site.storage.oweUpdate(refund(of: "100"), now: midday)
      try site.storage.keepLedgerEpoch("second", offeringAgain: true)
      try site.reopen()
      #expect(try site.storage.ledgerEpoch() == "second")
      let pending = try site.storage.queuePendingUpdates(now: later)
      #expect(pending == QueuedUpdates(queued: ["100", "102", "101"].map(key), areWaiting: false))
    }
  }

  // MARK: Adoptions

  @Test(arguments: StorageKind.allCases)
  func `an adoption covers the entries of the device lane, quarantine included, and none later`(
    kind: StorageKind
  ) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      try site.enqueue(bought("1", token: 1))
      let empty = try site.storage.keepAdoption(of: "bob")
      #expect(
        try !site.storage.deviceLaneHolds(throughPlace: empty.throughPlace), "alice's is not the device's")
      try site.enqueue(bought("100"))
      let claim = try site.storage.keepAdoption(of: "alice")
      try site.enqueue(bought("101"))
      #expect(try site.storage.deviceLaneHolds(throughPlace: claim.throughPlace))
      _ = try site.storage.quarantine(key("100"), reason: "", now: midday)
      #expect(try site.storage.deviceLaneHolds(throughPlace: claim.throughPlace))
      try site.settle("100")
      #expect(try !site.storage.deviceLaneHolds(throughPlace: claim.throughPlace))
      #expect(try site.storage.deviceLaneHolds(throughPlace: .max))
      try site.reopen()
      #expect(try site.storage.deviceAdoptions() == [empty, claim], "in the order of the requests")
      let again = try site.storage.keepAdoption(of: "alice")
      #expect(again.throughPlace > claim.throughPlace)
      try site.storage.endAdoption(of: "bob", throughPlace: empty.throughPlace)
      try site.storage.endAdoption(of: "unknown", throughPlace: .max)
      try site.storage.endAdoption(of: "alice", throughPlace: claim.throughPlace)
      #expect(try site.storage.deviceAdoptions() == [again], "the wider adoption stays")
    }
  }
}
