import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct RetryLedgerTests {
  private static let policy = RetryPolicy()

  private func failing(asked: Int64? = nil, at now: Timestamp = midday) -> RetryLedger {
    var ledger = RetryLedger()
    var backoff = LaneBackoff()
    var delays = Delays(Self.policy, seed: 1)
    ledger.failed(
      .backendBusy(reason: "", retryAfterMilliseconds: asked), &backoff, now: now, &delays)
    return ledger
  }

  @Test(
    arguments: [
      // failure; lane fails, backend fails, lane has a floor, backend has a floor, nothing was sent
      (UploadFailure.retry(reason: "", retryAfterMilliseconds: nil), 1, true, false, false, 0),
      (.retry(reason: "", retryAfterMilliseconds: 5_000), 1, true, true, false, 0),
      (.requestFailed(reason: "", retryAfterMilliseconds: 5_000), 1, true, true, false, 0),
      (.backendBusy(reason: "", retryAfterMilliseconds: nil), 1, true, false, false, 0),
      (.backendBusy(reason: "", retryAfterMilliseconds: 5_000), 1, true, false, true, 0),
      (.backendFault(reason: ""), 1, false, false, false, 0),
      (.laneTaken, 0, false, false, false, 1), (.accountRefused, 0, false, false, false, 1),
      (.unprepared(reason: ""), 0, false, false, false, 1),
      (.signInNeeded, 0, false, false, false, 0), (.proofMissing, 0, false, false, false, 0),
      (.interrupted, 0, false, false, false, 0),
      (.unreadable(key("1"), reason: ""), 0, false, false, false, 0),
    ] as [(UploadFailure, Int, Bool, Bool, Bool, Int)])
  func `each failure has its effect on its lane and on all lanes`(
    failure: UploadFailure, failures: Int, isFailing: Bool, laneWaits: Bool, allWait: Bool, unsent: Int
  ) {
    var ledger = RetryLedger()
    var backoff = LaneBackoff()
    var delays = Delays(Self.policy, seed: 1)
    ledger.failed(failure, &backoff, now: midday, &delays)
    #expect(backoff.failures == failures)
    #expect(backoff.unsent == unsent)
    #expect(((backoff.wait?.asked ?? 0) > 0) == laneWaits)
    #expect(ledger.state.pace.isFailing == isFailing)
    #expect((ledger.state.pace.asked != nil) == allWait)
  }

  @Test func `a lane that has just failed sends after the others, and before those that failed later`() throws
  {
    let storage = MemoryStorage()
    storage.book.add(1)
    let transactions = [bought("100", token: 1), bought("200")]
    for transaction in transactions {
      let match = try OrderMatcher.match(transaction, from: storage)
      _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    }
    var ledger = failing()
    let decision = ledger.admission(of: LaneBackoff(), for: .retry, now: midday, policy: Self.policy)
    if case .send(let admitted) = decision { try ledger.spend(admitted, in: storage, now: midday) }
    let lanes = storage.lanes()
    func turns() throws -> [Lane] {
      try ledger.turns(of: lanes, in: storage, now: midday, policy: Self.policy)
    }
    #expect(try turns() == lanes)
    for lane in [lanes[0], lanes[1], lanes[0]] {
      ledger.ended(lane, isAtFault: true)
      #expect(try turns().last == lane)
    }
    ledger.ended(lanes[0], isAtFault: false)
    #expect(try turns() == lanes)
  }

  @Test func `a lane whose next entry was sent before sends after one whose entry is new`() throws {
    let storage = MemoryStorage()
    storage.book.add(1)
    for transaction in [bought("100", token: 1), bought("200")] {
      let match = try OrderMatcher.match(transaction, from: storage)
      _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    }
    let lanes = storage.lanes()
    let head = try #require(storage.readyEntries(in: lanes[0], now: midday, limit: 1).first)
    try storage.recordAttempt([head.key], keeping: nil, now: midday)
    let turns = try failing().turns(of: lanes, in: storage, now: midday, policy: Self.policy)
    #expect(turns == [lanes[1], lanes[0]])
  }

  @Test func `only a change is committed, and once`() throws {
    let storage = MemoryStorage()
    var ledger = RetryLedger()
    try ledger.commit(in: storage, now: midday)
    #expect(storage.retryState() == RetryState())
    ledger = failing()
    try ledger.commit(in: storage, now: midday)
    #expect(storage.retryState() == ledger.state)
    storage.keep(RetryState(), [:], now: midday)
    try ledger.commit(in: storage, now: midday)
    #expect(storage.retryState() == RetryState(), "nothing changed here since")
  }

  enum Part: CaseIterable, Sendable {
    case budget, asked, isFailing, pacedSendsLeft, pacedAt, succeededAt
  }

  @Test(arguments: Part.allCases)
  func `each part that holds requests back is worth a commit, the last success alone is not`(part: Part) {
    let budget = RetryBudget(fullAt: Timestamp(milliseconds: part == .budget ? 1 : 0))
    let pace = BackendPace(
      asked: part == .asked ? Wait(.asked, began: midday, milliseconds: 1) : nil,
      isFailing: part == .isFailing,
      pacedSendsLeft: part == .pacedSendsLeft ? 1 : 0, pacedAt: part == .pacedAt ? midday : nil,
      succeededAt: part == .succeededAt ? midday : nil)
    let changed = RetryState(budget: budget, pace: pace)
    #expect(changed.isWorthKeeping(since: RetryState()) == (part != .succeededAt))
    #expect(RetryState().isWorthKeeping(since: changed) == (part != .succeededAt))
  }

  @Test func `a Retry-After that another process got holds here too`() throws {
    let storage = MemoryStorage()
    var other = failing(asked: 600_000)
    try other.commit(in: storage, now: midday)
    var ledger = RetryLedger()
    try ledger.read(from: storage)
    #expect(ledger.state.pace.asked == other.state.pace.asked)
    guard case .wait = ledger.admission(of: LaneBackoff(), for: .person, now: midday, policy: Self.policy)
    else { return #expect(Bool(false), "sent before the backend's Retry-After") }
  }

  @Test func `a pause that ended before the clock went back stays ended`() throws {
    let storage = MemoryStorage()
    var ledger = failing(asked: 600_000)
    try ledger.commit(in: storage, now: midday)
    let floor = try #require(ledger.state.pace.asked).ends
    ledger.follow(ClockJump(from: floor, to: midday.adding(milliseconds: -inDays(1))))
    // Another process writes the same pause again.
    var other = RetryLedger()
    try other.load(from: storage)
    other.succeeded(now: midday, policy: Self.policy)
    try other.commit(in: storage, now: midday)
    try ledger.read(from: storage)
    #expect(ledger.state.pace.asked == nil)
  }

  @Test func `a refused commit changes nothing, and an attempt commits its cost`() throws {
    let storage = MemoryStorage()
    let transaction = bought("100")
    let match = try OrderMatcher.match(transaction, from: storage)
    _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    var ledger = failing()
    let later = midday.adding(milliseconds: 10_000)
    let decision = ledger.admission(of: LaneBackoff(), for: .retry, now: later, policy: Self.policy)
    guard case .send(let admitted) = decision else {
      Issue.record("not admitted: \(decision)")
      return
    }
    let before = ledger
    #expect(throws: QueueError.self) {
      try ledger.recordAttempt(of: [key("404")], admitted, in: storage, now: later)
    }
    #expect(ledger == before)
    try ledger.recordAttempt(of: [key("100")], admitted, in: storage, now: later)
    #expect(storage.entry(key("100"))?.attempts == 1)
    #expect(storage.retryState() == admitted)
    #expect(admitted.budget.spent(now: later, policy: Self.policy) == 1)
  }
}
