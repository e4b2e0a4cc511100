import FaultInjection
import Foundation

/// The sum of many shell worlds, lived by several processes.
struct ShellSum: Sendable {
  struct Failure: Sendable {
    var seed: UInt64
    var invariant: String
    var what: String
  }

  struct Hash: Sendable, Equatable {
    var seed: UInt64
    var hash: UInt64
  }

  var seeds = 0
  var jobs = 0
  var choices = 0
  var exercised = [Int](repeating: 0, count: ShellInvariant.allCases.count)
  var marks = [Int](repeating: 0, count: ShellMark.allCases.count)
  /// By seed.
  var failures: [Failure] = []
  var hashes: [Hash] = []

  /// Lives them, neighbouring seeds in different processes, which have their files in this directory.
  static func gathered(_ options: ShellOptions, in directory: String) throws -> ShellSum {
    let width = min(options.jobs, max(1, options.seeds))
    let parts = Parts()
    Jobs.run(width, width: width) { job in
      Result {
        try ChildOutput(of: arguments(options, job, of: width, in: directory))
      }
    } inOrder: { _, result in
      parts.add(result)
    }
    try Interruption.shared.check()
    return try parts.sum()
  }

  private static func arguments(
    _ options: ShellOptions, _ job: Int, of width: Int, in directory: String
  ) -> [String] {
    let count = (options.seeds - job + width - 1) / width
    var arguments = ["explore", "--shell", "--worker", directory, "--seeds", String(count)]
    arguments += ["--from", String(options.from + UInt64(job)), "--stride", String(width)]
    if let plant = options.plant { arguments += ["--plant", plant] }
    return arguments
  }

  private mutating func add(_ child: ChildOutput) throws {
    var begun: UInt64?
    for line in child.lines {
      guard line.hasPrefix("{") else {
        begun = UInt64(line.dropFirst(5))
        continue
      }
      begun = nil
      add(try JSONDecoder().decode(ShellWorker.Report.self, from: Data(line.utf8)))
    }
    guard child.status != 0 else { return }
    guard let begun, child.status != ExitCode.internal, !child.wasEnded else {
      throw ShellWorkerFailed(
        complaint: child.wasEnded ? "somebody ended a worker (signal \(child.status))" : child.complaint)
    }
    seeds += 1
    failures.append(
      Failure(
        seed: begun, invariant: "S8", what: "the process died: " + child.complaint.prefix(300)))
  }

  private mutating func add(_ report: ShellWorker.Report) {
    seeds += 1
    jobs += report.jobs
    choices += report.choices
    for place in exercised.indices { exercised[place] += report.exercised[place] }
    for place in marks.indices { marks[place] += report.marks[place] }
    hashes.append(Hash(seed: report.seed, hash: report.hash))
    guard let invariant = report.invariant else { return }
    failures.append(Failure(seed: report.seed, invariant: invariant, what: report.what ?? ""))
  }

  /// What the processes said.
  private final class Parts: @unchecked Sendable {
    private var children: [Result<ChildOutput, any Error>] = []

    func add(_ child: Result<ChildOutput, any Error>) { children.append(child) }

    func sum() throws -> ShellSum {
      var sum = ShellSum()
      for child in children { try sum.add(try child.get()) }
      sum.failures.sort { $0.seed < $1.seed }
      sum.hashes.sort { $0.seed < $1.seed }
      return sum
    }
  }
}

/// A process of an exploration could not do its work.
struct ShellWorkerFailed: Error, CustomStringConvertible {
  var complaint: String
  var description: String { complaint.isEmpty ? "a worker ended early" : complaint }
}
