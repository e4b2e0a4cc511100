import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_simulator

/// Runs of real processes, judged by the specification of the protocol.
@Suite struct SpecifiedProcessTests {
  private struct Row: Decodable {
    var verdict: String
    var steps: Int
    var refusal: String?
  }

  /// CI gives all of them to the specification, with kills at moments that follow from the commit.
  private static let scenarios = [
    "purchase", "crash-after-enqueue", "reinstall", "extension-and-app", "old-backup-restored",
  ]

  private func rows(_ output: String) throws -> [Row] {
    try output.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
  }

  @Test func `each step of the processes of a scenario is one that the protocol allows`() throws {
    let result = try CommandResult(of: ["run", "--specification", "--json"] + Self.scenarios)
    #expect(result.status == 0, "\(result.output.suffix(2_000))\(result.errors)")
    for row in try rows(result.output) { #expect(row.steps > 5 && row.refusal == nil, "\(row)") }
  }

  @Test(arguments: ["purchases/backend.writing:1/relaunch", "restored/vault.restored:1/old-image"])
  func `each step of the processes of a cell is one that the protocol allows`(cell: String) throws {
    let result = try CommandResult(of: ["crash-matrix", "--cell", cell, "--specification"])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("specification: 1 of 1 accepted, "))
  }

  @Test func `a trace of real processes is refused where its lines are out of order, missing or doubled`()
    throws
  {
    try TemporaryDirectory.with("Trace") { directory in
      let result = try CommandResult(of: ["run", "purchase", "--specification", "--keep", directory])
      #expect(result.status == 0, "\(result.output)\(result.errors)")
      let path = directory + "/purchase-engine/trace.jsonl"
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
      #expect(StepJudge.judge(lines).refusal == nil)
      let finishes = try #require(lines.firstIndex { $0.contains(#""finishes""#) })
      let settles = try #require(
        lines.firstIndex { $0.contains(#""granted""#) && $0.contains(#""committed""#) })
      var early = lines
      early.insert(early.remove(at: finishes), at: settles)
      #expect(StepJudge.judge(early).refusal?.contains("device 1 finishes 1. Refused: ") == true)
      for (name, rule) in [
        ("sends", "was not sent"), ("hears", "has received"), ("paid", "only what was paid"),
        ("credited", "follows it"), ("answers", "only answers of the backend"),
        ("arrives", "has handed to it"),
      ] {
        let without = lines.filter { !$0.contains(#""event":{"\#(name)":"#) }
        #expect(without.count < lines.count, "\(name)")
        let words = StepJudge.judge(without).refusal ?? "accepted"
        #expect(words.contains(rule), "without \(name): \(words)")
      }
    }
  }

  // Only a listing after a kill shows the first. A kill could fall between a commit of the others and its line in the
  // trace, and then another rule refuses the run.
  @Test(arguments: [
    (AppBug.finishesListed, "crash-after-enqueue", "settled, and durable as such"),
    (.answersItself, "purchase", "that the device has received"),
    (.sendsAsAnother, "purchase", "in the name of the lane"),
    (.sendsTwice, "purchase", "one request in flight"),
  ])
  func `a bug of the protocol in a real process is refused in words`(
    bug: AppBug, scenario: String, words: String
  ) throws {
    let result = try CommandResult(of: ["run", scenario, "--specification", "--plant", bug.rawValue])
    #expect(result.status == 1, "\(result.output)\(result.errors)")
    #expect(result.output.contains("specification: 0 of 1 accepted"))
    let line = try #require(result.output.split(separator: "\n").first { $0.contains("Refused: ") })
    #expect(line.contains(words), "\(line)")
  }

  @Test func `a planted bug without a specification is wrong usage, with a line that works`() throws {
    let result = try CommandResult(of: ["run", "purchase", "--plant", "sendsTwice"])
    #expect(result.status == 64 && result.errors.contains("run purchase --specification --plant sendsTwice"))
    #expect(try CommandResult(of: ["run", "purchase", "--specification", "--plant", "no"]).status == 64)
  }

  @Test func `a specification of another client's run is wrong usage, with a line that works`() throws {
    let result = try CommandResult(of: ["run", "--all", "--specification", "--client", "finish-first"])
    #expect(result.status == 64 && result.errors.contains("run --all --specification"))
  }
}
