import FaultInjection
import Testing

@testable import purchase_simulator

/// `replay`: what somebody asks of a life that it does not have.
@Suite struct ReplayTests {
  /// How many acts a life of the profile `calm` has.
  private func acts(of seed: UInt64) -> Int {
    Explorer(.calm, .memory, jobs: 1).exploration.acts(of: seed).count
  }

  @Test func `an act that a life does not have is wrong usage, and how many it has is said`() throws {
    let count = acts(of: 5)
    for keep in ["0,\(count)", "9999,0", "-1"] {
      let result = try CommandResult(of: ["replay", "--keep", keep, "--seed", "5", "--profile", "calm"])
      #expect(result.status == 64 && result.output.isEmpty)
      let said = "in seed 5 of calm: it has \(count) acts, with the places 0 to \(count - 1)\n"
      #expect(result.errors.contains(said), "\(result.errors)")
    }
    let last = try CommandResult(
      of: ["replay", "--keep", "0,\(count - 1)", "--seed", "5", "--profile", "calm"])
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

  @Test func `a life that is over before the event that was asked for says where it ends`() throws {
    let life = try Explorer(.calm, .memory, jobs: 1).exploration.live(5)
    func told(_ last: Int) throws -> String {
      let result = try CommandResult(
        of: ["replay", "--seed", "5", "--profile", "calm", "--stop-at", String(last)])
      #expect(result.status == 0)
      return result.output
    }
    let end = "\nthe life ends with event \(life.events)\nnothing was broken\n"
    #expect(try told(life.events + 1).hasSuffix(end))
    #expect(try !told(life.events).contains("the life ends"))
    #expect(try !told(life.events - 1).contains("the life ends"))
  }
}
