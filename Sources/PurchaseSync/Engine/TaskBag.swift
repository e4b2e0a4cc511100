/// The tasks of an actor, each until it has ended.
struct TaskBag<Name: Hashable & Sendable> {
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var named: [Name: Task<Void, Never>] = [:]
  private var next = 0

  /// - Parameter begin: Gets the number with which the task reports its end.
  mutating func add(_ begin: (_ number: Int) -> Task<Void, Never>) {
    next += 1
    tasks[next] = begin(next)
  }

  mutating func ended(_ number: Int) { tasks[number] = nil }

  /// Whether no task without a name is under way.
  var isAtRest: Bool { tasks.isEmpty }

  /// Those without a name, oldest first: one run is to follow from one seed.
  var underWay: [Task<Void, Never>] { tasks.keys.sorted().compactMap { tasks[$0] } }

  /// A task with a name is about to end.
  mutating func ended(_ name: Name) { named[name] = nil }

  /// The newest task of a name. The one before it is cancelled.
  subscript(name: Name) -> Task<Void, Never>? {
    get { named[name] }
    set {
      named[name]?.cancel()
      named[name] = newValue
    }
  }

  /// Cancels all that have no name, and of the others those of which this holds.
  func cancel(where isMeant: (Name) -> Bool) {
    for task in tasks.values { task.cancel() }
    for (name, task) in named where isMeant(name) { task.cancel() }
  }
}

/// The requests that callers outside wait for.
struct CallerRequests {
  struct Request: Sendable {
    var cancel: @Sendable () -> Void
    /// Returns when it has ended.
    var end: @Sendable () async -> Void
  }

  private var requests: [Int: Request] = [:]
  private var next = 0

  /// Oldest first.
  var underWay: [Request] { requests.keys.sorted().compactMap { requests[$0] } }

  /// Returns the request's number.
  mutating func begins(
    cancel: @escaping @Sendable () -> Void, end: @escaping @Sendable () async -> Void
  ) -> Int {
    next += 1
    requests[next] = Request(cancel: cancel, end: end)
    return next
  }

  mutating func ended(_ number: Int) { requests[number] = nil }
}
