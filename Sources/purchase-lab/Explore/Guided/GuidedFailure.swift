import CommandLineTools
import Exploration
import Foundation

/// A failing run of a guided search made small: its trace, and the input as a file that `replay --input` repeats.
struct GuidedFailure {
  let number: Int
  let input: MachineInput
  let violation: Violation
  let trace: [String]
  let path: String
  private let choice: SimulationChoice
  private let runs: Int

  /// The end of a trace matters; this much of it is shown.
  private static let lines = 60

  /// - Parameter folder: Where the file goes.
  init(_ choice: SimulationChoice, _ broken: GuidedExplorer.Broken, below folder: String) throws {
    self.choice = choice
    number = broken.number
    let whole = broken.plan.input ?? MachineInput(seed: broken.plan.seed, profile: choice.profile)
    let shrinking = try Shrinking(choice.runner(of: whole), seed: whole.seed, broken.violation)
    runs = shrinking.runs
    var small = whole.keeping(shrinking.places)
    var traced = try choice.runner(of: small).trace(of: small.seed)
    if traced.result.violation?.invariant != broken.violation.invariant {
      // An act without its purchase was left, and matters. The whole input breaks the invariant in any case.
      small = whole
      traced = try choice.runner(of: small).trace(of: small.seed)
    }
    input = small
    violation = traced.result.violation ?? shrinking.violation
    trace = traced.lines.suffix(Self.lines)
    let text = try small.text(about: FailureScenario.sentence(violation))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    path = folder + "/" + InputFile.name("failing", text)
    try InputFile.write(text, to: path)
  }

  var replay: String {
    let words =
      (choice.storage == .memory ? [] : ["--storage", choice.storage.rawValue])
      + (choice.checksProtocol ? ["--specification"] : []) + (choice.bug.map { ["--plant", $0] } ?? [])
    return TypedCommand.line(["replay", "--input", TypedCommand.path(path)] + words, of: .lab)
  }

  var lines: [String] {
    [
      "",
      "run \(number), shrunk to \(Counted.text(input.acts.count, "act")) in \(Counted.text(runs, "run")):",
    ] + trace + [FailureScenario.sentence(violation), "written to \(path)", replay]
  }
}
