import CommandLineTools
import CommandTestSupport
import Exploration
import Testing

@testable import purchase_lab

/// `replay` of acts and events that a run does not have.
@Suite struct ReplayTests {
  /// How many acts a run of the profile `calm` has.
  private func acts(of seed: UInt64) -> Int {
    Explorer(.calm, .memory, jobs: 1).runner.acts(of: seed).count
  }

  @Test func `an act that the run does not have is wrong usage, and the message says how many it has`() throws
  {
    let count = acts(of: 5)
    for keep in ["0,\(count)", "9999,0", "-1"] {
      let result = try CommandResult(
        of: ["replay", "--keep", keep, "--seed", "5", "--profile", "calm"], by: .lab)
      #expect(result.status == 64 && result.output.isEmpty)
      let said = "in seed 5 of calm: it has \(count) acts, with the places 0 to \(count - 1)\n"
      #expect(result.errors.contains(said), "\(result.errors)")
    }
    let last = try CommandResult(
      of: ["replay", "--keep", "0,\(count - 1)", "--seed", "5", "--profile", "calm"], by: .lab)
    #expect(last.status == 0)
  }

  @Test(arguments: ["", "3,", "1,,2", "3,none"])
  func `a list of acts with a gap is wrong usage`(keep: String) {
    guard case .failure(let error) = ReplayOptions.parse(["--keep", keep]) else {
      Issue.record("accepted")
      return
    }
    #expect(error.message == "--keep needs places of acts such as 3,17, or none, not '\(keep)'")
  }

  @Test func `a run that ends before the given event says where it ends`() throws {
    let run = try Explorer(.calm, .memory, jobs: 1).runner.run(5)
    func told(_ last: Int) throws -> String {
      let result = try CommandResult(
        of: ["replay", "--seed", "5", "--profile", "calm", "--stop-at", String(last)], by: .lab)
      #expect(result.status == 0)
      return result.output
    }
    let end = "\nthe run ends with event \(run.events)\nnothing was broken\n"
    #expect(try told(run.events + 1).hasSuffix(end))
    #expect(try !told(run.events).contains("the run ends"))
    #expect(try !told(run.events - 1).contains("the run ends"))
  }
}
