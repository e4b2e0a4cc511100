import CommandLineTools
import Exploration
import Foundation

/// Has a child process run the simulation. One thread uses it.
final class ChildRunner: SimulationRunner {
  private let choice: SimulationChoice
  private let program: String
  private var child: Child?

  /// - Parameter program: This program; tests name another file.
  init(_ choice: SimulationChoice, program: String = ChildProcess.executable.path) {
    (self.choice, self.program) = (choice, program)
  }

  deinit { child?.release() }

  var catalogue: SimulationCatalogue { choice.catalogue }

  func run(_ seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> RunResult {
    try begin(.init(seed: seed, places: places, last: last))
    return try finishRun(seed)
  }

  func trace(of seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> TracedRun {
    try begin(.init(task: .trace, seed: seed, places: places, last: last))
    switch try answer() {
    case .answer(let answer): return try Self.present(answer.traced)
    case .died(let complaint): return TracedRun(result: Self.died(seed, complaint), lines: [])
    }
  }

  func draws(of seed: UInt64) throws -> [Draw] {
    try begin(.init(task: .draws, seed: seed))
    guard case .answer(let answer) = try answer() else { throw ChildError(description: "a worker died") }
    return try Self.present(answer.draws)
  }

  func acts(of seed: UInt64) -> [PlannedAct] {
    choice.isEngine ? EngineRunner.acts(of: seed, choice.profile) : choice.ownRunner().acts(of: seed)
  }

  func knobs(of seed: UInt64) -> KnobDescription {
    choice.isEngine ? EngineRunner.knobs(of: seed, choice.profile) : choice.ownRunner().knobs(of: seed)
  }

  // MARK: The child

  /// The child works on the request while the caller does something else.
  func begin(_ request: ExploreWorker.Request) throws {
    try Interruption.shared.check()
    if child == nil { child = try Child([program, "explore-worker"] + arguments) }
    try child?.write(try JSONOutput.line(request))
  }

  /// The run that was begun last.
  func finishRun(_ seed: UInt64) throws -> RunResult {
    switch try answer() {
    case .answer(let answer): return try Self.present(answer.run)
    case .died(let complaint): return Self.died(seed, complaint)
    }
  }

  private var arguments: [String] {
    choice.words + (choice.directory.isEmpty ? [] : ["--directory", choice.directory])
      + (choice.hasOwnRandomness ? ["--own-randomness"] : [])
  }

  private enum Reply {
    case answer(ExploreWorker.Answer)
    case died(String)
  }

  private func answer() throws -> Reply {
    guard let child else { throw ChildError(description: "there is no worker") }
    if let line = child.line() {
      let answer = try JSONDecoder().decode(ExploreWorker.Answer.self, from: line)
      if let error = answer.error { throw ChildError(description: error) }
      return .answer(answer)
    }
    self.child = nil
    return .died(try child.complaint())
  }

  private static func present<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw ChildError(description: "a worker gave another answer") }
    return value
  }

  /// A process that crashes in a run breaks a promise as well.
  private static func died(_ seed: UInt64, _ complaint: String) -> RunResult {
    let violation = Violation(
      invariant: "S8", sentence: "no run ends its process",
      what: "the process died: \(complaint.prefix(300))",
      event: .max, at: .max)
    return RunResult(
      seed: seed, violation: violation, events: 0, draws: 0, hash: 0, exercised: [], marks: [],
      figures: DeliveryFigures())
  }
}

/// A process that answers each line with a line.
private final class Child {
  private let process = Process()
  private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
  private var rest = Data()

  init(_ command: [String]) throws {
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
    try process.begin()
    Children.shared.add(process)
  }

  func write(_ line: String) throws {
    do {
      try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    } catch {
      // The process has died. The missing answer reports that.
      return
    }
  }

  /// The next line; nil if the process has ended before.
  func line() -> Data? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Data(rest[..<end])
        rest = Data(rest[(end + 1)...])
        return line
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      rest += data
    }
  }

  /// How it died; throws if it did not die by itself.
  func complaint() throws -> String {
    let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    process.waitUntilExit()
    Children.shared.remove(process)
    try Interruption.shared.check()
    let (status, isSignal) = (process.terminationStatus, process.terminationReason == .uncaughtSignal)
    if isSignal, [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(status) {
      throw ChildError(description: "a worker was ended from outside (signal \(status))")
    }
    guard isSignal || ![ExitCode.ok, ExitCode.internal, ExitCode.usage].contains(status) else {
      throw ChildError(description: told.isEmpty ? "a worker ended early" : told)
    }
    return told
  }

  /// Ends it. It waits for a request and has no file open.
  func release() {
    process.kill()
    process.waitUntilExit()
    Children.shared.remove(process)
  }
}
