import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// When an adoption is sent again: after a refusal, a failure, and a clock that changed.
@Suite struct AdoptionTimeTests {
  private static let policy = RetryPolicy()

  /// An adoption of alice that waits in a table, with the driver's part.
  private struct Run {
    let storage = FaultyStorage(MemoryStorage())
    var table = AdoptionTable()
    var retry = RetryLedger()
    var delays = Delays(AdoptionTimeTests.policy, seed: 1)

    init() throws { try table.request(by: "alice", in: storage) }

    mutating func send(at now: Timestamp = midday) -> [SyncAction] {
      table.sendDue(from: storage, &retry, now: now, policy: AdoptionTimeTests.policy)
    }

    /// The request in flight fails; returns what is published to the app.
    mutating func fail(_ failure: UploadFailure, at now: Timestamp = midday) throws -> [SyncAction] {
      var actions: [SyncAction] = []
      _ = try table.failed("alice", failure, storage, &retry, &actions, now: now, &delays)
      return actions
    }

    /// Waits for the end of a second refusal; returns the end.
    mutating func refuseTwice(at now: Timestamp = midday) throws -> Timestamp {
      for _ in 0..<2 {
        try #require(send(at: now) == [.adopt(account: "alice")])
        _ = try fail(.tokenRefused, at: now)
      }
      return try #require(table.state(of: "alice")?.signIn.due)
    }
  }

  @Test func `a refused token is asked for anew at once, and the second time when the wait is over`() throws {
    var run = try Run()
    #expect(run.send() == [.adopt(account: "alice")])
    #expect(try run.fail(.tokenRefused) == [], "a newer token may do")
    #expect(run.send() == [.adopt(account: "alice")])
    #expect(try run.fail(.tokenRefused) == [.emit(.signInNeeded(.account("alice")))])
    let due = try #require(run.table.state(of: "alice")?.signIn.due)
    for early in [midday, due.adding(milliseconds: -1)] { #expect(run.send(at: early) == [.wake(at: due)]) }
    #expect(run.send(at: due) == [.adopt(account: "alice")])
    // Without any credentials there is nothing to ask for: only a sign-in helps.
    _ = try run.fail(.signInNeeded, at: due)
    #expect(run.send(at: due.adding(milliseconds: inDays(2))) == [])
  }

  @Test(arguments: [
    (UploadFailure.backendFault(reason: "HTTP 400"), SyncEvent.backendFault(reason: "HTTP 400")),
    (.otherProtocol(reason: "version 2"), .protocolRefused(reason: "version 2")),
  ])
  func `the app is told why the backend does not take the request, even if the disk is full`(
    failure: UploadFailure, told: SyncEvent
  ) throws {
    var run = try Run()
    _ = run.send()
    #expect(try run.fail(failure) == [.emit(told)])
    var other = try Run()
    _ = other.send()
    var backoff = LaneBackoff()
    let failed = UploadFailure.retry(reason: "HTTP 500", retryAfterMilliseconds: nil)
    other.retry.failed(failed, &backoff, now: midday, &other.delays)
    other.storage.begin((at: 0, how: .death))
    var actions: [SyncAction] = []
    do {
      _ = try other.table.failed(
        "alice", failure, other.storage, &other.retry, &actions, now: midday, &other.delays)
    } catch {}
    #expect(actions == [.emit(told)])
  }

  @Test func `a request whose cost cannot be stored was not sent, and is sent later`() throws {
    var run = try Run()
    _ = run.send()
    _ = try run.fail(.retry(reason: "HTTP 500", retryAfterMilliseconds: nil))
    let due = run.table.state(of: "alice")?.backoff.opensAt(now: midday)
    let later = try #require(due).adding(milliseconds: inMinutes(1))
    run.storage.begin((at: 0, how: .death))
    #expect(!run.send(at: later).contains(.adopt(account: "alice")))
    run.storage.begin(nil)
    // Its cost counts here, so that the next one keeps the distance.
    let next = later.adding(milliseconds: Self.policy.paceMilliseconds)
    #expect(run.send(at: next) == [.adopt(account: "alice")])
  }

  @Test func `a pause that another process was asked for holds an adoption`() throws {
    var run = try Run()
    var other = RetryLedger()
    var backoff = LaneBackoff()
    let busy = UploadFailure.backendBusy(reason: "HTTP 503", retryAfterMilliseconds: inMinutes(10))
    other.failed(busy, &backoff, now: midday, &run.delays)
    try other.commit(in: run.storage, now: midday)
    let wake = try #require(run.send().wakes.first)
    #expect(wake >= midday.adding(milliseconds: inMinutes(10)))
  }

  @Test func `a request that failed once may have arrived, so that it cannot be withdrawn`() throws {
    var run = try Run()
    _ = run.send()
    _ = try run.fail(.retry(reason: "HTTP 500", retryAfterMilliseconds: nil))
    #expect(try !run.table.withdraw("alice", in: run.storage))
  }

  @Test func `an accepted request ends the backoff`() throws {
    var adoption = Adoption(throughPlace: 7)
    var run = try Run()
    adoption.sent(isLast: false)
    let failure = UploadFailure.retry(reason: "HTTP 500", retryAfterMilliseconds: nil)
    _ = adoption.failed(failure, &run.retry, now: midday, &run.delays)
    adoption.sent(isLast: false)
    _ = adoption.taken()
    #expect(adoption.backoff == LaneBackoff())
  }

  // MARK: Clocks

  @Test func `waits that are over stay over when the clock goes back`() throws {
    let yesterday = midday.adding(milliseconds: -inDays(1))
    var failing = try Run()
    _ = failing.send()
    _ = try failing.fail(.backendFault(reason: "HTTP 400"))
    failing.table.follow(ClockJump(from: midday.adding(milliseconds: inDays(1)), to: yesterday))
    #expect(failing.send(at: yesterday) == [.adopt(account: "alice")])
    var refused = try Run()
    let due = try refused.refuseTwice()
    refused.table.follow(ClockJump(from: due, to: yesterday))
    #expect(refused.send(at: yesterday) == [.adopt(account: "alice")])
  }

  @Test func `no wait lasts longer than a day after the clock went back a year`() throws {
    let nextYear = midday.adding(milliseconds: inDays(365))
    let tomorrow = midday.adding(milliseconds: Self.policy.horizonMilliseconds)
    var failing = try Run()
    _ = failing.send(at: nextYear)
    _ = try failing.fail(.backendFault(reason: "HTTP 400"), at: nextYear)
    failing.table.clamp(now: midday)
    try failing.retry.boundWaits(in: failing.storage, now: midday, policy: Self.policy)
    #expect(failing.send(at: tomorrow) == [.adopt(account: "alice")])
    var refused = try Run()
    _ = try refused.refuseTwice(at: nextYear)
    refused.table.clamp(now: midday)
    try refused.retry.boundWaits(in: refused.storage, now: midday, policy: Self.policy)
    #expect(refused.send(at: tomorrow) == [.adopt(account: "alice")])
  }
}
