import Foundation

/// `crash-images`: what any crash in a workload could leave on the disk, recovered and checked, in worker processes.
struct CrashImagesCommand {
  let options: CrashImagesOptions

  /// Workloads that lose a commit wherever commits are not made durable.
  private static let controls = ["enqueue", "settle", "attempt", "enqueue,settle"]

  func execute() async -> Int32 {
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
    let controls = ImageDiscipline.allCases.filter { $0 != .production }
    return names + controls.flatMap { control in Self.controls.map { control.rawValue + ":" + $0 } }
  }
}

/// So many workers at once, each with the next few workloads.
struct CrashImagesPool {
  let options: CrashImagesOptions

  /// The answers in the order of the names; nil if a worker failed.
  func run(_ names: [String]) -> [CrashImagesWorker.Line]? {
    let jobs = options.jobs ?? ProcessInfo.processInfo.activeProcessorCount
    let size = max(1, min(16, names.count / (jobs * 4)))
    let shares = stride(from: 0, to: names.count, by: size).map {
      Array(names[$0..<min($0 + size, names.count)])
    }
    let work = SharedWork(shares)
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      while let (index, share) = work.next() {
        do {
          work.end(index, try answers(for: share))
        } catch {
          if !Interruption.shared.isAsked { Terminal.error("purchase-simulator: a worker failed: \(error)") }
          work.end(index, nil)
        }
      }
    }
    return work.results()
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

/// Shares of the work, handed out one by one.
private final class SharedWork: Sendable {
  private let shares: [[String]]
  private let lock = NSLock()
  private nonisolated(unsafe) var handedOut = 0
  private nonisolated(unsafe) var answers: [Int: [CrashImagesWorker.Line]] = [:]
  private nonisolated(unsafe) var hasFailed = false

  init(_ shares: [[String]]) { self.shares = shares }

  func next() -> (Int, [String])? {
    lock.lock()
    defer { lock.unlock() }
    guard unsafe !hasFailed, unsafe handedOut < shares.count else { return nil }
    defer { unsafe handedOut += 1 }
    return unsafe (handedOut, shares[handedOut])
  }

  func end(_ index: Int, _ lines: [CrashImagesWorker.Line]?) {
    lock.lock()
    defer { lock.unlock() }
    unsafe answers[index] = lines
    if lines == nil { unsafe hasFailed = true }
  }

  func results() -> [CrashImagesWorker.Line]? {
    lock.lock()
    defer { lock.unlock() }
    guard unsafe !hasFailed else { return nil }
    return shares.indices.flatMap { unsafe answers[$0] ?? [] }
  }
}
