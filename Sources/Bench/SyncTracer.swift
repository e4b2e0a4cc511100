import Foundation

/// Counts the calls that sync, in a child process under strace.
struct SyncTracer {
  static let missing = "strace is not installed, or may not trace here"

  let strace: String
  let log: String
  let child: BenchChild
  /// The hidden command of the child.
  let hidden: String

  /// Nil if there is no strace, or if one process may not trace another, as in some containers.
  static func find(_ workbench: Workbench, command hidden: String) throws -> SyncTracer? {
    guard let strace = BenchChild.find("strace") else { return nil }
    let tracer = SyncTracer(
      strace: strace, log: workbench.path + "/strace.log", child: workbench.child, hidden: hidden)
    let idle = tracer.command + [workbench.child.executable, "bench-load", "idle"]
    return try workbench.child.run(idle).status == 0 ? tracer : nil
  }

  /// What makes each sync of a child last so much longer. Other calls run at their own speed.
  func delaying(microseconds: Int) -> [String] {
    let calls = "fsync,fdatasync"
    return [
      strace, "-f", "--seccomp-bpf", "-qq", "-e", "trace=\(calls)", "-e",
      "inject=\(calls):delay_exit=\(microseconds)", "-o", log,
    ]
  }

  private var command: [String] { [strace, "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", log] }

  func trace(_ arguments: [String]) throws -> [SyncCall] {
    try child.load(arguments, command: hidden, under: command)
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
