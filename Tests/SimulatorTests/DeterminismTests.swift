import FaultInjection
import Foundation
import Testing

@testable import purchase_simulator

/// Invariant 28: the same seed is the same run, in another process too; and where it is not, the first draw is named.
@Suite(.timeLimit(.minutes(4))) struct DeterminismTests {
  private func check(_ storage: ExploredStorage, hasOwnRandomness: Bool) -> DeterminismCheck {
    var options = ExploreOptions()
    options.storage = storage
    return DeterminismCheck(
      options: options, program: RunTests.binary.path, hasOwnRandomness: hasOwnRandomness)
  }

  @Test(arguments: ExploredStorage.allCases)
  func `a stream that depends on the process's own hashing is found, and its first draw is named`(
    storage: ExploredStorage
  ) throws {
    let found = try #require(try check(storage, hasOwnRandomness: true).divergence(1..<5))
    let expected = /seed 1: draw 17 of the network at day \d+ \d\d:\d\d:\d\d, event \d+: \d+ here, \d+ there/
    #expect(found.wholeMatch(of: expected) != nil, "\(found)")
  }

  @Test(arguments: ExploredStorage.allCases)
  func `without it nothing differs`(storage: ExploredStorage) throws {
    #expect(try check(storage, hasOwnRandomness: false).divergence(1..<5) == nil)
  }

  @Test(arguments: ExploredStorage.allCases)
  func `two processes live the same lives`(storage: ExploredStorage) throws {
    let result = try CommandResult(
      of: ["explore", "--check-determinism", "--seeds", "12", "--storage", storage.rawValue])
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(result.output == "12 seeds are the same run in two processes\n")
  }

  @Test func `who writes down what is drawn changes nothing of it`() throws {
    let exploration = Explorer(.swarm, .memory, jobs: 1).exploration
    let life = try exploration.live(11)
    let draws = try exploration.draws(of: 11)
    #expect(draws.count == life.draws)
    #expect(try exploration.live(11).hash == life.hash)
    // Each stream counts from 1, without a gap.
    for (_, stream) in Dictionary(grouping: draws, by: \.stream) {
      #expect(stream.map(\.number) == Array(1...stream.count))
    }
    #expect(
      Set(draws.map(\.stream)).isSuperset(of: ["knobs", "people", "network", "store", "app", "machine"]))
  }

  @Test func `a batch of lives takes about a second`() {
    #expect(DeterminismCheck.batch(behind: 16, after: 0.5) == 32)
    #expect(DeterminismCheck.batch(behind: 16, after: 0.001) == 64)
    #expect(DeterminismCheck.batch(behind: 16, after: 90) == 1)
    #expect(DeterminismCheck.batch(behind: 90_000, after: 0) == 100_000)
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

  @Test func `a difference is told as what was drawn, by whom, when`() {
    let same = draw(5, number: 42)
    let (here, there) = (draw(bits(7)), draw(bits(9)))
    #expect(
      DeterminismCheck.firstDifference([same, here, here], [same, there, here])
        == "draw 43 of the network at day 2 03:04:11, event 812: 7 here, 9 there")
    #expect(DeterminismCheck.firstDifference([same, here], [same, here]) == nil)
  }

  @Test func `bits that come to the same value are told as bits`() {
    let told = DeterminismCheck.firstDifference([draw(1)], [draw(2)])
    #expect(told?.hasSuffix(": 1 here, 2 there") == true)
  }

  @Test func `who draws at all may be the difference`() {
    let told = DeterminismCheck.firstDifference([draw(1)], [draw(1, "store", number: 2)])
    let rest = "at day 2 03:04:11, event 812"
    #expect(told == "draw 43 of the network \(rest) here, draw 2 of the store \(rest) there")
    #expect(
      DeterminismCheck.firstDifference([draw(1), draw(2)], [draw(1)])?.hasSuffix(": only here") == true)
    #expect(DeterminismCheck.firstDifference([], [draw(1)])?.hasSuffix(": only there") == true)
  }

  @Test(arguments: ["machine 2", "network"], [nil, 1, 10] as [Int?])
  func `a draw is the same when it comes from the other process`(stream: String, bound: Int?) throws {
    let draw = draw(.max, stream, bound: bound)
    #expect(try Draw(line: draw.line) == draw)
    #expect(throws: ChildError.self) { try Draw(line: "1 2 3") }
    #expect(throws: ChildError.self) { try Draw(line: "1 2 3 4 x network") }
  }

  @Test func `so is what two runs are compared by`() throws {
    let print = Fingerprint(try Explorer(.calm, .memory, jobs: 1).exploration.live(3))
    #expect(try Fingerprint(line: print.line) == print)
    #expect(throws: ChildError.self) { try Fingerprint(line: "purchase-simulator: out of memory") }
  }
}
