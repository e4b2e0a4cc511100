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
