import CommandLineTools
import Foundation
import PurchaseSQLite

/// `crash-images`: worker processes recover and check every disk that a crash in a workload could leave.
struct CrashImagesCommand {
  let options: CrashImagesOptions

  func execute() async -> Int32 {
    if options.isDamage { return DamageCommand(options: options).execute() }
    if let replay = options.replay { return ImageReplay(address: replay, seed: options.seed).execute() }
    Interruption.shared.watch()
    let begin = ContinuousClock.now
    let names = addresses()
    let results = CrashImagesPool(options: options).run(names)
    if let code = Interruption.shared.exitCode { return code }
    guard let lines = results else { return ExitCode.internal }
    let report = CrashImagesReport(
      lines: lines, wallClock: begin.duration(to: .now), seed: options.seed)
    if options.json { Terminal.json(report.document) } else { report.text().forEach(Terminal.line) }
    if let code = Interruption.shared.exitCode { return code }
    return report.holds ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func addresses() -> [String] {
    let names = options.workloads.map(\.name)
    guard options.only.isEmpty else { return names }
    return names
      + ImageDiscipline.allCases.flatMap { control in control.losing.map { control.rawValue + ":" + $0 } }
  }
}

/// Runs several workers at once, each with the next few workloads.
struct CrashImagesPool {
  let options: CrashImagesOptions

  /// The answers in the order of the names; nil if a worker failed.
  func run(_ names: [String]) -> [CrashImagesWorker.Line]? {
    let jobs = options.jobs ?? Jobs.usualWidth
    let size = max(1, min(16, names.count / (jobs * 4)))
    let shares = stride(from: 0, to: names.count, by: size).map {
      Array(names[$0..<min($0 + size, names.count)])
    }
    let (lines, hasFailed) = (Locked<[CrashImagesWorker.Line]>([]), Locked(false))
    Jobs.run(shares.count, width: jobs) { index -> [CrashImagesWorker.Line] in
      guard !hasFailed.value else { return [] }
      do {
        return try answers(for: shares[index])
      } catch {
        if !Interruption.shared.isAsked { Terminal.complain("a worker failed: \(error)") }
        hasFailed.withLock { $0 = true }
        return []
      }
    } inOrder: { _, share in
      lines.withLock { $0 += share }
    }
    return hasFailed.value ? nil : lines.value
  }

  private func answers(for names: [String]) throws -> [CrashImagesWorker.Line] {
    let result = try ChildOutput(
      of: ["crash-images-worker", "--seed", String(options.seed), "--cap", String(options.cap)]
        + (options.hasFaults ? [] : ["--no-faults"]), input: names.map { $0 + "\n" }.joined())
    let lines = result.lines
    guard result.status == 0, lines.count == names.count else {
      throw WorkerFailure(
        names: names, status: result.status, answered: lines.count, complaint: result.complaint)
    }
    return try lines.map { try JSONDecoder().decode(CrashImagesWorker.Line.self, from: Data($0.utf8)) }
  }

  private struct WorkerFailure: Error, CustomStringConvertible {
    var names: [String]
    var status: Int32
    var answered: Int
    var complaint: String

    var description: String {
      "it ended with \(status) in \(answered < names.count ? names[answered] : "its last workload"): \(complaint)"
    }
  }
}
