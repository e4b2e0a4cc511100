import CommandLineTools
import Foundation
import ScenarioFormat
import Testing

@testable import purchase_simulator

@Suite struct CommandTests {
  private func message(_ arguments: [String]) -> String? {
    guard case .failure(let error) = Command.parse(arguments) else { return nil }
    return error.message
  }

  @Test(arguments: [
    (["rnu"], "did you mean 'run'?"),
    (["run"], "needs the name of a scenario, a FILE.json, or --all"),
    (["run", "reply-lots"], "did you mean 'reply-lost'?"),
    (["run", "--al"], "did you mean '--all'?"),
    (["run", "--all", "--seed"], "--seed needs a value"),
    (["run", "--all", "--seed", "-3"], "whole number"),
    (["run", "--all", "--client", "engin"], "did you mean 'engine'?"),
    (["scenarios", "--lng"], "did you mean '--long'?"),
    (["app", "--nonsense"], "no option '--nonsense'"),
  ])
  func `the answer to wrong usage says what to type instead`(arguments: [String], part: String) {
    let message = message(arguments)
    #expect(message?.contains(part) == true, "\(message ?? "accepted")")
  }

  @Test func `all options arrive`() throws {
    let words = [
      "run", "--all", "--client", "fire-and-forget", "--seed", "7", "--chaos", "--json", "--keep", "/x",
    ]
    guard case .success(.run(let options)) = Command.parse(words) else {
      Issue.record("not parsed")
      return
    }
    #expect(options.scenarios == Scenario.all.map(ScenarioSource.builtIn))
    #expect(options.client == .fireAndForget)
    #expect(options.settings.seed == 7)
    #expect(options.chaos && options.settings.json)
    #expect(options.settings.keep == "/x")
  }
}
