import Foundation

/// `run`: one row per scenario and client, and a summary.
struct RunCommand {
  let options: RunOptions

  func execute() async -> Int32 {
    var scores: [Score] = []
    if !options.json {
      if options.client == .engine { Terminal.line("retry delays run at 1/1000 of their time") }
      Terminal.line(Table.header)
    }
    for scenario in options.scenarios {
      do {
        let score = try run(scenario)
        scores.append(score)
        Terminal.line(options.json ? try Table.json(score) : Table.row(score))
      } catch {
        Terminal.error("purchase-simulator: \(scenario.name) could not be run: \(error)")
        return ExitCode.internal
      }
    }
    if !options.json {
      Terminal.line(Table.summary(scores))
      tellWhereFilesAre()
    }
    let judged = scores.filter { $0.client == Client.engine.rawValue }
    return judged.allSatisfy(\.isClean) ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func run(_ scenario: Scenario) throws -> Score {
    let directory: String
    if let keep = options.keep {
      // A run starts on a new phone: files of an earlier one would be an earlier life.
      directory = self.directory(of: scenario, below: keep)
      if FileManager.default.fileExists(atPath: directory) {
        try FileManager.default.removeItem(atPath: directory)
      }
    } else {
      directory = FileManager.default.temporaryDirectory.path + "/purchase-simulator-" + UUID().uuidString
    }
    let device = try ScenarioRun.Device(below: directory)
    let result = Result {
      try ScenarioRun(
        scenario: scenario, client: options.client, seed: options.seed, chaos: options.chaos, device: device
      ).run()
    }
    if options.keep == nil { remove(directory) }
    return try result.get()
  }

  private func directory(of scenario: Scenario, below keep: String) -> String {
    keep + "/" + scenario.name + "-" + options.client.rawValue
  }

  private func tellWhereFilesAre() {
    guard let keep = options.keep else { return }
    Terminal.line("kept below \(keep); a queue is shown by: purchase-simulator inspect FILE")
    for scenario in options.scenarios {
      let path = ScenarioRun.Device.queue(in: directory(of: scenario, below: keep) + "/container")
      if FileManager.default.fileExists(atPath: path) { Terminal.line("  \(path)") }
    }
  }

  /// The world's connection removes its own log while it closes, on another thread: a file that has gone in the
  /// meantime is no failure. What cannot be removed is left to the system's temporary directory.
  private func remove(_ directory: String) {
    for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch CocoaError.fileNoSuchFile {
        continue
      } catch {
        Terminal.error("purchase-simulator: \(directory) could not be removed: \(error.localizedDescription)")
        return
      }
    }
  }
}
