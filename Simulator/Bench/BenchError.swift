#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Why something could not be measured.
enum BenchError: Error, Equatable, CustomStringConvertible {
  /// A median of nothing, or a ratio to nothing.
  case noSamples(String)
  /// The log was cut or restarted between two operations: its growth says nothing.
  case logDidNotGrow(path: String, before: Int, after: Int)
  /// An enqueue did not add an entry, so its time is not that of an enqueue.
  case notInserted(String)
  /// There was nothing to acknowledge.
  case emptyQueue
  /// What was read is not what was written.
  case wrongPayload(expected: Int, found: Int)
  /// Two matchers disagree about one transaction: one of them is wrong, and their times say nothing.
  case differentMatches(transaction: String)
  /// A purchase has not come to its end.
  case unfinishedPurchases(told: Int, of: Int)
  /// There is no such row in the table of benches.
  case unknownBench(String)
  case sqlite(code: Int32, doing: String)
  case system(call: String, path: String, errno: Int32)
  /// An upload was not answered as it should be.
  case uploadFailed(String)
  case child(arguments: [String], status: Int32, complaint: String)

  /// The failure of the system call that has just been made.
  static func lastCall(_ call: String, _ path: String) -> BenchError {
    .system(call: call, path: path, errno: errno)
  }

  var description: String {
    switch self {
    case .noSamples(let what): "\(what): nothing was measured"
    case .logDidNotGrow(let path, let before, let after):
      "\(path) went from \(before) to \(after) bytes in one operation: a checkpoint came in between"
    case .notInserted(let result): "an enqueue did not insert: \(result)"
    case .emptyQueue: "there is nothing to acknowledge"
    case .wrongPayload(let expected, let found): "\(expected) bytes were queued, \(found) came back"
    case .differentMatches(let transaction): "transaction \(transaction) is matched in two ways"
    case .unfinishedPurchases(let told, let count): "the app was told \(told) outcomes of \(count) purchases"
    case .unknownBench(let name): "there is no bench \(name)"
    case .sqlite(let code, let doing): "SQLite error \(code) in: \(doing)"
    case .system(let call, let path, let number):
      "\(call) \(path): \(unsafe String(cString: strerror(number)))"
    case .uploadFailed(let what): "an upload failed: \(what)"
    case .child(let arguments, let status, let complaint):
      "\(arguments.joined(separator: " ")) ended with \(status): \(complaint)"
    }
  }
}
