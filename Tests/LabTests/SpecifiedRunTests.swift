import CommandLineTools
import CommandTestSupport
import Exploration
import Specification
import TestSupport
import Testing

@testable import purchase_lab

/// Runs of both simulations, judged by the specification of the protocol.
@Suite struct SpecifiedRunTests {
  @Test(arguments: SimulationProfile.allCases)
  func `each step of the machine's simulation is one that the protocol allows`(profile: SimulationProfile)
    throws
  {
    var choice = SimulationChoice()
    (choice.profile, choice.checksProtocol) = (profile, true)
    let runs = 4
    let sum = try Explorer(choice, jobs: 1).run(1..<UInt64(runs + 1))
    #expect(sum.broken.map { "seed \($0.seed): \($0.violation.what)" } == [])
  }

  @Test func `each step of the engine's simulation is one that the protocol allows`() throws {
    let result = try CommandResult(
      of: [
        "explore", "--engine", "--specification", "--seeds", "8",
        "--jobs", "2",
      ], by: .lab)
    #expect(result.status == 0, "\(result.output.suffix(2_000))\(result.errors)")
  }

  /// Each of them was once refused although it is right: the comment names the cause.
  @Test(arguments: [
    // A reply with two words about one claim: the first counts.
    12,
    // The record of a settled transaction was dropped while its `finish` was on the way.
    507_950,
  ])
  func `a run that was once refused is allowed`(seed: UInt64) throws {
    var choice = SimulationChoice()
    choice.checksProtocol = true
    #expect(try choice.ownRunner().run(seed).violation == nil)
  }

  @Test(arguments: ["captivePageIsGranted", "finishesBeforeCommit", "keysByInstallation"])
  func `a planted bug is refused in words`(bug: String) throws {
    let result = try CommandResult(of: ["explore", "--specification", "--plant", bug], by: .lab)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let rules = try #require(MachineBug(rawValue: bug)).rules
    let line = try #require(result.output.split(separator: "\n").first { $0.contains("Refused: ") })
    #expect(rules.contains { line.hasSuffix("Refused: \($0.rawValue)") }, "\(line)")
  }

  @Test(.enabled(if: LongTests.areOn), arguments: [[], ["--engine"]])
  func `every planted bug of the protocol is refused by a rule that it breaks`(words: [String]) throws {
    let result = try CommandResult(of: ["explore", "--specification", "--plant", "all"] + words, by: .lab)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
  }
}
