import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Many entries wait for a verdict that is final. Each has a moment of its own.
@Suite struct RepeatedUploadTests {
  private static let minute: Int64 = 60_000

  /// So many purchases of alice, each answered `pending` before the next one comes.
  private func run(pending count: Int, seed: UInt64 = 1) throws -> MachineRun {
    var run = try MachineRun(orders: [], limits: QueueLimits(entries: 200), seed: seed)
    for number in 1...count {
      _ = try run.arrive(bought(String(number)), from: nil)
      answer(&run)
    }
    return run
  }

  /// The backend answers `pending` to whatever is in flight. Each entry goes alone, as with proofs that are elsewhere.
  private func answer(_ run: inout MachineRun) {
    for lane in [Lane.device, alice] where run.isSending(lane) {
      let sent = run.machine.state(of: lane).sent.map { ($0.key.transactionID, Verdict.pending) }
      _ = run.reply(lane, Dictionary(uniqueKeysWithValues: sent))
    }
  }

  @Test(arguments: [60, 150]) func `each of many pending entries is sent at its own moment`(count: Int) throws
  {
    var run = try run(pending: count)
    var moments: [Int64] = []
    let end = run.now.adding(milliseconds: 5 * Self.minute)
    while run.now < end, !run.letPass(end.milliseconds(since: run.now)).sent.isEmpty {
      moments.append(run.now.milliseconds)
      answer(&run)
    }
    let most = moments.map { first in moments.count { $0 >= first && $0 < first + Self.minute } }.max() ?? 0
    #expect(most <= CallPace.repeatedUploads.most(within: Self.minute))
    #expect(moments.count > 20, "they are repeated")
  }

  @Test func `a new purchase does not wait for the pace of the repeated ones`() throws {
    var run = try run(pending: 150)
    for _ in 0..<40 {
      try #require(!run.letPass(Self.minute).sent.isEmpty)
      answer(&run)
    }
    #expect(try run.arrive(bought("new")).sent.count == 1)
  }

  // MARK: Which uploads have the pace

  /// An upload that is no free repetition.
  private enum Other: CaseIterable {
    case first, person, afterFailure, early, whileFailing
  }

  @Test func `after the burst there is one repeated upload each two seconds, also when the clock goes back`()
  {
    var ledger = RetryLedger()
    for _ in 0..<20 { take(&ledger) }
    #expect(wait(ledger, at: midday) == 2_000)
    ledger.follow(ClockJump(from: midday, to: midday.adding(milliseconds: -inDays(1))))
    #expect(wait(ledger, at: midday.adding(milliseconds: -inDays(1))) == 2_000)
    #expect(wait(ledger, at: midday.adding(milliseconds: 2_000 - inDays(1))) == 0)
  }

  @Test(arguments: Other.allCases) private func `what is limited otherwise does not wait for this pace`(
    other: Other
  ) {
    var ledger = RetryLedger()
    for _ in 0..<20 { take(&ledger) }
    var (lane, delays) = (LaneBackoff(), Delays(RetryPolicy(), seed: 1))
    switch other {
    case .first, .person: break
    case .afterFailure: lane = LaneBackoff(failures: 1, wait: nil)
    case .early: lane.brought(isTap: true, now: midday, policy: RetryPolicy(), using: &delays.random)
    case .whileFailing:
      var backoff = LaneBackoff()
      let failure = UploadFailure.backendBusy(reason: "", retryAfterMilliseconds: nil)
      ledger.failed(failure, &backoff, now: midday.adding(milliseconds: -5_000), &delays)
    }
    let admission = ledger.admission(
      of: lane, for: other == .person ? .person : .retry, isRepeat: other != .first, now: midday,
      policy: RetryPolicy())
    #expect(isSend(admission))
  }

  private func take(_ ledger: inout RetryLedger) {
    ledger.reserved(by: LaneBackoff(), for: .retry, isRepeat: true, now: midday)
  }

  private func isSend(_ admission: RetryLedger.Admission) -> Bool {
    if case .send = admission { true } else { false }
  }

  private func wait(_ ledger: RetryLedger, at now: Timestamp) -> Int64 {
    let admission = ledger.admission(
      of: LaneBackoff(), for: .retry, isRepeat: true, now: now, policy: RetryPolicy())
    guard case .wait(let until) = admission else { return 0 }
    return until.milliseconds(since: now)
  }
}
