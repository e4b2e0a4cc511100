import CommandTestSupport
import Foundation
import ScenarioFormat
import TestSupport
import Testing

@testable import purchase_simulator

/// Scenario files: those that users write, and the built-in scenarios as files.
@Suite struct ScenarioFileTests {
  @Test(arguments: (Scenario.all + Scenario.matrix).map(\.name))
  func `a built-in scenario is the same when it is read from its file`(name: String) throws {
    let scenario = try #require((Scenario.all + Scenario.matrix).first { $0.name == name })
    let text = try ScenarioFile.text(of: scenario)
    #expect(try ScenarioFile.scenario(in: text) == scenario)
    // A text of JSON has no line breaks.
    let isLong = { (line: Substring) in line.contains("\"description\"") || line.contains("\"body\"") }
    for line in text.split(separator: "\n") where !isLong(line) {
      #expect(line.count <= 120, "\(line)")
    }
  }

  @Test func `every scenario has a description and a name of its own`() {
    #expect(Set(Scenario.all.map(\.name)).count == Scenario.all.count)
    for scenario in Scenario.all {
      #expect(!scenario.description.isEmpty && !scenario.attacks.isEmpty && !scenario.proves.isEmpty)
      #expect(scenario.name.count <= 31 && scenario.summary.count <= 78, "\(scenario.name)")
      for proof in scenario.proves {
        #expect(proof.wholeMatch(of: /R\d\.\d+|invariant \d+/) != nil, "\(proof)")
      }
    }
  }

