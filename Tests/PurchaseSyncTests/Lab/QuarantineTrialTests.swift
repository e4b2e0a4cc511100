import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct QuarantineTrialTests {
  private static let policy = RetryPolicy()
  private static let tomorrow = midday.adding(milliseconds: inDays(1))

  /// A storage with queued entries.
  private func storage(_ ids: [String], limits: QueueLimits = QueueLimits()) throws -> MemoryStorage {
    let storage = MemoryStorage(limits: limits)
    for id in ids {
      let transaction = bought(id)
      let match = try OrderMatcher.match(transaction, from: storage)
      _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    }
    return storage
  }

  private func place(
    _ id: String, asked: Timestamp? = nil, in storage: MemoryStorage, version: String = "1"
  ) throws -> QuarantineTrial.Placement {
    try QuarantineTrial(appVersion: version).place(
      key(id), "a reason", asked: asked, in: storage, now: midday, policy: Self.policy)
  }

  private func proceed(
    _ trial: inout QuarantineTrial, in storage: MemoryStorage, isStoreHoldingMore: Bool = false,
    at now: Timestamp
  ) throws -> [SyncAction] {
    try trial.proceed(
      in: storage, isStoreHoldingMore: isStoreHoldingMore, now: now, policy: Self.policy)
  }

  @Test func `an entry is tried a day after it was quarantined, and once`() throws {
    let storage = try storage(["100"])
    _ = try place("100", in: storage)
    #expect(storage.entry(key("100"))?.state == .quarantined)
    var trial = QuarantineTrial(appVersion: "1")
    #expect(try proceed(&trial, in: storage, at: midday) == [.wake(at: Self.tomorrow)])
    #expect(storage.entry(key("100"))?.state == .quarantined)
    _ = try proceed(&trial, in: storage, at: Self.tomorrow)
    #expect(storage.entry(key("100"))?.state == .queued)
    #expect(trial.remaining.isEmpty)
  }

  @Test(arguments: [("1", false), ("2", true)])
  func `another version of the app begins a trial`(version: String, isReleased: Bool) throws {
    let storage = try storage(["100"])
    _ = try place("100", in: storage)
    var trial = QuarantineTrial(appVersion: version)
    _ = try proceed(&trial, in: storage, at: midday)
    #expect((storage.entry(key("100"))?.state == .queued) == isReleased)
  }

  // MARK: A person asks

  @Test func `a tap tries a rejected purchase at once, also after a kill`() throws {
    for isKilled in [false, true] {
      var run = try MachineRun()
      _ = try run.purchase("100", token: 1, .rejected)
      #expect(run.entry("100")?.state == .quarantined)
      if isKilled { #expect(try run.restart(after: 60_000).sent == []) }
      #expect(run.wake(.foreground).sent == [], "only a person")
      #expect(run.wake(.userAsked).sent == [["100"]])
      #expect(run.reply(["100": .granted]).delivered.count == 1)
    }
  }

  @Test func `each tap tries a rejected purchase once`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    for _ in 1...3 {
      #expect(run.wake(.userAsked).sent == [["100"]])
      #expect(run.reply(["100": .rejected]).sent == [])
      #expect(run.entry("100")?.state == .quarantined)
      #expect(run.fire(at: run.now.adding(milliseconds: 3_600_000)).sent == [])
    }
  }

  @Test func `a tap tries nothing before the backend's pause is over`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .rejected], retryAfter: 600)
    #expect(run.wake(.userAsked).sent == [])
    #expect(run.letPass(599_999).sent == [])
    #expect(run.letPass(121_000).sent == [["100"]], "the tap counts when the pause is over")
  }

  @Test func `a tap in the background tries nothing`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    run.machine.suspended()
    #expect(run.wake(.userAsked).sent == [])
    #expect(run.entry("100")?.state == .quarantined)
  }

  @Test func `a tap does not wait for the budget that failures have used up`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(payment("200", token: orderToken(9), product: "coins"))
    for _ in 0..<60 {
      if run.isSending(bob) {
        _ = try run.fail(bob, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil))
      }
      run.now = run.now.adding(milliseconds: 1_000)
      _ = run.wake(.foreground)
    }
    if run.isSending(bob) {
      _ = try run.fail(bob, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil))
    }
    _ = try run.restart(after: 1_000)
    let sent = run.wake(.userAsked).sent + run.letPass(2_000).sent
    #expect(sent.contains(["100"]))
  }

  @Test func `a tap releases as many as there is capacity for`() throws {
    let storage = try storage(["100", "101"], limits: QueueLimits(entries: 2))
    _ = try place("100", in: storage)
    _ = try place("101", in: storage)
    let more = bought("102")
    _ = try storage.enqueue(
      more, try OrderMatcher.match(more, from: storage), storeAccount: nil, now: midday)
    var trial = QuarantineTrial(appVersion: "1")
    _ = try trial.asked(in: storage, now: midday, policy: Self.policy)
    #expect(storage.entry(key("100"))?.state == .queued)
    #expect(trial.remaining == [key("101")])
  }

  @Test func `a full quarantine postpones the entry for as long`() throws {
    let storage = try storage(["100", "101"], limits: QueueLimits(quarantinedEntries: 1))
    _ = try place("100", in: storage)
    #expect(try place("101", in: storage) == .postponed(until: Self.tomorrow))
    #expect(storage.entry(key("101"))?.readyAt == Self.tomorrow)
  }

  @Test func `an entry without capacity is released when capacity is freed`() throws {
    let storage = try storage(["100", "101"], limits: QueueLimits(entries: 2))
    _ = try place("100", in: storage)
    _ = try place("101", in: storage)
    let more = bought("102")
    let match = try OrderMatcher.match(more, from: storage)
    _ = try storage.enqueue(more, match, storeAccount: nil, now: midday)
    var trial = QuarantineTrial(appVersion: "1")
    _ = try proceed(&trial, in: storage, at: Self.tomorrow)
    #expect(storage.entry(key("100"))?.state == .queued)
    #expect(trial.remaining == [key("101")])
    _ = try storage.acknowledge([SettledClaim(key: key("102"), verdict: .granted)], now: Self.tomorrow)
    try storage.markConfirmed(key("102"))
    _ = try trial.releaseRemaining(in: storage, now: Self.tomorrow, policy: Self.policy)
    #expect(storage.entry(key("101"))?.state == .queued)
    #expect(trial.remaining.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a pause of the backend holds beyond the trial`(isStoreHoldingMore: Bool) throws {
    let storage = try storage(["100"])
    let asked = Self.tomorrow.adding(milliseconds: 3_600_000)
    _ = try place("100", asked: asked, in: storage)
    var trial = QuarantineTrial(appVersion: "1")
    let actions = try proceed(&trial, in: storage, at: Self.tomorrow)
    #expect(actions.contains(.wake(at: asked)))
    #expect(trial.waitsUntil == asked)
    #expect(storage.entry(key("100"))?.state == .quarantined)
    _ = try proceed(&trial, in: storage, isStoreHoldingMore: isStoreHoldingMore, at: asked)
    #expect((storage.entry(key("100"))?.state == .quarantined) == isStoreHoldingMore)
  }

  @Test func `the first new proof releases at once, the next one later`() throws {
    let storage = try storage(["100"])
    var trial = QuarantineTrial(appVersion: "1")
    var delays = Delays(Self.policy, seed: 1)
    for round in 0..<3 {
      _ = try place("100", in: storage)
      #expect(
        try trial.newProof(of: key("100"), in: storage, now: midday, &delays) == .released)
      let readyAt = try #require(storage.entry(key("100"))?.readyAt)
      #expect((readyAt > midday) == (round > 0))
    }
    trial.settled(key("100"))
    #expect(trial.proofReleases.isEmpty)
  }

  @Test func `a new proof of the next day releases at once again`() throws {
    let storage = try storage(["100"])
    var trial = QuarantineTrial(appVersion: "1")
    var delays = Delays(Self.policy, seed: 1)
    for (moment, isAtOnce) in [
      (midday, true), (midday, false), (Self.tomorrow, true), (Self.tomorrow, false),
    ] {
      _ = try place("100", in: storage)
      #expect(try trial.newProof(of: key("100"), in: storage, now: moment, &delays) == .released)
      #expect((storage.entry(key("100"))?.readyAt.milliseconds == 0) == isAtOnce)
    }
  }

  @Test func `the first new proof after a wake releases at once`() throws {
    let storage = try storage(["100"])
    var trial = QuarantineTrial(appVersion: "1")
    var delays = Delays(Self.policy, seed: 1)
    for _ in 0..<3 {
      _ = try place("100", in: storage)
      trial.woken()
      #expect(try trial.newProof(of: key("100"), in: storage, now: midday, &delays) == .released)
      #expect(storage.entry(key("100"))?.readyAt.milliseconds == 0)
    }
  }

  @Test func `each later proof waits longer, and a moment at least`() throws {
    func waits(afterReleases releases: Int, policy: RetryPolicy) throws -> [Int64] {
      try (1...100 as ClosedRange<UInt64>).map { seed in
        let storage = try storage(["100"])
        var (trial, delays) = (QuarantineTrial(appVersion: "1"), Delays(policy, seed: seed))
        for _ in 0...releases {
          _ = try place("100", in: storage)
          _ = try trial.newProof(of: key("100"), in: storage, now: midday, &delays)
        }
        return try #require(storage.entry(key("100"))?.readyAt).milliseconds(since: midday)
      }
    }
    for releases in 1...3 {
      let waits = try waits(afterReleases: releases, policy: Self.policy)
      let widest = Self.policy.ceiling(afterFailures: releases + 4)
      #expect(waits.allSatisfy { (1...widest).contains($0) } && waits.contains { $0 > widest / 2 })
    }
    var impatient = Self.policy
    impatient.baseMilliseconds = 0
    #expect(Set(try waits(afterReleases: 1, policy: impatient)) == [1], "the order of the entries changes")
  }

  @Test func `a new proof does not shorten a pause, and needs capacity`() throws {
    let storage = try storage(["100"], limits: QueueLimits(entries: 1))
    let asked = midday.adding(milliseconds: 3_600_000)
    _ = try place("100", asked: asked, in: storage)
    var trial = QuarantineTrial(appVersion: "1")
    var delays = Delays(Self.policy, seed: 1)
    let more = bought("101")
    let match = try OrderMatcher.match(more, from: storage)
    _ = try storage.enqueue(more, match, storeAccount: nil, now: midday)
    #expect(try trial.newProof(of: key("100"), in: storage, now: midday, &delays) == .noCapacity)
    #expect(trial.proofReleases.isEmpty)
    _ = try storage.acknowledge([SettledClaim(key: key("101"), verdict: .granted)], now: midday)
    try storage.markConfirmed(key("101"))
    #expect(
      try trial.newProof(of: key("100"), in: storage, now: midday, &delays) == .released)
    #expect(storage.entry(key("100"))?.readyAt == asked)
  }

  @Test func `a new proof that finds no capacity releases the entry when some is freed`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .rejected])
    try #require(run.entry("100")?.state == .quarantined)
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.arrive(bought("100", token: 1, proof: "signed again"))
    try #require(run.entry("100")?.state == .quarantined)
    #expect(run.reply(["101": .granted]).sent == [["100"]])
  }

  @Test func `moments beyond the horizon are brought back to it`() throws {
    let storage = try storage([])
    var record = TrialRecord(at: midday.adding(milliseconds: inDays(365)), appVersion: "1")
    record.notBefore = [key("1"): midday.adding(milliseconds: inDays(365))]
    storage.keep(record)
    try QuarantineTrial.clamp(in: storage, now: midday, policy: Self.policy)
    #expect(storage.quarantineTrial()?.at == midday)
    #expect(storage.quarantineTrial()?.notBefore == [key("1"): Self.tomorrow])
  }
}
