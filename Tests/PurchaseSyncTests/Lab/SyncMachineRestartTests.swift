import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The machine after a kill, and after the clock was set.
@Suite struct SyncMachineRestartTests {
  private static let year = inDays(365)
  private let down = UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil)

  @Test func `a kill keeps attempts, place, budget and postponed entries`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    for _ in 0..<3 {
      _ = try run.fail(alice, down)
      _ = run.letPass(60_000)
    }
    let (attempts, retry) = (run.entry("100")?.attempts, run.machine.retryState)
    try #require(attempts == 4)
    _ = try run.restart(after: 1_000)
    #expect(run.entry("100")?.attempts == attempts)
    #expect(run.machine.retryState.budget == retry.budget)
    #expect(run.machine.state(of: alice).backoff.failures == attempts)
    #expect(run.letPass(5_000).sent == [["100", "101"]])
  }

  @Test func `a pending entry waits as long after a kill`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending], retryAfter: 600)
    #expect(try run.restart(after: 1_000).sent == [])
    #expect(run.letPass(598_000).sent == [])
    #expect(run.letPass(130_000).sent == [["100"]])
  }

  /// After the clock went back, each wait lasts a day at most. The machine's own delays last an hour at most.
  @Test(arguments: [false, true]) func `no wait lasts a year after the clock went back a year`(kills: Bool)
    throws
  {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending], retryAfter: 600)
    _ = try run.purchase("101", token: 2)
    _ = try run.finishEnded(key("101"), .failed)
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(payment("200", token: orderToken(9), product: "coins"))
    _ = try run.fail(bob, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 600_000))
    _ = try run.claim("carol")
    run.now = run.now.adding(milliseconds: -Self.year)
    let back = run.now
    if kills { _ = try run.restart() } else { _ = run.fire(at: back) }
    var sent: Set<String> = []
    var (finished, claimed) = (false, false)
    while run.now < back.adding(milliseconds: inDays(2)), sent.count < 2 || !claimed {
      if kills, run.now > back.adding(milliseconds: 3_600_000) { _ = try run.restart() }
      let before = run.now
      let actions = run.fire()
      try #require(run.now <= before.adding(milliseconds: inDays(1)))
      try #require(run.now > before || !actions.isEmpty)
      sent.formUnion(actions.sent.joined())
      finished = finished || actions.finished == ["101"]
      claimed = claimed || actions.claimed == ["carol"]
      if actions.isEmpty { break }
    }
    #expect(sent == ["100", "200"])
    #expect(claimed)
    #expect(kills || finished)
    #expect(run.now <= back.adding(milliseconds: inDays(1) + 10_000))
  }

  @Test func `a clock that goes back before each restart delays no entry for ever`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 600_000))
    run.now = run.now.adding(milliseconds: -Self.year)
    var sent: [[String]] = []
    for _ in 0..<30 where sent.isEmpty {
      sent = try run.restart(after: 3_600_000).sent
      if sent.isEmpty { sent = run.fire(at: run.now.adding(milliseconds: 6_000)).sent }
    }
    #expect(sent == [["100"]])
  }

  @Test func `quarantine is tried a day after a clock that went back`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    run.now = run.now.adding(milliseconds: -Self.year)
    let back = run.now
    _ = run.fire(at: back)
    #expect(run.letPass(inDays(1)).sent == [["100"]])
    #expect(run.now == back.adding(milliseconds: inDays(1)))
  }

  @Test func `a clock that went forward by a year causes no burst`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 200))
    for id in 0..<100 { _ = try run.arrive(bought(String(id))) }
    _ = try run.fail(alice, down)
    _ = try run.fail(alice, afterLettingPass: 60_000, down)
    run.now = run.now.adding(milliseconds: Self.year)
    var count = 0
    let start = run.now
    while run.now < start.adding(milliseconds: 3_600_000) {
      count += run.fire(at: run.now.adding(milliseconds: 1_000)).sent.count
      if run.isSending(alice) { _ = try run.fail(alice, down) }
    }
    #expect(count <= run.machine.policy.mostRetriesPerWindow)
  }

  @Test(arguments: [-365, 365]) func `a jump of the clock refills one window of the budget`(days: Int64)
    throws
  {
    var run = try MachineRun()
    for id in 0..<30 { _ = try run.arrive(bought(String(id))) }
    func exhaust(_ run: inout MachineRun) throws -> Int {
      var count = 0
      for _ in 0..<300 {
        if run.isSending(alice) { _ = try run.fail(alice, down) }
        run.now = run.now.adding(milliseconds: 5_001)
        count += (run.wake(.networkBack) + run.fire(at: run.now)).sent.count
      }
      return count
    }
    // 1,500 seconds.
    let first = try exhaust(&run)
    #expect((45...55).contains(first))
    run.now = run.now.adding(milliseconds: inDays(days))
    let second = try exhaust(&run)
    #expect(second <= 55)
    if days < 0 { #expect(second <= 35, "a clock that goes back restores no budget") }
  }
}

extension MachineRun {
  /// Lets each upload fail for some time.
  mutating func fail(
    _ lane: Lane, afterLettingPass milliseconds: Int64, _ failure: UploadFailure
  ) throws -> [SyncAction] {
    guard !letPass(milliseconds).sent.isEmpty else { return [] }
    return try fail(lane, failure)
  }
}
