import Foundation

/// Bar 1: the number of sync calls, counted by strace.
enum SyncBars {
  private static let titles = [
    "syncs per enqueue commit", "syncs per ack commit", "syncs of the directory when the file is made",
    "syncs per enqueue with a directory vault", "syncs per ack with a directory vault",
  ]
  private static let bounds: [Bar.Bound] = [
    .atMost(1.02), .atMost(1.02), .atLeast(1), .atMost(2.5), .atMost(1.02),
  ]

  static func section(_ workbench: Workbench) throws -> BenchSection {
    var section = BenchSection(title: "system calls that sync, \(BenchPlan.tracedOperations) operations")
    guard let strace = BenchChild.find("strace") else {
      section.bars = notMeasured("strace is not installed")
      return section
    }
    section.bars = try workbench.scratch { directory in
      let tracer = Tracer(strace: strace, log: directory + "/strace.log", child: workbench.child)
      // A container may forbid one process to trace another.
      let idle = tracer.command + [workbench.child.executable, "bench-load", "idle"]
      guard try workbench.child.run(idle).status == 0 else {
        return notMeasured("strace may not trace here")
      }
      return try measure(tracer, directory)
    }
    return section
  }

  private static func measure(_ tracer: Tracer, _ directory: String) throws -> [Bar] {
    let path = directory + "/queue.sqlite"
    let creation = try tracer.trace(["enqueue", "--path", path])
    let count = BenchPlan.tracedOperations
    try tracer.child.load(["enqueue", "--path", path, "--length", "\(BenchPlan.length)"])
    let enqueue = try tracer.syncs(of: "enqueue", count, path)
    let acknowledge = try tracer.syncs(of: "acknowledge", count, path)
    let vault = ["--vault", directory + "/vault"]
    let mirrored = directory + "/mirrored.sqlite"
    try tracer.child.load(["enqueue", "--path", mirrored, "--length", "\(BenchPlan.length)"] + vault)
    let measured = [
      enqueue, acknowledge, Double(creation.count { $0.path == directory }),
      try tracer.syncs(of: "enqueue", BenchPlan.mirroredOperations, mirrored, vault),
      try tracer.syncs(of: "acknowledge", BenchPlan.mirroredOperations, mirrored, vault),
    ]
    return titles.indices.map {
      Bar(number: 1, what: titles[$0], unit: .count, measured: measured[$0], bound: bounds[$0])
    }
  }

  private static func notMeasured(_ reason: String) -> [Bar] {
    zip(titles, bounds).map {
      Bar(number: 1, what: $0, unit: .count, bound: $1, reason: reason)
    }
  }

  private struct Tracer {
    var strace: String
    var log: String
    var child: BenchChild

    var command: [String] { [strace, "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", log] }

    func trace(_ arguments: [String]) throws -> [SyncCall] {
      try child.load(arguments, under: command)
      return SyncCall.parse(try String(contentsOfFile: log, encoding: .utf8))
    }

    /// Per operation, without the calls of the same process when it does nothing.
    func syncs(
      of work: String, _ count: Int, _ path: String, _ options: [String] = []
    ) throws -> Double {
      let nothing = try trace([work, "--path", path, "--count", "0"] + options).count
      let all = try trace([work, "--path", path, "--count", "\(count)"] + options).count
      return Double(all - nothing) / Double(count)
    }
  }
}

/// One line of strace: `1234 fdatasync(5</tmp/queue.sqlite-wal>) = 0`.
struct SyncCall: Equatable {
  var name: String
  var path: String

  /// A call that another thread interrupted has two lines; only the first names the file.
  static func parse(_ log: String) -> [SyncCall] {
    log.split(separator: "\n").compactMap { line in
      guard let parenthesis = line.firstIndex(of: "("), !line.contains(" resumed>") else { return nil }
      let name = line[..<parenthesis].split(separator: " ").last.map(String.init) ?? ""
      guard ["fsync", "fdatasync"].contains(name), let open = line[parenthesis...].firstIndex(of: "<") else {
        return nil
      }
      let path = line[line.index(after: open)...].prefix { $0 != ">" }
      return SyncCall(name: name, path: String(path))
    }
  }
}
