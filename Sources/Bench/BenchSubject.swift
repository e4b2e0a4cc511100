/// A durable list of payloads. When a call returns, its change is on the disk.
protocol BenchSubject: AnyObject {
  func enqueue(_ payload: [UInt8]) throws
  /// Reads the first payload, and removes it.
  func acknowledge() throws
  func close() throws
}

/// The implementations that are measured.
enum Subject: String, CaseIterable {
  case sqliteLoop = "SQLite C loop"
  case countedLoop = "loop with unique key and counts"
  case queue
  case append = "append + fdatasync"
  case jsonFile = "JSON file"
  case queueWithVault = "queue with vault"

  /// Opens a new one in an empty directory.
  func open(in directory: String) throws -> any BenchSubject {
    switch self {
    case .sqliteLoop: try SQLiteLoopSubject(path: directory + "/loop.sqlite")
    case .countedLoop: try SQLiteLoopSubject(path: directory + "/loop.sqlite", .counted)
    case .queue: try QueueSubject(path: directory + "/queue.sqlite")
    case .append: try AppendSubject(path: directory + "/log")
    case .jsonFile: JSONFileSubject(path: directory + "/queue.json")
    case .queueWithVault: try QueueSubject(path: directory + "/queue.sqlite", vault: directory + "/vault")
    }
  }

  /// A log cannot remove its first entry.
  var acknowledges: Bool { self != .append }

  /// The slow ones make fewer operations. The JSON file would also grow far beyond its length of 50.
  func operations(of plan: Int) -> Int {
    switch self {
    case .sqliteLoop, .countedLoop, .queue, .append: plan
    case .jsonFile: max(plan / 50, 5)
    case .queueWithVault: max(plan / 5, 5)
    }
  }
}
