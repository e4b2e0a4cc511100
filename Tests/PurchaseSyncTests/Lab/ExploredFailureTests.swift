import AppStoreReceipts
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Failures of the machine and of the storages that `explore` found, in their smallest form.
@Suite struct ExploredFailureTests {
  // MARK: Sign-in

  @Test func `a sign-in during a request without credentials is not lost`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    #expect(run.wake(.signedIn(account: "alice")).sent == [])
    #expect(try run.fail(alice, .signInNeeded).sent == [["100"]])
    // The new credentials are refused as well: now the lane waits.
    #expect(try run.fail(alice, .signInNeeded) == [.emit(.signInNeeded(alice))])
    #expect(run.letPass(inDays(2)).sent == [])
  }

  @Test func `a sign-in during an adoption request without credentials is not lost`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(run.wake(.signedIn(account: "alice")).claimed == [])
    #expect(try run.adoptionEnded("alice", .failed(.signInNeeded)).claimed == ["alice"])
    #expect(try run.adoptionEnded("alice", .failed(.signInNeeded)) == [.emit(.signInNeeded(alice))])
  }

  // MARK: Quarantine

  @Test func `a new proof in each delivery does not release an entry from quarantine again and again`() throws
  {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    var sends = 0
    // A store that signs again each time, asked as often as a quarantined entry frees capacity: a thousand times in an
    // hour.
    for number in 0..<1_000 {
      let actions = try run.arrive(bought("100", token: 1, proof: "signed \(number)"))
      if number == 0 { #expect(actions.sent == [["100"]], "the first new proof is tried at once") }
      if actions.sent.isEmpty, run.letPass(3_600).sent.isEmpty { continue }
      sends += 1
      _ = run.reply(["100": .rejected])
    }
    #expect((2...20).contains(sends), "\(sends) requests")
  }

  @Test(arguments: ["a new proof", "an update", "a new proof after a kill"])
  func `Retry-After holds in quarantine too`(release: String) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .rejected], retryAfter: 7_200)
    #expect(run.entry("100")?.state == .quarantined)
    let asked = run.now.adding(milliseconds: 7_200_000)
    if release.hasSuffix("kill") { _ = try run.restart(after: 60_000) }
    if release == "an update" {
      #expect(try run.restart(appVersion: "2", after: 60_000).sent == [])
    } else {
      // The second one as well: a store may sign again each time it is asked.
      for number in 1...2 {
        #expect(try run.arrive(bought("100", token: 1, proof: "signed \(number)")).sent == [])
      }
    }
    // A trial leaves the entry in quarantine, where it takes no capacity.
    #expect(run.entry("100")?.state == (release == "an update" ? .quarantined : .queued))
    #expect(run.letPass(inDays(1) / 2).sent == [["100"]])
    #expect(run.now >= asked)
  }

  @Test func `a trial of the quarantine continues when capacity is freed`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    for id in ["100", "101", "102"] { _ = try run.purchase(id, token: nil, .rejected) }
    let lane = try #require(run.entry("100")?.lane)
    for id in ["101", "102"] { #expect(run.entry(id)?.state == .quarantined) }
    #expect(run.letPass(inDays(1)).sent == [["100"]])
    // Three entries need the one free place. Each gets it on the same day, when the entry before has left.
    #expect(run.reply(lane, ["100": .granted]).sent == [["101"]])
    #expect(try run.confirm(key("100")).sent == [])
    #expect(run.reply(lane, ["101": .rejected]).sent == [["102"]])
    #expect(run.reply(lane, ["102": .rejected]).sent == [], "each is tried once")
  }

  @Test func `entries that always fail take turns, however many stand before the last`() throws {
    var run = try MachineRun()
    let ids = ["100", "101", "102", "103"]
    for id in ids { run.storage.book.add(UInt8(100 + (Int(id) ?? 0) % 100)) }
    for id in ids { _ = try run.arrive(bought(id, token: UInt8(100 + (Int(id) ?? 0) % 100))) }
    // For two days, no upload of this lane gets an answer.
    let end = run.now.adding(milliseconds: inDays(2))
    var isOut = true
    while run.now < end {
      if isOut { _ = try run.fail(alice, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil)) }
      isOut = !run.letPass(3_600_000).sent.isEmpty
    }
    let attempts = ids.map { run.entry($0)?.attempts ?? 0 }
    let (most, fewest) = (attempts.max() ?? 0, attempts.min() ?? 0)
    #expect(fewest >= 8 && most - fewest <= 8, "\(attempts)")
  }

  @Test func `an entry whose upload shrank to it did not fail alone and is not postponed`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100", proof: "one receipt"))
    _ = try run.arrive(bought("101", proof: "one receipt"))
    let lost = UploadFailure.requestFailed(reason: "lost", retryAfterMilliseconds: nil)
    _ = try run.fail(.device, .interrupted)
    #expect(run.wake(.foreground).sent == [["100", "101"]])
    run.machine.discarded(key("101"))
    let events = try run.fail(.device, lost).events
    #expect(!events.contains { if case .postponed = $0 { true } else { false } }, "\(events)")
    #expect(run.entry("100")?.readyAt == Timestamp(milliseconds: 0))
  }

  // MARK: The budget

  @Test func `a spent budget is restored within the hour, even after the clock went back`() throws {
    var policy = RetryPolicy()
    policy.poisonRounds = 1_000
    var run = try MachineRun(policy: policy)
    _ = try run.arrive(bought("100", token: 1))
    let lost = UploadFailure.retry(reason: "lost", retryAfterMilliseconds: nil)
    repeat {
      _ = try run.fail(alice, lost)
      run.now = run.now.adding(milliseconds: 6_000)
      _ = run.wake(.networkBack)
      run.now = run.now.adding(milliseconds: 6_000)
      if !run.isSending(alice) { _ = run.fire(at: run.now) }
    } while run.isSending(alice)
    run.now = run.now.adding(milliseconds: -inDays(365))
    #expect(run.fire(at: run.now).sent == [])
    #expect(run.letPass(2 * 3_600_000).sent == [["100"]])
  }

  // MARK: The clock

  @Test(arguments: [
    UploadFailure.retry(reason: "HTTP 500", retryAfterMilliseconds: 7_200_000),
    .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000),
  ])
  func `a wait that has ended does not start again when the clock goes back`(failure: UploadFailure) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, failure)
    // Another process of this installation delivers it: this process does not look at the wait once it is over.
    _ = try run.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: run.now)
    run.now = run.now.adding(milliseconds: 3 * 3_600_000)
    _ = run.wake(.networkBack)
    run.now = run.now.adding(milliseconds: -inDays(365))
    #expect(
      try run.arrive(bought("101", token: 2)).sent == [["101"]] || run.letPass(60_000).sent == [["101"]])
  }

  @Test func `two processes of one installation share its budget`() throws {
    var app = try MachineRun()
    _ = try app.arrive(bought("100", token: 1))
    var other = SyncMachine(storage: app.storage, policy: RetryPolicy(), seed: 2)
    _ = other.begin(try other.started(now: app.now), now: app.now)
    var sends = 0
    let end = app.now.adding(milliseconds: 3_500_000)
    _ = try app.fail(alice, .retry(reason: "no answer", retryAfterMilliseconds: nil))
    while app.now < end {
      app.now = app.now.adding(milliseconds: 10_000)
      // Both are woken all the time. The budget has to limit the requests.
      for action in app.wake(.networkBack) where [action].sent == [["100"]] {
        sends += 1
        _ = try app.fail(alice, .retry(reason: "no answer", retryAfterMilliseconds: nil))
      }
      for action in other.begin(other.woken(.networkBack, now: app.now), now: app.now)
      where [action].sent == [["100"]] {
        sends += 1
        _ = other.begin(
          try other.uploadFailed(
            lane: alice, .retry(reason: "no answer", retryAfterMilliseconds: nil), now: app.now), now: app.now
        )
      }
    }
    #expect(sends <= 100, "\(sends) requests within an hour")
    // Only the budget holds them back, and most of it comes back within the hour.
    #expect(sends >= RetryPolicy().budgetPerWindow / 2, "\(sends) requests within an hour")
  }

  // MARK: The ledger's epoch

  @Test func `a process without any answer knows which entries another one settled before the restoration`()
    throws
  {
    var app = try MachineRun()
    var other = SyncMachine(storage: app.storage, policy: RetryPolicy(), seed: 2)
    _ = other.begin(try other.started(now: app.now), now: app.now)
    _ = try app.arrive(bought("100", token: 1))
    _ = app.reply(alice, ["100": .granted], epoch: "epoch 1")
    _ = other.begin(try other.transactionArrived(bought("101", token: 2), now: app.now), now: app.now)
    let verdict = ClaimVerdict(environment: "Production", transactionID: "101", verdict: .granted)
    let actions = other.begin(
      other.replyArrived(
        lane: alice, UploadReply(ledgerEpoch: "epoch 2", verdicts: [verdict]), now: app.now), now: app.now)
    #expect(actions.events.contains(.ledgerChanged))
    #expect(actions.sent == [["100"]])
  }

  @Test func `an answer's epoch is kept before what it settles`() throws {
    let memory = MemoryStorage()
    memory.book.add(1)
    let storage = FaultyStorage(memory)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = machine.begin(try machine.started(now: midday), now: midday)
    _ = machine.begin(try machine.transactionArrived(bought("100", token: 1), now: midday), now: midday)
    // Dies after the first commit of the answer.
    storage.begin((at: 1, how: .death))
    let verdict = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .granted)
    _ = machine.begin(
      machine.replyArrived(
        lane: alice, UploadReply(ledgerEpoch: "epoch 1", verdicts: [verdict]), now: midday), now: midday)
    #expect(memory.ledgerEpoch() == "epoch 1")
    #expect(memory.entry(key("100")) != nil)
  }

  // MARK: Proofs that only the store has

  /// Support discards a purchase whose proof is too long for the file, and the store refunds a part of it. A finished
  /// transaction is not listed again, and a backend that never acknowledged the purchase credits nothing for an id.
  /// Seed 10389 of the engine.
  @Test(arguments: [1 << 20, 4], [true, false])
  func `an update of a discarded purchase is finished before its verdict only if its proof is in the file`(
    payloadBytes: Int, isTwice: Bool
  ) throws {
    try StorageSite.with(.file, limits: QueueLimits(payloadBytes: payloadBytes)) { site in
      let file = try #require(site.storage as? SyncFile)
      var machine = SyncMachine(storage: file, policy: RetryPolicy(), seed: 1)
      _ = machine.begin(try machine.started(now: midday), now: midday)
      func answer(_ verdict: Verdict) -> [SyncAction] {
        let verdict = ClaimVerdict(environment: "Production", transactionID: "100", verdict: verdict)
        let reply = UploadReply(ledgerEpoch: "epoch 1", verdicts: [verdict])
        return machine.begin(machine.replyArrived(lane: .device, reply, now: midday), now: midday)
      }
      _ = machine.begin(try machine.transactionArrived(bought("100"), now: midday), now: midday)
      _ = try file.queue.discard(key("100"), by: "support", reason: "asked twice", now: midday)
      machine.discarded(key("100"))
      _ = answer(.pending)
      var refund = bought("100", proof: "refund of a part")
      refund.revokedAt = midday
      refund.refundedShare = RefundedShare(units: 1, of: 3)
      var actions = machine.begin(try machine.transactionArrived(refund, now: midday), now: midday)
      if isTwice {
        actions += machine.begin(try machine.transactionArrived(refund, now: midday), now: midday)
      }
      #expect(actions.finished == (payloadBytes == 4 ? [] : ["100"]))
      actions += answer(.refunded)
      #expect(actions.finished == ["100"])
    }
  }

  // MARK: Orders

  @Test(arguments: StorageKind.allCases)
  func `an order of another device is bound to one transaction only`(kind: StorageKind) throws {
    try StorageSite.with(kind) { site in
      for id in ["100", "101"] { try site.enqueue(bought(id)) }
      #expect(
        try site.storage.binding(by: "of another device", of: key("100"))
          == .bind(orderNumber: "of another device"))
      try site.settle("100", .otherOwner, order: "of another device")
      for _ in 0...1 {
        guard case .contradiction = try site.storage.binding(by: "of another device", of: key("101")) else {
          Issue.record("the order is bound a second time")
          return
        }
        if kind == .file { try site.reopen() }
      }
    }
  }

  @Test func `if an answer gives one order to two transactions, the first gets it`() throws {
    var run = try MachineRun(orders: [])
    for id in ["100", "101"] { _ = try run.arrive(bought(id, proof: "one receipt")) }
    _ = try run.fail(.device, .retry(reason: "no answer", retryAfterMilliseconds: nil))
    try #require(run.letPass(3_600_000).sent == [["100", "101"]])
    let actions = run.reply(.device, ["100": .granted, "101": .granted], order: "9")
    #expect(actions.delivered.map(\.orderNumber) == ["9", nil])
    #expect(actions.faults.count == 1)
  }

  // MARK: Refunds

  @Test(arguments: StorageKind.allCases)
  func `an undone refund is an update, even if only the backend knew of the refund`(kind: StorageKind) throws
  {
    try StorageSite.with(kind) { site in
      var transaction = bought("100")
      transaction.signedAt = midday
      try site.enqueue(transaction)
      let tombstone = try #require(try site.settle("100", .refunded))
      #expect(try !site.storage.isNews(transaction, since: tombstone), "the same delivery again")
      transaction.signedAt = midday.adding(milliseconds: 60_000)
      #expect(try site.storage.isNews(transaction, since: tombstone))
    }
  }
}
