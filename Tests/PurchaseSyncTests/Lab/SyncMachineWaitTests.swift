import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// How long entries and lanes wait after an answer, and what ends a wait.
@Suite struct SyncMachineWaitTests {
  /// How long alice's entry waits after the verdicts, each in a day of its own, for many seeds.
  private func waits(after verdicts: [Verdict?], policy: RetryPolicy = RetryPolicy()) throws -> [Int64] {
    try (1...60 as ClosedRange<UInt64>).map { seed in
      var run = try MachineRun(policy: policy, seed: seed)
      _ = try run.arrive(bought("100", token: 1))
      for (index, verdict) in verdicts.enumerated() {
        _ = verdict.map { run.reply(["100": $0]) } ?? run.reply([:])
        if index + 1 < verdicts.count { try #require(run.letPass(inDays(1)).sent == [["100"]]) }
      }
      return try #require(run.entry("100")?.readyAt).milliseconds(since: run.now)
    }
  }

  @Test(
    arguments: [
      ([.pending], 4), ([.pending, .pending, .pending, .pending], 4),
      ([.pending, .pending, .pending, .pending, .pending], 5), ([.unknownTransaction], 3),
      ([.unknownTransaction, .unknownTransaction], 4), ([nil], 1), ([nil, nil], 2),
    ] as [([Verdict?], Int)])
  func `an entry waits as after so many failures`(verdicts: [Verdict?], failures: Int) throws {
    let (waits, widest) = (try waits(after: verdicts), RetryPolicy().ceiling(afterFailures: failures))
    #expect(waits.allSatisfy { (1...widest).contains($0) } && waits.contains { $0 > widest / 2 })
  }

  @Test(arguments: [.pending, .unknownTransaction, nil] as [Verdict?])
  func `an entry that need not wait is not sent again within the same moment`(verdict: Verdict?) throws {
    var impatient = RetryPolicy()
    impatient.baseMilliseconds = 0
    #expect(Set(try waits(after: [verdict], policy: impatient)) == [1])
  }

  // MARK: A wake during a request

  /// What comes of a request after a wake came while it was under way.
  private enum End: CaseIterable {
    case pending, notAnswered, unknown, refused, failed, withoutProof
  }

  /// Alice's lane after so many rounds, with a request under way.
  private func rounds(_ count: Int, _ end: End) throws -> MachineRun {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    for _ in 1..<count {
      try give(end, &run)
      try #require(run.letPass(inDays(1)).sent == [["100"]])
    }
    return run
  }

  private func give(_ end: End, _ run: inout MachineRun) throws {
    switch end {
    case .pending: _ = run.reply(["100": .pending])
    case .notAnswered: _ = run.reply([:])
    case .unknown: _ = run.reply(["100": .unknownTransaction])
    case .refused: _ = try run.fail(alice, .backendFault(reason: "HTTP 422"))
    case .failed: _ = try run.fail(alice, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil))
    case .withoutProof: _ = try run.fail(alice, .proofMissing)
    }
  }

  @Test(arguments: End.allCases, [1, 7, 9])
  private func `after an answer to a request that a wake met, the next attempt is soon`(
    end: End, count: Int
  ) throws {
    for reason in [WakeReason.foreground, .networkBack, .userAsked] {
      var run = try rounds(count, end)
      _ = run.wake(reason)
      run.now = run.now.adding(milliseconds: 3_000)
      try give(end, &run)
      #expect(run.isSending(alice) || run.letPass(10_000).sent == [["100"]], "\(reason)")
    }
  }

