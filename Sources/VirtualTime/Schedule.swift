/// What is ready, what waits for time, and whose it is. A value without I/O: ``VirtualQueue`` runs what it says.
struct Schedule {
  /// The number of a process of the queue. 0 is the caller of `run`.
  typealias Owner = Int

  /// One piece of work.
  enum Work: Sendable {
    /// A job that any thread may run.
    case job(UnownedJob)
    /// A job of a serial executor.
    case laneJob(UnownedJob, VirtualExecutor)
    /// A function.
    case call(@Sendable () -> Void)
  }

  struct Ready {
    var owner: Owner
    var work: Work
  }

  private struct Alarm {
    var number: Int
    var due: Int64
    var owner: Owner
    var ring: @Sendable () -> Void
  }

  /// What to do next.
  enum Next {
    case run(Ready)
    /// Work outside is under way, and comes back.
    case rest
    case stuck(VirtualQueue.Standstill)
  }

  /// Milliseconds since the run began.
  private(set) var now: Int64 = 0
  /// The owner of the running work, and of the work that it starts.
  var owner: Owner = 0
  /// Work that runs outside, for which time stands still.
  var outside = 0
  private let end: Int64
  private var ready: [Ready] = []
  private var head = 0
  private var alarms: [Alarm] = []
  private var settling: [Ready] = []
  private var ticking: [Ready] = []
  private var dead: Set<Owner> = []
  private var numbers = 0
  /// Steps since time passed last.
  private var steps = 0

  /// As many steps without time mean that a task asks again and again.
  private static let longestMoment = 200_000

  init(end: Int64) { self.end = end }

  mutating func makeNumber() -> Int {
    numbers += 1
    return numbers
  }

  // MARK: Work

  mutating func add(_ work: Work, of owner: Owner? = nil) {
    let owner = owner ?? self.owner
    if !dead.contains(owner) { ready.append(Ready(owner: owner, work: work)) }
  }

  /// Work for the moment at which nothing else is ready.
  mutating func addWhenSettled(_ call: @escaping @Sendable () -> Void) {
    settling.append(Ready(owner: owner, work: .call(call)))
  }

  /// Work for the moment after the next alarm.
  mutating func addAfterAlarm(_ call: @escaping @Sendable () -> Void) {
    ticking.append(Ready(owner: owner, work: .call(call)))
  }

  // MARK: Time

  mutating func addAlarm(_ number: Int, after milliseconds: Int64, _ ring: @escaping @Sendable () -> Void) {
    let (sum, overflow) = now.addingReportingOverflow(max(0, milliseconds))
    let alarm = Alarm(number: number, due: overflow ? .max : sum, owner: owner, ring: ring)
    // Behind those of the same moment.
    let place = alarms.firstIndex { $0.due > alarm.due } ?? alarms.count
    alarms.insert(alarm, at: place)
  }

  /// Removes an alarm and returns its owner; nil if it has rung.
  mutating func removeAlarm(_ number: Int) -> Owner? {
    guard let place = alarms.firstIndex(where: { $0.number == number }) else { return nil }
    return alarms.remove(at: place).owner
  }

  // MARK: The end of a process

  /// Nothing of this owner happens any more.
  mutating func bury(_ owner: Owner) {
    dead.insert(owner)
    alarms.removeAll { $0.owner == owner }
    settling.removeAll { $0.owner == owner }
    ticking.removeAll { $0.owner == owner }
    ready.removeSubrange(..<head)
    head = 0
    ready.removeAll { $0.owner == owner }
  }

  // MARK: Order

  mutating func next() -> Next {
    while true {
      if let first = takeReady() {
        steps += 1
        return steps > Self.longestMoment ? .stuck(.spinning) : .run(first)
      }
      if outside > 0 { return .rest }
      if !settling.isEmpty {
        ready += settling
        settling.removeAll()
        continue
      }
      guard let alarm = alarms.first else { return .stuck(.nothingLeft) }
      guard alarm.due <= end else { return .stuck(.timeIsOver) }
      alarms.removeFirst()
      if alarm.due > now { (now, steps) = (alarm.due, 0) }
      ready.append(Ready(owner: alarm.owner, work: .call(alarm.ring)))
      ready += ticking
      ticking.removeAll()
    }
  }

  private mutating func takeReady() -> Ready? {
    guard head < ready.count else { return nil }
    defer { head += 1 }
    if head > 1_000 {
      ready.removeSubrange(..<head)
      head = 0
    }
    return ready[head]
  }
}