  @Test(arguments: [
    (#"{"name": "x", "launches": [{}], "colour": 1}"#, "line 1: colour: is not known here"),
    (
      "{\n\"name\": \"x\",\n\"lanches\": []}",
      "\"launches\" is missing: a list of launches of the app, of one at least; is it 'lanches'?"
    ),
    (
      "{\"name\": \"x\",\n \"launches\": [\n  {\"does\": [\n   {\"do\": \"by\"}]}]}",
      "line 4: launches[0].does[0].do:"
    ),
    ("{\"name\": \"x\",\n \"launches\": {}}", "line 2: launches: expected a list, not an object"),
    (#"{"name": 7, "launches": [{}]}"#, "name: expected a text that is not empty, not a whole number"),
    (#"{"launches": [{}]}"#, "\"name\" is missing: a text"),
    (#"{"name": "x"}"#, "\"launches\" is missing"),
    (#"{"name": "x", "launches": [{"does": [{"do": "use"}]}]}"#, "\"milliseconds\" is missing"),
    (
      #"{"name": "x", "launches": [{"does": [{"do": "use", "milliseconds": -1}]}]}"#,
      "from 0 to 60000, not -1"
    ),
    (
      #"{"name": "x", "launches": [{"does": [{"do": "use", "milliseconds": 1.5}]}]}"#,
      "a number with a fraction"
    ),
    (
      #"{"name": "x", "launches": [{"before": [{"happens": "wait", "days": 1, "hours": 2}]}]}"#,
      "one unit of time, not two"
    ),
    (
      #"{"name": "x", "launches": [{"before": [{"happens": "wait", "days": 99999}]}]}"#,
      "before[0].days: expected"
    ),
    (#"{"name": "x", "launches": [{"before": [{"happens": "wait"}]}]}"#, "a time is missing"),
    (
      #"{"name": "x", "launches": [{"does": [{"do": "buyWithoutOrder", "product": "gem.100"}]}]}"#,
      "did you mean 'gems.100'?"
    ),
    (#"{"name": "x", "launches": [{"killed": "after lunch"}]}"#, "\"after lunch\" is not known"),
    (
      #"{"name": "x", "launches": [{"before": [{"happens": "faults", "rules": [{"path": "/", "fault": "rest"}]}]}]}"#,
      "rules[0].fault: there is no such fault"
    ),
    (
      #"{"name": "x", "launches": [{"before": [{"happens": "delivery", "proofs": ["paper"]}]}]}"#,
      "\"paper\" is not known"
    ),
    (
      #"{"name": "x", "launches": [{}], "expects": {"verdicts": {"refunded": "two"}}}"#,
      "expects.verdicts.refunded: expected a whole number"
    ),
    (#"{"name": "x", "launches": [{"isVaultLocked": "yes"}]}"#, "expected true or false, not a text"),
    (#"{"name": "../x", "launches": [{}]}"#, "line 1: name: expected 1 to 64 small letters"),
    (
      #"{"name": "x", "launches": [{"before": [{"happens": "backendRestored"}]}]}"#,
      "nothing was backed up before"
    ),
    (#"[1, 2]"#, "line 1: the scenario: expected an object, not a list"),
    ("{\"name\": \"x\",", "this is no JSON"),
  ])
  func `an error in a file has the line, the path and what was expected`(
    text: String, message: String
  ) {
    let error = #expect(throws: ScenarioFileError.self) { try ScenarioFile.scenario(in: text) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func `a file of rubbish is bad data, and a missing one cannot be read`() throws {
    let rubbish = try CommandResult(of: ["run", "-"], input: Data([0xFF, 0x00, 0x7B]))
    #expect(rubbish.status == 65 && rubbish.errors.contains("no JSON"))
    #expect(try CommandResult(of: ["run", "/no/such/file.json"]).status == 66)
    #expect(try CommandResult(of: ["run"]).status == 64)
  }

  @Test func `files and names can be mixed, and a name has one meaning`() throws {
    try TemporaryDirectory.with("Scenarios") { directory in
      let files = ["mine", "other"].map { directory + "/\($0).json" }
      for (name, path) in zip(["mine", "purchase"], files) {
        try Data(#"{"name": "\#(name)", "launches": [{}]}"#.utf8).write(to: URL(fileURLWithPath: path))
      }
      let mixed = try CommandResult(of: ["run", "purchase", files[0], "--json"])
      #expect(mixed.status == 0 && mixed.output.split(separator: "\n").count == 2, "\(mixed.errors)")
      let both = try CommandResult(of: ["run", "purchase", files[1]])
      #expect(both.status == 65 && both.errors.contains("two different scenarios named 'purchase'"))
    }
  }

  @Test func `a missed expectation breaks the promise`() throws {
    let scenario =
      #"{"name": "mine", "launches": [{"does": [{"do": "buy", "product": "gems.100", "account": "alice"}]}], "expects": {"paid": 2}}"#
    let result = try CommandResult(of: ["run", "-"], input: Data(scenario.utf8))
    #expect(result.status == 1)
    #expect(result.output.contains("paid 1, not 2"))
  }

  @Test func `a kill that is not met breaks the promise`() throws {
    let scenario = #"{"name": "mine", "launches": [{"killed": "beforeFinish"}]}"#
    let result = try CommandResult(of: ["run", "-"], input: Data(scenario.utf8))
    #expect(result.status == 1 && result.output.contains("the kill at beforeFinish was not met"))
    #expect(
      try CommandResult(of: ["crash-matrix", "--cell", "update/schema.created:9/relaunch"]).status == 1)
  }

  @Test(arguments: ["reinstall", "clock-jump", "refund-before-upload"])
  func `a built-in scenario ends the same when it is played from its file`(name: String) throws {
    struct Row: Decodable, Equatable {
      var scenario: String
      var paid: Int
      var granted: Int
      var lost: Int
      var stuck: Int
    }
    let shown = try CommandResult(of: ["scenarios", "--show", name])
    let played = try CommandResult(of: ["run", "-", "--json"], input: Data(shown.output.utf8))
    let run = try CommandResult(of: ["run", name, "--json"])
    #expect(played.status == 0 && run.status == 0)
    let rows = try [played, run].map { try JSONDecoder().decode(Row.self, from: Data($0.output.utf8)) }
    #expect(rows[0] == rows[1])
  }

  @Test func `the man in the middle takes the purchase where the engine verifies nothing`() throws {
    let shown = try CommandResult(of: ["scenarios", "--show", "man-in-the-middle"]).output
    let verified = try CommandResult(of: ["run", "-"], input: Data(shown.utf8))
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    let flag = "\"signsReplies\": true"
    try #require(shown.contains(flag), "\(shown)")
    let open = shown.replacing(flag, with: "\"signsReplies\": false")
      .replacing("\"man-in-the-middle\"", with: "\"believes-everyone\"")
    let believed = try CommandResult(of: ["run", "-", "--json"], input: Data(open.utf8))
    #expect(believed.status == 1 && believed.output.contains("\"lost\":1"), "\(believed.output)")
  }
}
