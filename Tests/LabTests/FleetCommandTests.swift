import CommandLineTools
import Fleet
import Foundation
import Testing

@testable import purchase_lab

/// `fleet` as a command.
@Suite struct FleetCommandTests {
  @Test(arguments: [
    (["--capacity", "0"], "--capacity 2000"),
    (["--devices", "0"], "--devices 2000"),
    (["--devices", "many"], "--devices 2000"),
    (["--outage", "4"], "--outage 4s"),
    (["--outage", "4x"], "--outage 4h"),
    (["--outage", "4h", "--horizon", "2h"], "--horizon 12h"),
    (["--horizon", "90d"], "--horizon 40d"),
    (["--whole", "--devices", "200000"], "--devices 10000"),
    (["--retry-after", "-1s"], "--retry-after 4h"),
  ])
  func `a wrong number is refused with a line that works`(arguments: [String], works: String) throws {
    let refused = Command.parse(["fleet"] + arguments)
    guard case .failure(let error) = refused else {
      Issue.record("\(arguments) was taken")
      return
    }
    #expect(error.message.contains("this works: \(works)"), "\(error.message)")
    let line = works.split(separator: " ").map(String.init)
    let replaced = arguments.enumerated().filter { index, _ in
      arguments[index] != line[0] && (index == 0 || arguments[index - 1] != line[0])
    }.map(\.element)
    guard case .success = Command.parse(["fleet"] + replaced + line) else {
      Issue.record("\(replaced + line) does not work")
      return
    }
  }

  @Test(arguments: [
    ["--policy", "engin"], ["--clocks", "alinged"], ["--fault", "halve"], ["--foreground", "pushh"],
  ])
  func `a misspelled name is refused with a suggestion`(arguments: [String]) throws {
    guard case .failure(let error) = Command.parse(["fleet"] + arguments) else {
      Issue.record("\(arguments) was taken")
      return
    }
    #expect(error.message.contains("did you mean"))
  }

  @Test func `JSON has the documented fields`() throws {
    var scenario = FleetScenario()
    // Too short for a purchase to be delivered, so that the times are missing.
    (scenario.devices, scenario.outage, scenario.horizon) = (100, 60, 61)
    let result = FleetPolicyName.engine.run(scenario).result("engine", wallSeconds: 0.5)
    let object = try JSONSerialization.jsonObject(with: Data(JSONOutput.line(result).utf8))
    let fields = Set((object as? [String: Any] ?? [:]).keys)
    #expect(
      fields.isSuperset(of: [
        "policy", "peakOverCapacity", "amplification", "drains", "secondsTo50", "secondsTo90", "secondsTo99",
        "secondsTo100", "newServedWithinMinute", "wallSeconds", "bytesPerDevice",
      ]))
  }

  @Test func `a line of the table is no wider than a terminal`() {
    let results = FleetPolicyName.allCases.map { name in
      var result = FleetResult()
      (result.policy, result.peakOverCapacity, result.amplification) = (name.rawValue, 166.19, 90.68)
      (result.secondsTo50, result.wasted, result.wallSeconds) = (20_580, 314_799_685, 37.9)
      return result
    }
    for line in FleetTable.lines(results).prefix(results.count + 1) { #expect(line.count <= 100, "\(line)") }
  }
}
