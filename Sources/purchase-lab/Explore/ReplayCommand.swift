import CommandLineTools
import Exploration

/// `replay`: the trace of one run.
struct ReplayCommand {
  let options: ReplayOptions

  func execute() -> Int32 {
    Interruption.shared.watch()
    do {
      let input = try options.input.map { try InputFile.read($0) }
      let code = try options.choice.withFiles { choice in
        if options.why { return try WhyCommand(options: options, choice: choice).execute() }
        return try replay(input.map { choice.runner(of: $0) } ?? choice.runner())
      }
      return Interruption.shared.exitCode ?? code
    } catch let error as InputFileError {
      Terminal.complain("\(error)")
      return error.isThere ? ExitCode.badData : ExitCode.noInput
    } catch {
      if let code = Interruption.shared.exitCode { return code }
      Terminal.complain("the replay failed: \(error)")
      return ExitCode.internal
    }
  }

  private func replay(_ runner: any SimulationRunner) throws -> Int32 {
    runner.knobs(of: options.seed).lines.forEach(Terminal.line)
    let traced = try runner.trace(of: options.seed, keeping: options.keep, stopAt: options.stopAt ?? .max)
    for line in traced.lines where !Interruption.shared.isAsked { Terminal.line(line) }
    guard let violation = traced.result.violation else {
      if let stopAt = options.stopAt, traced.result.events < stopAt {
        Terminal.line("the run ends with event \(traced.result.events)")
      }
      Terminal.line("nothing was broken")
      return ExitCode.ok
    }
    Terminal.line(FailureScenario.sentence(violation))
    return ExitCode.promiseBroken
  }
}
