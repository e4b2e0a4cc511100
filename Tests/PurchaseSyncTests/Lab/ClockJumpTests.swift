import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A clock that goes back makes no wait of our own longer, while the process runs.
@Suite struct ClockJumpTests {
  private static let hour: Int64 = 3_600_000
  private let policy = RetryPolicy()

  /// The wait, in minutes from midday on; the clock that goes back after 10 minutes; and what is left then, in minutes.
  struct Case: Sendable {
    var minutes: Int64
    var asked: Int64 = 0
    var back: Int64
    var left: Int64
    var isShared = false
  }

  @Test(arguments: [
    Case(minutes: 20, back: 60, left: 10),
    Case(minutes: 20, back: 5, left: 10),
    Case(minutes: 20, back: 525_600, left: 10),
    Case(minutes: 8, back: 60, left: 0),
    Case(minutes: 20, asked: 20, back: 60, left: 10),
    Case(minutes: 20, asked: 5, back: 60, left: 10),
    Case(minutes: 20, asked: 20, back: 5, left: 10),
    Case(minutes: 20, back: 5, left: 10, isShared: true),
    Case(minutes: 20, asked: 20, back: 60, left: 10, isShared: true),
    // Another process may have begun it again.
    Case(minutes: 20, asked: 20, back: 5, left: 15, isShared: true),
  ])
  func `what is left of a wait stays as long as it was`(one: Case) {
    let from = midday.adding(milliseconds: inMinutes(10))
    let jump = ClockJump(from: from, to: from.adding(milliseconds: -inMinutes(one.back)))
    let began = PurchaseSync.Wait(
      .backoff, began: midday, milliseconds: inMinutes(one.minutes), asked: inMinutes(one.asked))
    var wait = began
    wait.follow(jump, isShared: one.isShared)
    #expect(wait.opensAt(now: jump.to) == jump.to.adding(milliseconds: inMinutes(one.left)))
    var forgotten: PurchaseSync.Wait? = began
    forgotten.follow(jump)
    #expect((forgotten == nil) == (one.left == 0))
  }

  @Test func `a process that was asleep does not move what another one has begun again`() {
    let jump = ClockJump(from: midday, to: midday.adding(milliseconds: -inDays(1)))
    var wait = PurchaseSync.Wait(
      .asked, began: midday.adding(milliseconds: -1_000), milliseconds: inMinutes(60))
    wait.clockIsAt(jump.to)
    let again = wait
    wait.follow(jump, isShared: true)
    #expect(wait == again)
  }

