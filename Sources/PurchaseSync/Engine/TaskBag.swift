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

/// When the machine is fed next. The earliest moment counts, by the monotonic clock: after a jump of the wall clock, the moment
/// of an earlier timer says nothing about when it fires.
struct MachineTimer {
  /// When the engine was made, for the paces.
  let beginning: ContinuousClock.Instant
  /// Nil if no moment is awaited.
  private(set) var fires: ContinuousClock.Instant?

  init(beginning: ContinuousClock.Instant) { self.beginning = beginning }

  /// False if an earlier moment is awaited.
  mutating func isSet(to moment: ContinuousClock.Instant) -> Bool {
    if let fires, fires <= moment { return false }
    fires = moment
    return true
  }

  mutating func ended() { fires = nil }
}