  @Test func `a wake does not shorten the pause that the answer to a request under way asks for`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.wake(.foreground)
    _ = run.reply(["100": .pending], retryAfter: 600)
    #expect(run.letPass(599_000).sent == [])
    #expect(run.letPass(200_000).sent == [["100"]])
  }

  @Test func `a purchase does not end the wait that the answer to a request under way begins`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    _ = run.reply(["100": .pending])
    let wait = try #require(run.entry("100")?.readyAt).milliseconds(since: run.now)
    #expect(wait > 1_000)
  }

  // MARK: Credentials

  @Test func `credentials that are missing are asked for, unless newer ones came during the request`() throws
  {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    #expect(!run.machine.isWaitingForSignIn(in: alice))
    _ = run.wake(.signedIn(account: "alice"))
    #expect(try run.fail(alice, .signInNeeded).sent == [["100"]])
    let actions = try run.fail(alice, .signInNeeded)
    #expect(actions.sent == [] && actions.events == [.signInNeeded(alice)])
    #expect(run.machine.isWaitingForSignIn(in: alice))
  }

  // MARK: Refusals

  @Test func `the entries behind one that is refused alone go on at once, not after a quarter of an hour`()
    throws
  {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    for (id, token) in [("101", 2), ("102", 3)] as [(String, UInt8)] {
      _ = try run.arrive(bought(id, token: token))
    }
    let actions = try run.fail(alice, .backendFault(reason: "HTTP 400"))
    #expect(actions.postponed == ["100"])
    #expect(run.letPass(inMinutes(1)).sent.first?.suffix(2) == ["101", "102"])
  }

  @Test(arguments: [(1, 2), (2, 6), (3, 18), (4, 54), (5, 54)] as [(Int, Int64)])
  func `a lone purchase that the backend refuses is tried again soon, as after a failure`(
    refusals: Int, within seconds: Int64
  ) throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var run = try MachineRun(seed: seed)
      _ = try run.arrive(bought("100", token: 1))
      for _ in 1..<refusals {
        _ = try run.fail(alice, .backendFault(reason: "HTTP 422"))
        try #require(run.letPass(inMinutes(1)).sent == [["100"]])
      }
      _ = try run.fail(alice, .backendFault(reason: "HTTP 422"))
      #expect(run.letPass(seconds * 1_000).sent == [["100"]])
    }
  }

  @Test func `a kill between a refusal and the next try delays it by a second at most`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .backendFault(reason: "HTTP 422"))
    let atOnce = try run.restart().sent
    #expect(atOnce == [["100"]] || run.letPass(1_000).sent == [["100"]])
  }

  @Test func `a lone purchase that is refused again and again is four requests an hour`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    var sent: [Timestamp] = []
    let end = run.now.adding(milliseconds: inDays(1))
    while run.now < end {
      if run.isSending(alice) { _ = try run.fail(alice, .backendFault(reason: "HTTP 422")) }
      guard !run.letPass(end.milliseconds(since: run.now)).sent.isEmpty else { break }
      sent.append(run.now)
    }
    let firstHour = sent.filter { $0.milliseconds(since: midday) <= inMinutes(60) }
    #expect((7...11).contains(firstHour.count), "\(firstHour.count)")
    #expect((23 * 3...23 * 4).contains(sent.count - firstHour.count), "\(sent.count)")
  }

  @Test func `a purchase wakes the lane of its account, which had failed for long`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .backendFault(reason: "HTTP 400"))
    _ = try run.arrive(bought("101", token: 2))
    #expect(run.machine.state(of: alice).purpose == .person)
    #expect(!run.letPass(5_000).sent.isEmpty)
  }

  @Test func `after transactions did not fit again, the store is asked after a whole wait`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    #expect(throws: QueueError.self) {
      try run.machine.transactionArrived(bought("101", token: 2), now: midday)
    }
    #expect(!run.machine.timerFired(now: midday).wakes.isEmpty)
    let later = midday.adding(milliseconds: inMinutes(30))
    let asked = later.adding(milliseconds: RetryPolicy().ceilingMilliseconds)
    #expect(run.machine.heldArrived(now: later).wakes == [asked])
  }

  @Test func `an answer that the purchase is pending forgets the failures before it`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    for _ in 0..<3 {
      _ = try run.fail(alice, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil))
      #expect(run.letPass(inDays(1)).sent == [["100"]])
    }
    #expect(run.storage.watch(of: key("100")).failedRounds == 3)
    _ = run.reply(["100": .pending])
    #expect(run.storage.watch(of: key("100")) == PoisonWatch())
  }

  // MARK: Receipts

  @Test func `a receipt does not shorten a pause that came with a failed upload`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .unknownTransaction)
    #expect(run.letPass(inDays(1)).sent == [["100"]])
    _ = try run.fail(alice, .retry(reason: "HTTP 500", retryAfterMilliseconds: 600_000))
    #expect(try run.proofFound("receipt", for: key("100")).sent == [])
    #expect(try #require(run.entry("100")?.readyAt) >= run.now.adding(milliseconds: 600_000))
  }

  @Test func `a receipt does not shorten the wait of a pending entry`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .pending)
    let readyAt = try #require(run.entry("100")?.readyAt)
    #expect(try run.proofFound("receipt", for: key("100")).sent == [])
    #expect(run.entry("100")?.readyAt == readyAt)
  }

  @Test func `a receipt releases an entry from quarantine`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    #expect(run.entry("100")?.state == .quarantined)
    #expect(try run.proofFound("receipt", for: key("100")).sent == [["100"]])
    #expect(run.entry("100")?.state == .queued)
  }

  @Test func `without capacity a receipt leaves the entry in quarantine, and is kept`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.purchase("100", token: 1, .rejected)
    _ = try run.arrive(bought("101", token: 2))
    #expect(try run.proofFound("receipt", for: key("100")) == [])
    #expect(run.entry("100")?.state == .quarantined)
    #expect(run.entry("100")?.payloads.map(\.kind) == ["appReceipt", "signedTransaction"])
  }

  // MARK: Clocks

  enum Event: CaseIterable, Sendable {
    case adoptionRequested, adoptionWithdrawn, sendHeld, heldArrived, questionCame, outcomeConfirmed,
      proofFound
    case capacityLacked, storeNotListed, transactionArrived, storeListed, timerFired
  }

  private func happen(_ event: Event, _ machine: inout SyncMachine<MemoryStorage>, at now: Timestamp) throws {
    switch event {
    case .adoptionRequested: _ = try machine.adoptionRequested(by: "bob", now: now)
    case .adoptionWithdrawn: _ = try machine.adoptionWithdrawn(by: "bob", now: now)
    case .sendHeld: _ = machine.sendHeld(now: now)
    case .heldArrived: _ = machine.heldArrived(now: now)
    case .questionCame: _ = machine.questionCame(now: now)
    case .outcomeConfirmed: _ = try machine.outcomeConfirmed(key("200"), now: now)
    case .proofFound:
      _ = try machine.proofFound(Payload(kind: "appReceipt", bytes: [1]), for: key("200"), now: now)
    case .capacityLacked: _ = machine.capacityLacked(now: now)
    case .storeNotListed: _ = machine.storeNotListed(now: now)
    case .transactionArrived: _ = try machine.transactionArrived(bought("100", token: 1), now: now)
    case .storeListed: _ = try machine.storeListed([], account: nil, now: now)
    case .timerFired: _ = machine.timerFired(now: now)
    }
  }

  @Test(arguments: [nil] + Event.allCases)
  func `a wait that was over at any event does not begin anew when the clock goes back`(event: Event?) throws
  {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .backendFault(reason: "HTTP 400"))
    run.machine.suspended()
    if let event { try happen(event, &run.machine, at: midday.adding(milliseconds: inMinutes(120))) }
    run.now = midday.adding(milliseconds: -inDays(1))
    // Otherwise a wake-up brings the next attempt within five seconds, and not at once.
    #expect(run.wake(.foreground).sent.contains(["100"]) == (event != nil))
  }
}
