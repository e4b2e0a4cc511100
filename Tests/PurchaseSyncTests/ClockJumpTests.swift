import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A clock that goes back makes no wait of our own longer, while the process runs.
@Suite struct ClockJumpTests {
  private static let hour: Int64 = 3_600_000

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
    // Another process may have moved it already.
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

  @Test func `two processes that see one jump do not move what the backend asked for twice`() {
    let jump = ClockJump(from: midday, to: midday.adding(milliseconds: -inDays(1)))
    let began = midday.adding(milliseconds: -1_000)
    var once = PurchaseSync.Wait(.asked, began: began, milliseconds: inMinutes(60))
    once.follow(jump, isShared: true)
    var twice = once
    twice.follow(jump, isShared: true)
    #expect(twice == once)
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
