import CommandLineTools
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import ScenarioFormat
import TestSupport
import Testing

@testable import purchase_simulator

/// Runs that run out of time.
@Suite struct UndecidedTests {
  private func score(client: Client = .engine, _ change: (inout Score) -> Void) throws -> Score {
    let scenario = try #require(Scenario.all.first)
    let snapshot = try TemporaryDirectory.with("Undecided") { directory in
      try MockServer(
        databasePath: directory + "/environment.sqlite", products: ServedProducts.all,
        bundleID: ServeCommand.bundleID, now: { .wallClock() }
      ).snapshot()
    }
    var score = Score(scenario, client: client, environment: snapshot, kept: [], seconds: 1)
    (score.paid, score.granted, score.unexpected) = (1, 1, [])
    change(&score)
    return score
  }

  @Test func `a run that ran out of time is undecided`() throws {
    let stuck = try score { ($0.granted, $0.stuck, $0.ranOutOfTime) = (0, 1, true) }
    #expect(stuck.verdict == .undecided && stuck.words == "undecided, out of time: 1 stuck")
    #expect(CompareTable.code(of: stuck) == "?" && Report.CellState(stuck, elseFailed: .failed) == .undecided)
    #expect(Table.row(stuck).contains("undecided: the run ran out of time"))
    let unfinished = try score { ($0.unfinished, $0.ranOutOfTime) = (1, true) }
    #expect(unfinished.verdict == .undecided)
    #expect([stuck, unfinished].exitCode == ExitCode.undecided)
    #expect(Table.summary([stuck]).hasPrefix("0 of 1 clean, 1 undecided, "))
  }

  @Test func `without a lack of time the same run failed`() throws {
    let stuck = try score { ($0.granted, $0.stuck) = (0, 1) }
    #expect(stuck.verdict == .failed && [stuck].exitCode == ExitCode.promiseBroken)
    #expect(try score { $0.unfinished = 1 }.verdict == .failed)
  }

  @Test func `a run that is late is not clean, unless its backend asks to wait`() throws {
    #expect(try score { $0.delay = 60 }.verdict == .clean)
    let late = try score { $0.delay = 61 }
    #expect(late.verdict == .failed)
    #expect(late.words == "delivered 61.00 s after it could be")
    #expect(try score { ($0.delay, $0.mayBeLate) = (61, true) }.verdict == .clean)
    #expect(try score { ($0.delay, $0.ranOutOfTime) = (61, true) }.verdict == .failed)
  }

  @Test func `more time would not undo a loss, a second grant, a wrong account or a crash`() throws {
    #expect(try score { ($0.lost, $0.ranOutOfTime) = (1, true) }.verdict == .failed)
    #expect(try score { ($0.doubled, $0.ranOutOfTime) = (1, true) }.verdict == .failed)
    #expect(try score { ($0.wrongAccount, $0.ranOutOfTime) = (1, true) }.verdict == .failed)
    #expect(try score { ($0.crashes, $0.ranOutOfTime) = (["crashed"], true) }.verdict == .failed)
  }

  @Test func `a run that is clean in the end counts as clean, and other clients promise nothing`() throws {
    #expect(try score { $0.ranOutOfTime = true }.verdict == .clean)
    let other = try score(client: .finishFirst) { $0.stuck = 1 }
    #expect(other.verdict == .failed && [other].exitCode == ExitCode.ok)
    let lost = try score { $0.lost = 1 }
    let undecided = try score { ($0.stuck, $0.ranOutOfTime) = (1, true) }
    #expect([lost, undecided].exitCode == ExitCode.promiseBroken)
  }

  @Test func `an app that makes progress is waited for`() {
    let start = ContinuousClock.now
    var patience = AppPatience(seconds: 1, waitsForProgress: true, now: start)
    for left in (1...1_000).reversed() {
      let now = start.advanced(by: .seconds((1_000 - left) * 60))
      #expect(patience.end(left: left, passages: 0, now: now) == nil)
    }
  }

  @Test func `an app that does nothing is stuck, one that makes attempts runs out of time`() {
    var clock = ContinuousClock.now
    func pass(_ patience: inout AppPatience, passages: (Int) -> Int) -> (end: AppPatience.End?, loops: Int) {
      for loop in 1...10_000 {
        clock = clock.advanced(by: .milliseconds(5))
        if let end = patience.end(left: 1, passages: passages(loop), now: clock) { return (end, loop) }
      }
      return (nil, 0)
    }
    var idle = AppPatience(seconds: 1, waitsForProgress: true, now: clock)
    let stuck = pass(&idle) { _ in 7 }
    #expect(stuck.end == .stuck && (200...202).contains(stuck.loops))
    var busy = AppPatience(seconds: 1, waitsForProgress: true, now: clock)
    let late = pass(&busy) { $0 }
    #expect(late.end == .outOfTime && (1_200...1_202).contains(late.loops))
    var other = AppPatience(seconds: 1, waitsForProgress: false, now: clock)
    #expect(pass(&other) { $0 }.end == .stuck)
  }

  @Test func `a process that the system does not schedule does not use up its time`() {
    let start = ContinuousClock.now
    var patience = AppPatience(seconds: 1, waitsForProgress: true, now: start)
    for loop in 1...99 {
      let now = start.advanced(by: .seconds(loop * 60))
      #expect(patience.end(left: 1, passages: 0, now: now) == nil)
    }
  }
}