  /// The jumps in the sequence in which two processes of an installation notice them: `a` and `b` the first one, `A` and
  /// `B` the second one. Without a small letter before it, a large one is both jumps at once. `c` is a process that starts
  /// between the jumps, and `C` notices the second one.
  @Test(
    arguments: [
      "abAB", "aABb", "aAB", "abBA", "AB", "baBA", "aBA", "bAB", "abA", "cAC", "cCA", "acAC", "acCA", "caAC",
      "caCA", "cABC", "cBCA", "abcCAB", "cCBA",
    ], StorageKind.allCases)
  func `processes that notice jumps apart move what the backend asked for once`(
    sequence: String, kind: StorageKind
  ) throws {
    try StorageSite.with(kind) { site in
      try site.enqueue(bought("100"))
      let asked = PurchaseSync.Wait(.asked, began: midday, milliseconds: inMinutes(60))
      try site.storage.postpone(key("100"), asked, reason: "", now: midday)
      try site.storage.keep(spentAndPaused(), [:], now: midday)
      let (first, second) = (inDays(1), inMinutes(90))
      let (once, twice) = (midday.adding(milliseconds: -first), midday.adding(milliseconds: -first - second))
      var ledgers = ["a": RetryLedger(), "b": RetryLedger(), "c": RetryLedger()]
      for name in ["a", "b"] { try ledgers[name]?.load(from: site.storage) }
      var seen: [String: Timestamp] = ["a": midday, "b": midday, "c": midday]
      for letter in sequence {
        let name = letter.lowercased()
        let (from, to) = (try #require(seen[name]), letter.isUppercase ? twice : once)
        guard to < from else { continue }
        seen[name] = to
        guard letter != "c" else {
          try ledgers[name]?.load(from: site.storage)
          try ledgers[name]?.boundWaits(in: site.storage, now: to, policy: policy)
          continue
        }
        let jump = ClockJump(from: from, to: to)
        ledgers[name]?.follow(jump)
        try ledgers[name]?.moveWaits(jump, in: site.storage, policy: policy)
      }
      #expect(try site.storage.entry(key("100"))?.readyAt == twice.adding(milliseconds: inMinutes(60)))
      let kept = try site.storage.retryState()
      #expect(kept.pace.asked?.ends == twice.adding(milliseconds: asked.milliseconds))
      if !sequence.lowercased().contains("c") {
        #expect(kept.budget == RetryBudget(fullAt: twice.adding(milliseconds: inMinutes(3))))
      }
      #expect(kept.budget.spent(now: twice, policy: policy) >= 4)
    }
  }

  /// Four requests of the budget are spent at midday, and the backend asks for a pause of an hour.
  private func spentAndPaused() -> RetryState {
    let asked = PurchaseSync.Wait(.asked, began: midday, milliseconds: inMinutes(60))
    let pace = BackendPace(
      asked: asked, isFailing: true, pacedSendsLeft: 0, pacedAt: midday, succeededAt: nil)
    return RetryState(budget: RetryBudget(fullAt: midday.adding(milliseconds: inMinutes(3))), pace: pace)
  }

  /// The clock goes back an hour, and a process notices it after it has not looked for half an hour. Seed 51403: a wait
  /// that was over before came back.
  @Test(arguments: [(130, 120, true), (89, 120, true), (29, 60, false), (0, 60, false)])
  func `what began before a process last looked is of the time before the jump`(
    minutesAgo: Int64, length: Int64, follows: Bool
  ) {
    let jump = ClockJump(
      from: midday.adding(milliseconds: inMinutes(60)), to: midday, unseen: inMinutes(30))
    var wait = PurchaseSync.Wait(
      .asked, began: midday.adding(milliseconds: -inMinutes(minutesAgo)), milliseconds: inMinutes(length))
    let before = wait
    wait.follow(jump, isShared: true)
    #expect(wait.began == before.began.adding(milliseconds: follows ? -inMinutes(60) : 0))
    #expect(wait.milliseconds == before.milliseconds)
  }

  /// Seed 3000047 of the machine's walk: what the backend asked for was over a year early.
  @Test(arguments: FaultyStorage.Fault.allCases)
  func `a jump whose move could not be stored is no part of the next jump`(fault: FaultyStorage.Fault) throws
  {
    let storage = FaultyStorage(MemoryStorage())
    let match = try OrderMatcher.match(bought("100"), from: storage)
    _ = try storage.enqueue(bought("100"), match, storeAccount: nil, now: midday)
    try storage.keep(spentAndPaused(), [:], now: midday)
    var ledger = RetryLedger()
    try ledger.load(from: storage)
    var at = midday
    for (distance, fault) in [(inDays(365), fault), (inMinutes(60), nil)] {
      let jump = ClockJump(from: at, to: at.adding(milliseconds: -distance))
      at = jump.to
      ledger.follow(jump)
      storage.begin(fault.map { (0, $0) })
      do throws(QueueError) { try ledger.moveWaits(jump, in: storage, policy: policy) } catch {
        #expect(fault != nil)
      }
      #expect(storage.hasStruck == (fault != nil))
      storage.begin(nil)
      guard fault != nil else { break }
      let asked = PurchaseSync.Wait(.asked, began: at, milliseconds: inMinutes(60))
      try storage.postpone(key("100"), asked, reason: "", now: at)
    }
    let wait = try #require(try storage.wait(of: key("100")))
    #expect(wait.opensAt(now: at) >= at.adding(milliseconds: inMinutes(60)))
  }

  @Test func `a process that slept through a jump takes what another was asked after it`() throws {
    let storage = MemoryStorage()
    storage.keep(spentAndPaused(), [:], now: midday)
    var (asleep, awake) = (RetryLedger(), RetryLedger())
    try awake.load(from: storage)
    let jump = ClockJump(from: midday, to: midday.adding(milliseconds: -inDays(365)))
    // One that never read the pause notices first, and commits what it finds.
    asleep.follow(jump)
    try asleep.moveWaits(jump, in: storage, policy: policy)
    awake.follow(jump)
    try awake.moveWaits(jump, in: storage, policy: policy)
    let hourLater = jump.to.adding(milliseconds: inMinutes(60))
    var delays = Delays(policy, seed: 1)
    awake.paused(milliseconds: inMinutes(120), now: hourLater, &delays)
    try awake.commit(in: storage, now: hourLater)
    try asleep.read(from: storage)
    #expect(asleep.state.pace.asked == awake.state.pace.asked)
    #expect(asleep.state.pace.asked?.began == hourLater)
  }

  @Test func `what a newcomer was asked after a jump stays when one that slept notices the jump`() throws {
    let storage = MemoryStorage()
    var (asleep, newcomer) = (RetryLedger(), RetryLedger())
    try asleep.load(from: storage)
    let back = midday.adding(milliseconds: -inMinutes(120))
    try newcomer.load(from: storage)
    try newcomer.boundWaits(in: storage, now: back, policy: policy)
    var delays = Delays(policy, seed: 1)
    newcomer.paused(milliseconds: inMinutes(60), now: back, &delays)
    var spent = newcomer.state
    let isSpent = spent.budget.spend(.retry, now: back, policy: policy)
    #expect(isSpent)
    try newcomer.spend(spent, in: storage, now: back)
    let asked = storage.retryState().pace.asked
    let jump = ClockJump(
      from: midday.adding(milliseconds: inMinutes(3)), to: back.adding(milliseconds: inMinutes(3)))
    asleep.follow(jump)
    try asleep.moveWaits(jump, in: storage, policy: policy)
    #expect(asleep.state.pace.asked == asked)
    #expect(storage.retryState().pace.asked == asked)
    #expect(storage.retryState().budget == spent.budget)
  }

  // MARK: The whole machine

  enum Waiting: CaseIterable, Sendable { case lane, entry, adoption, finish }

  private func waiting(_ what: Waiting) throws -> MachineRun {
    var run = try MachineRun()
    switch what {
    case .lane:
      _ = try run.arrive(bought("100", token: 1))
      _ = try run.fail(alice, .backendFault(reason: "HTTP 400"))
    case .entry:
      _ = try run.arrive(bought("100", token: 1))
      _ = run.reply(["100": .pending])
    case .adoption:
      _ = try run.claim("alice")
      _ = try run.adoptionEnded("alice", .failed(.backendFault(reason: "HTTP 400")))
    case .finish:
      _ = try run.purchase("100", token: 1)
      _ = try run.finishEnded(key("100"), .failed)
    }
    return run
  }

  @Test(arguments: Waiting.allCases, [60, 24 * 60, 365 * 24 * 60] as [Int64])
  func `the timer comes at the end of the wait, although the clock went back before`(
    what: Waiting, minutes: Int64
  ) throws {
    var run = try waiting(what)
    let wait = inMinutes(20)
    run.machine.uptime += wait
    run.now = run.now.adding(milliseconds: wait - inMinutes(minutes))
    let actions = run.machine.timerFired(now: run.now)
    switch what {
    case .lane, .entry: #expect(actions.sent == [["100"]])
    case .adoption: #expect(actions.claimed == ["alice"])
    case .finish: #expect(actions.finished == ["100"])
    }
  }

  @Test func `an event in between takes nothing away from a wait, and adds nothing`() throws {
    var run = try waiting(.entry)
    let due = try #require(run.storage.wait(of: key("100"))).ends
    let left = due.milliseconds(since: run.now)
    run.machine.uptime += left / 2
    run.now = run.now.adding(milliseconds: left / 2 - Self.hour)
    _ = try run.arrive(bought("200", token: 2))
    #expect(run.storage.wait(of: key("100"))?.ends == due.adding(milliseconds: -Self.hour))
  }
}
