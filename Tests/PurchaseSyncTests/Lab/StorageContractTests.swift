import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The storage contract of the machine, tested on the file and on the memory storage: transactions, lanes, attempts,
/// quarantine.
@Suite struct StorageContractTests {
  private let later = midday.adding(milliseconds: 60_000)

  // MARK: Transactions

  @Test(arguments: StorageKind.allCases)
  func `an entry has its lane, its order and its place, and is known from now on`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      guard case .inserted(let entry) = try site.enqueue(bought("100", token: 1)) else {
        Issue.record("not inserted")
        return
      }
      #expect(entry.key == key("100"))
      #expect(entry.lane == alice)
      #expect(entry.orderNumber == "1")
      #expect(entry.attempts == 0)
      #expect(entry.state == .queued)
      #expect(entry.enqueuedAt == midday)
      #expect(entry.payloads.map(\.kind) == ["signedTransaction"])
      try site.reopen()
      #expect(try site.storage.entry(key("100"))?.orderNumber == "1")
      #expect(
        try site.storage.knownTransaction(key("100")) == KnownTransaction(lane: alice, orderNumber: "1"))
      let order = try site.storage.orderFacts(accountToken: orderToken(1))
      #expect(order?.boundTo == key("100"))
      #expect(order?.state == .paid)
      let query = OrderQuery(
        productID: "gems", quantity: 1, from: Timestamp(milliseconds: 0), through: later,
        isLatestFirst: true, limit: 10)
      #expect(try site.storage.unboundOrders(query).isEmpty)
    }
  }

  @Test func `an order that the store answered with an earlier purchase is none for a later one`() throws {
    try StorageSite.with(.file) { site in
      let file = try #require(site.storage as? SyncFile)
      try site.enqueue(bought("100"))
      try site.addOrder(1)
      let later = try OrderMatcher.match(payment("101"), from: site.storage)
      #expect(later.candidates == ["1"])
      // Not yet settled: the backend is to say whose it is.
      try file.close("1", as: key("100"))
      #expect(try OrderMatcher.match(payment("101"), from: site.storage).candidates == [])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an entry that is enqueued again keeps its place and takes the newer proof of each kind`(
    kind: StorageKind
  ) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100", proof: "old"))
      try site.storage.recordAttempt([key("100")], keeping: nil, now: midday)
      var receipt = bought("100")
      receipt.proof = Payload(kind: "appReceipt", bytes: [1])
      try site.enqueue(receipt, at: later)
      guard case .collapsed(let entry) = try site.enqueue(bought("100", proof: "new"), at: later) else {
        Issue.record("not collapsed")
        return
      }
      #expect(entry.place == 1)
      #expect(entry.attempts == 1)
      #expect(entry.enqueuedAt == midday)
      #expect(entry.payloads.map(\.kind) == ["appReceipt", "signedTransaction"])
      let before = try site.storage.entry(key("100"))?.payloads
      guard case .collapsed(let same) = try site.enqueue(bought("100", proof: "new")) else {
        Issue.record("not collapsed")
        return
      }
      #expect(same.payloads == before)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a missing order is filled in, and another one is not`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(2)
      try site.enqueue(bought("100"))
      // Until now the order of its token was unknown.
      try site.addOrder(1)
      guard case .collapsed(let entry) = try site.enqueue(bought("100", token: 1)) else {
        Issue.record("not collapsed")
        return
      }
      #expect(entry.orderNumber == "1")
      try site.enqueue(bought("100", token: 2))
      #expect(try site.storage.entry(key("100"))?.orderNumber == "1")
      #expect(try site.storage.orderFacts(accountToken: orderToken(2))?.boundTo == nil)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an order cannot be bound twice, and then nothing is queued`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      let match = try OrderMatcher.match(bought("100", token: 1), from: site.storage)
      _ = try site.storage.enqueue(bought("100", token: 1), match, storeAccount: nil, now: midday)
      let before = try site.snapshot(["100", "101"], orders: [1])
      #expect(throws: QueueError.self) {
        try site.storage.enqueue(bought("101", token: 1), match, storeAccount: nil, now: midday)
      }
      #expect(try site.snapshot(["100", "101"], orders: [1]) == before)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an outcome that is never confirmed takes no capacity from a purchase`(kind: StorageKind) throws {
    try StorageSite.with(kind, limits: QueueLimits(entries: 2)) { site in
      try site.enqueue(bought("100"))
      try site.enqueue(bought("101"))
      let full = QueueError.queueFull(.entries, needed: 3, allowed: 2)
      let before = try site.snapshot(["100", "101", "102"])
      #expect(throws: full) { try site.enqueue(bought("102")) }
      #expect(try site.snapshot(["100", "101", "102"]) == before)
      try site.settle("100")
      try site.enqueue(bought("102"))
      #expect(try site.storage.tombstone(key("100"))?.isUnconfirmed == true)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `of too many unconfirmed outcomes the oldest count as seen, and their tombstones stay`(
    kind: StorageKind
  ) throws {
    try StorageSite.with(kind, limits: QueueLimits(unconfirmedOutcomes: 2)) { site in
      for id in ["100", "101", "102", "103"] {
        try site.enqueue(bought(id))
        try site.settle(id)
      }
      let seen = try ["100", "101", "102", "103"].map { try site.storage.tombstone(key($0))?.isUnconfirmed }
      #expect(seen == [false, false, true, true])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a newer receipt is attached, and the answers to the old one are forgotten`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100", proof: "jws"))
      let watch = PoisonWatch(failedRounds: 3, failingSince: midday, unknownAnswers: 4)
      try site.storage.keep(RetryState(), [key("100"): watch], now: midday)
      try site.storage.attach(Payload(kind: "appReceipt", bytes: [1]), to: key("100"), now: later)
      try site.storage.attach(Payload(kind: "appReceipt", bytes: [1]), to: key("200"), now: later)
      #expect(
        try site.storage.entry(key("100"))?.payloads.map(\.kind) == ["appReceipt", "signedTransaction"])
      #expect(try site.storage.watch(of: key("100")).failedRounds == 3)
      #expect(try site.storage.watch(of: key("100")).unknownAnswers == 0)
      #expect(try site.storage.entry(key("200")) == nil)
    }
  }

  /// The storage in memory has no limit for one payload.
  @Test func `a newer receipt that is too long for the queue is attached without an error`() throws {
    try StorageSite.with(.file, limits: QueueLimits(payloadBytes: 50)) { site in
      try site.enqueue(bought("100", proof: "jws"))
      let long = Payload(kind: "appReceipt", bytes: [UInt8](repeating: 1, count: 51))
      try site.storage.attach(long, to: key("100"), now: later)
      let held = try #require(try site.storage.entry(key("100")))
      #expect(held.payloads.first { $0.kind == "appReceipt" }?.isByReference == true)
      #expect(held.payloads.contains { $0.kind == "signedTransaction" && !$0.isByReference })
    }
  }

  // MARK: Lanes

  @Test(arguments: StorageKind.allCases)
  func `entries of a lane are listed in order, without postponed and quarantined ones`(
    kind: StorageKind
  ) throws {
    try StorageSite.with(kind) { site in
      for id in ["100", "101", "102", "103"] { try site.enqueue(bought(id)) }
      try site.storage.postpone(key("100"), until: later, reason: "", now: midday)
      _ = try site.storage.quarantine(key("102"), reason: "", now: midday)
      #expect(try site.readyIDs(.device) == ["101", "103"])
      #expect(try site.readyIDs(.device, limit: 1) == ["101"])
      #expect(try site.readyIDs(.device, at: later.adding(milliseconds: -1)) == ["101", "103"])
      #expect(
        try site.readyIDs(.device, at: later) == ["101", "103", "100"], "behind those that never waited")
      #expect(try site.readyIDs(.device, at: later, limit: 2) == ["101", "103"])
      try site.storage.postpone(key("101"), until: later.adding(milliseconds: -1), reason: "", now: midday)
      try site.storage.postpone(key("103"), until: later, reason: "", now: midday)
      #expect(try site.readyIDs(.device, at: later) == ["101", "100", "103"], "the longest overdue first")
      #expect(try site.readyIDs(.device, at: later, limit: 1) == ["101"])
      try site.storage.postpone(key("101"), until: later, reason: "", now: midday)
      #expect(try site.readyIDs(alice) == [])
      #expect(try site.storage.nextReadyAt(in: .device) == later)
      #expect(try site.storage.nextReadyAt(in: alice) == nil)
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `only lanes with entries to send are listed`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.addOrder(1)
      try site.addOrder(9, account: "bob", product: "coins")
      #expect(try site.storage.lanes() == [])
      try site.enqueue(payment("300", token: orderToken(9), product: "coins"))
      try site.enqueue(bought("100", token: 1))
      try site.enqueue(bought("200"))
      try site.storage.postpone(key("100"), until: later, reason: "", now: midday)
      #expect(try site.storage.lanes() == [alice, bob, .device])
      _ = try site.storage.quarantine(key("300"), reason: "", now: midday)
      try site.settle("200")
      #expect(try site.storage.lanes() == [alice])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a wait is stored with its cause, and ends with the entry's next one`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      #expect(try site.storage.wait(of: key("100")) == nil)
      #expect(try site.storage.wait(of: key("999")) == nil)
      for cause in [Wait.Cause.asked, .backoff, .poison] {
        let wait = Wait(cause, began: midday, milliseconds: 60_000)
        try site.storage.postpone(key("100"), wait, reason: "", now: midday)
        try site.reopen()
        #expect(try site.storage.wait(of: key("100")) == wait)
        #expect(try site.storage.entry(key("100"))?.readyAt == later)
      }
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a wake ends the waits of our own, and leaves what the backend asked for`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      for id in ["100", "101", "102", "103"] { try site.enqueue(bought(id)) }
      let hour: Int64 = 3_600_000
      let waits = [
        Wait(.backoff, began: midday, milliseconds: hour), Wait(.poison, began: midday, milliseconds: hour),
        Wait(.backoff, began: midday, milliseconds: hour, asked: 60_000),
      ]
      for (id, wait) in zip(["100", "101", "102"], waits) {
        try site.storage.postpone(key(id), wait, reason: "", now: midday)
      }
      let soon = midday.adding(milliseconds: 5_000)
      let policy = RetryPolicy()
      #expect(try site.storage.shortenWaits(in: [alice], now: soon, policy: policy) == [])
      #expect(try site.storage.shortenWaits(in: [.device], now: soon, policy: policy) == [.device])
      let ready = try ["100", "101", "102", "103"].map { try site.storage.entry(key($0))?.readyAt }
      #expect(ready == [soon, soon, later, Timestamp(milliseconds: 0)])
      #expect(try site.storage.shortenWaits(now: soon, policy: policy) == [], "nothing is left to shorten")
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a wait that began by a clock of next year is as long as it was again`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      for id in ["100", "101", "102"] { try site.enqueue(bought(id)) }
      try site.storage.postpone(key("100"), until: later, reason: "", now: midday)
      let ahead = midday.adding(milliseconds: 365 * 86_400_000)
      let wait = Wait(.asked, began: ahead, milliseconds: 90_000)
      try site.storage.postpone(key("101"), wait, reason: "", now: ahead)
      try site.storage.boundWaits(now: midday, keeping: nil)
      #expect(try site.storage.entry(key("100"))?.readyAt == later)
      #expect(try site.storage.entry(key("101"))?.readyAt == midday.adding(milliseconds: 90_000))
      #expect(try site.storage.entry(key("102"))?.readyAt == Timestamp(milliseconds: 0))
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `an unknown entry cannot be postponed, sent or moved`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      let before = try site.snapshot(["100"])
      let missing = QueueError.unknownEntry(key("999"))
      #expect(throws: missing) {
        try site.storage.postpone(key("999"), until: later, reason: "", now: midday)
      }
      var random = RandomSource(seed: 1)
      var spent = RetryState()
      spent.pace.failed(now: midday, policy: RetryPolicy(), using: &random)
      #expect(throws: missing) {
        try site.storage.recordAttempt([key("100"), key("999")], keeping: spent, now: midday)
      }
      #expect(throws: missing) { try site.storage.quarantine(key("999"), reason: "", now: midday) }
      #expect(throws: missing) { try site.storage.release(key("999"), nil, now: midday) }
      #expect(throws: missing) { try site.storage.markFinished(key("999")) }
      #expect(throws: missing) { try site.storage.markConfirmed(key("999")) }
      #expect(
        try site.storage.acknowledge([SettledClaim(key: key("999"), verdict: .granted)], now: midday) == [])
      #expect(try site.snapshot(["100"]) == before)
    }
  }

  // MARK: Attempts

  @Test(arguments: StorageKind.allCases)
  func `attempts, retry state and failures of entries are durable`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      #expect(try site.storage.retryState() == RetryState())
      #expect(try site.storage.watch(of: key("100")) == PoisonWatch())
      var random = RandomSource(seed: 1)
      var state = RetryState()
      state.pace.failed(
        retryAfterMilliseconds: 5_000, now: midday, policy: RetryPolicy(), using: &random)
      _ = state.budget.spend(.retry, now: midday, policy: RetryPolicy())
      try site.storage.recordAttempt([key("100")], keeping: state, now: later)
      let watch = PoisonWatch(
        failedRounds: 1, failingSince: later, unknownAnswers: 2, claimsPerUpload: 25)
      try site.storage.keep(state, [key("100"): watch], now: later)
      try site.storage.recordAttempt([key("100")], keeping: nil, now: later)
      try site.reopen()
      #expect(try site.storage.entry(key("100"))?.attempts == 2)
      #expect(try site.storage.entry(key("100"))?.attemptedAt == later)
      #expect(try site.storage.retryState() == state)
      #expect(try site.storage.watch(of: key("100")) == watch)
      try site.storage.keep(state, [key("100"): PoisonWatch()], now: later)
      #expect(try site.storage.watch(of: key("100")) == PoisonWatch())
    }
  }

  // MARK: Quarantine

  @Test(arguments: StorageKind.allCases)
  func `quarantine has its own limit, and a released entry gets its place back`(kind: StorageKind) throws {
    try StorageSite.with(kind, limits: QueueLimits(entries: 2, quarantinedEntries: 1)) { site in
      try site.enqueue(bought("100"))
      try site.enqueue(bought("101"))
      let storage = site.storage
      #expect(try storage.quarantine(key("100"), reason: "forged", now: midday))
      #expect(try storage.quarantine(key("100"), reason: "again", now: midday))
      #expect(try storage.entry(key("100"))?.reason == "forged")
      #expect(try !storage.quarantine(key("101"), reason: "full", now: midday))
      #expect(try storage.entry(key("101"))?.state == .queued)
      try site.enqueue(bought("102"))
      #expect(try !storage.release(key("100"), nil, now: midday), "no capacity")
      #expect(try storage.quarantined() == [key("100")])
      try site.settle("102")
      try storage.markConfirmed(key("102"))
      #expect(try storage.release(key("100"), nil, now: midday))
      #expect(
        try storage.release(key("100"), Wait(.asked, began: midday, milliseconds: 60_000), now: midday),
        "already released")
      #expect(try storage.entry(key("100"))?.reason == nil)
      #expect(try site.readyIDs(.device) == ["100", "101"])
      #expect(try storage.quarantined() == [])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a released entry may have to wait in its lane`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      #expect(try site.storage.quarantine(key("100"), reason: "forged", now: midday))
      #expect(
        try site.storage.release(key("100"), Wait(.asked, began: midday, milliseconds: 60_000), now: midday))
      try site.reopen()
      #expect(try site.storage.entry(key("100"))?.readyAt == later)
      #expect(try site.readyIDs(.device) == [])
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `the last trial of the quarantine is durable`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      #expect(try site.storage.quarantineTrial() == nil)
      var trial = TrialRecord(at: later, appVersion: "1.2 (3)")
      try site.storage.keep(trial)
      #expect(try site.storage.quarantineTrial() == trial)
      trial.notBefore = [key("100"): later]
      try site.storage.keep(trial)
      try site.reopen()
      #expect(try site.storage.quarantineTrial() == trial)
    }
  }
}
