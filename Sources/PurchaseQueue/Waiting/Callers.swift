import PurchaseSQLite

/// The callers that wait for one commit. Each has a deadline of its own.
struct Callers {
  /// The operation of one caller, and the function that takes the result to the caller.
  struct Caller {
    var run: QueueFile.Operation
    /// When the caller has waited long enough.
    var deadline: Int64
    var end: (QueueError?) -> Void
  }

  private var waiting: [Caller] = []

  /// How many callers share a commit at most.
  static let mostInACommit = 64

  var count: Int { waiting.count }
  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ caller: Caller) { waiting.append(caller) }

  /// The callers of the next commit, the longest waiting first.
  var next: [Caller] { Array(waiting.prefix(Self.mostInACommit)) }

  /// Removes the first callers, which were served.
  mutating func removeFirst(_ count: Int) { waiting.removeFirst(count) }

  /// Removes and returns the callers that have waited long enough.
  mutating func removeExpired(at moment: Int64) -> [Caller] {
    let expired = waiting.filter { $0.deadline <= moment }
    if !expired.isEmpty { waiting.removeAll { $0.deadline <= moment } }
    return expired
  }
}

/// Counts the calls that have begun and have not reached the queue's actor yet. They are company for a commit.
struct Arrivals: Sendable {
  private let count = Locked(0)

  func begin() { count.withLock { $0 += 1 } }
  func end() { count.withLock { $0 -= 1 } }
  var areUnderWay: Bool { count.value > 0 }
}
