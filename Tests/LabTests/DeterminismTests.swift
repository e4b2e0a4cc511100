import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// Invariant 28: a seed gives the same run in another process. If it does not, the first different draw is named.
@Suite struct DeterminismTests {
  private func check(_ storage: ExploredStorage, hasOwnRandomness: Bool) -> DeterminismCheck {
    let choice = SimulationChoice(storage: storage, hasOwnRandomness: hasOwnRandomness)
    return DeterminismCheck(choice: choice, program: Program.lab.binary.path)
  }

  @Test(arguments: ExploredStorage.allCases)
  func `a stream that depends on the hashing of its process is found, and its first draw is named`(
    storage: ExploredStorage
  ) throws {
    let found = try #require(try check(storage, hasOwnRandomness: true).divergence(1..<5))
    let expected = /seed 1: draw 17 of the network at day \d+ \d\d:\d\d:\d\d, event \d+: \d+ here, \d+ there/
    #expect(found.wholeMatch(of: expected) != nil, "\(found)")
  }

  @Test(arguments: ExploredStorage.allCases)
  func `without such a stream nothing differs`(storage: ExploredStorage) throws {
    #expect(try check(storage, hasOwnRandomness: false).divergence(1..<2) == nil)
  }

  @Test(arguments: ExploredStorage.allCases)
  func `two processes run the same runs`(storage: ExploredStorage) throws {
    let count = 2
    let result = try CommandResult(
      of: ["explore", "--check-determinism", "--seeds", "\(count)", "--storage", storage.rawValue], by: .lab)
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(result.output == "\(count) seeds are the same run in two processes: \(count) different runs\n")
  }

  @Test func `recording the draws does not change a run`() throws {
    let runner = Explorer(.swarm, .memory, jobs: 1).runner
    let run = try runner.run(11)
    let draws = try runner.draws(of: 11)
    #expect(draws.count == run.draws)
    #expect(try runner.run(11).hash == run.hash)
    // Each stream counts from 1, without a gap.
    for (_, stream) in Dictionary(grouping: draws, by: \.stream) {
      #expect(stream.map(\.number) == Array(1...stream.count))
    }
    #expect(
      Set(draws.map(\.stream)).isSuperset(of: ["knobs", "people", "network", "store", "app", "machine"]))
  }

  private func decoded(_ line: String) throws -> ExploreWorker.Answer {
    try JSONDecoder().decode(ExploreWorker.Answer.self, from: Data(line.utf8))
  }

  // MARK: Naming it

  private func draw(
    _ bits: UInt64, _ stream: String = "network", number: Int = 43, bound: Int? = 10
  ) -> Draw {
    let at: Int64 = 2 * 86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 11_500
    return Draw(stream: stream, number: number, event: 812, at: at, bits: bits, bound: bound)
  }

  /// The bits that become `value` of 10.
  private func bits(_ value: UInt64) -> UInt64 { UInt64.max / 10 * value + UInt64.max / 20 }

  @Test func `a difference names the draw, its stream and its moment`() {
    let same = draw(5, number: 42)
    let (here, there) = (draw(bits(7)), draw(bits(9)))
    #expect(
      DeterminismCheck.firstDifference([same, here, here], [same, there, here])
        == "draw 43 of the network at day 2 03:04:11, event 812: 7 here, 9 there")
    #expect(DeterminismCheck.firstDifference([same, here], [same, here]) == nil)
  }

  @Test func `bits that give the same value are shown as bits`() {
    let told = DeterminismCheck.firstDifference([draw(1)], [draw(2)])
    #expect(told?.hasSuffix(": 1 here, 2 there") == true)
  }

  @Test func `a draw that only one process makes is a difference`() {
    let told = DeterminismCheck.firstDifference([draw(1)], [draw(1, "store", number: 2)])
    let rest = "at day 2 03:04:11, event 812"
    #expect(told == "draw 43 of the network \(rest) here, draw 2 of the store \(rest) there")
    #expect(
      DeterminismCheck.firstDifference([draw(1), draw(2)], [draw(1)])?.hasSuffix(": only here") == true)
    #expect(DeterminismCheck.firstDifference([], [draw(1)])?.hasSuffix(": only there") == true)
  }

  @Test(arguments: ["machine 2", "network"], [nil, 1, 10] as [Int?])
  func `a draw is the same after its way from the other process`(stream: String, bound: Int?) throws {
    let draw = draw(.max, stream, bound: bound)
    let answer = ExploreWorker.Answer(draws: [draw])
    #expect(try decoded(JSONOutput.line(answer)).draws == [draw])
    #expect(throws: DecodingError.self) { try decoded("{\"draws\":[{\"stream\":\"network\"}]}") }
  }

  @Test func `a run compares equal to itself after its way from the other process`() throws {
    let run = try Explorer(.calm, .memory, jobs: 1).runner.run(3)
    let there = try #require(try decoded(JSONOutput.line(ExploreWorker.Answer(run: run))).run)
    #expect(run.isSameRun(as: there))
    var other = there
    other.hash ^= 1
    #expect(!run.isSameRun(as: other))
    #expect(throws: DecodingError.self) { try decoded("purchase-lab: out of memory") }
  }
}
