#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Why something could not be measured.
enum BenchError: Error, Equatable, CustomStringConvertible {
  /// A median of nothing, or a ratio to nothing.
  case noSamples(String)
  /// The log was truncated or restarted between two operations, so its growth is no measure.
  case logDidNotGrow(path: String, before: Int, after: Int)
  /// An enqueue did not add an entry, so its time is not that of an enqueue.
  case notInserted(String)
  /// There was nothing to acknowledge.
  case emptyQueue
  /// The bytes that were read differ from those that were written.
  case wrongPayload(expected: Int, found: Int)
  /// Two matchers disagree about one transaction. One of them is wrong, so their times cannot be compared.
  case differentMatches(transaction: String)
  /// A purchase was not finished.
  case unfinishedPurchases(told: Int, of: Int)
  /// There is no bench of that name.
  case unknownBench(String)
  case sqlite(code: Int32, doing: String)
  case system(call: String, path: String, errno: Int32)
  /// An upload had the wrong answer.
  case uploadFailed(String)
  case child(arguments: [String], status: Int32, complaint: String)

  /// The error of the last system call.
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
