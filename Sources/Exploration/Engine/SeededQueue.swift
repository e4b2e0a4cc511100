import Foundation

/// The run queue of the engine's simulation. One thread steps it and runs every job of the engines, one at a time. The
/// seed decides which ready job is next. Time is virtual: it passes when no job is ready, and sometimes before.
///
/// The jobs of one serial executor stay first in, first out, as on the engine's own thread. Other jobs may overtake.
final class SeededQueue: @unchecked Sendable {
  /// The purpose of a timer.
  enum Purpose: Sendable {
    /// The engine's own timer.
    case timer
    /// The engine's limit for a call that may take too long.
    case patience
    /// A store, a backend, an app.
    case simulation
  }

  private enum Run {
    case job(UnownedJob)
    case work(() -> Void)
  }

  private struct Ready {
    var number: Int
    var owner: Int
    var rank: UInt64
    var run: Run
  }

  private struct Alarm {
    var due: Int64
    var number: Int
    var owner: Int
    var purpose: Purpose
    var fire: () -> Void
  }

  /// Milliseconds since the simulation began.
  private(set) var now: Int64 = 0
  /// The owner of the running work, and of the work that it starts. 0 is the simulation.
  var owner = 0
  /// How often, in permille, time passes although something is ready.
  var stalls = 0
  /// Whether a job keeps the rank that it got when it became ready, or all are equal at each step.
  let isRanked: Bool
  private(set) var hash = RunHash()
  /// How many jobs ran.
  private(set) var steps = 0
  /// How often there was a choice.
  private(set) var choices = 0
  /// How often a timer fired although something was ready.
  private(set) var stalled = 0
  private var random: RandomStream
  private var loose: [Ready] = []
  private var lanes: [[Ready]] = []
  private var alarms: [Alarm] = []
  private var numbers = 0
  /// Waits that have not ended.
  private(set) var waiting = 0

  init(seed: UInt64, log: DrawLog? = nil) {
    random = RandomStream(seed: seed, "queue", log: log)
    isRanked = random.chance(400)
  }

  // MARK: Ready work

  private func ready(_ run: Run) -> Ready {
    numbers += 1
    return Ready(number: numbers, owner: owner, rank: isRanked ? random.next() : 0, run: run)
  }

  /// A job that any thread may run.
  func enqueue(_ job: UnownedJob) { loose.append(ready(.job(job))) }

  /// Work that any thread may do.
  func enqueue(_ work: @escaping () -> Void) { loose.append(ready(.work(work))) }

  /// A job of one serial executor.
  func enqueue(_ job: UnownedJob, lane: Int) { lanes[lane].append(ready(.job(job))) }

  /// The number of a new serial executor.
  func makeLane() -> Int {
    lanes.append([])
    executors.append(nil)
    return lanes.count - 1
  }

  // MARK: Time

  /// Runs `fire` after so many milliseconds. Returns the number of the alarm.
  @discardableResult
  func after(_ milliseconds: Int64, _ purpose: Purpose = .simulation, _ fire: @escaping () -> Void) -> Int {
    numbers += 1
    let due = now.addingReportingOverflow(max(milliseconds, 0))
    let alarm = Alarm(
      due: due.overflow ? .max : due.partialValue, number: numbers, owner: owner, purpose: purpose,
      fire: fire)
    let place = alarms.firstIndex { $0.due > alarm.due } ?? alarms.count
    alarms.insert(alarm, at: place)
    return numbers
  }

  /// Removes an alarm; false if it has fired.
  @discardableResult
  func remove(_ number: Int) -> Bool {
    guard let place = alarms.firstIndex(where: { $0.number == number }) else { return false }
    alarms.remove(at: place)
    return true
  }

  /// How many timers of a purpose an owner has.
  func count(_ purpose: Purpose, of owner: Int) -> Int {
    alarms.count { $0.owner == owner && $0.purpose == purpose }
  }

  var nextDue: Int64? { alarms.first?.due }

  /// Lets time pass to the moment, or to the next alarm.
  func pass(until moment: Int64) { now = max(now, min(moment, nextDue ?? moment)) }

  // MARK: Waiting

  /// Waits so many milliseconds and ignores cancellation.
  func pause(_ milliseconds: Int64, _ purpose: Purpose = .simulation) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      waiting += 1
      after(milliseconds, purpose) { [self] in
        waiting -= 1
        continuation.resume()
      }
    }
  }

  /// Waits so many milliseconds, or throws when the task is cancelled.
  func sleep(_ milliseconds: Int64, _ purpose: Purpose) async throws {
    let sleeper = Sleeper(self)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { sleeper.begin(milliseconds, purpose, $0) }
    } onCancel: {
      sleeper.cancel()
    }
  }

  /// One sleep, which ends once.
  private final class Sleeper: @unchecked Sendable {
    private let queue: SeededQueue
    private var number = 0
    private var isCancelled = false
    private var continuation: CheckedContinuation<Void, any Error>?

    init(_ queue: SeededQueue) { self.queue = queue }

    func begin(
      _ milliseconds: Int64, _ purpose: Purpose, _ continuation: CheckedContinuation<Void, any Error>
    ) {
      guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
      self.continuation = continuation
      queue.waiting += 1
      number = queue.after(milliseconds, purpose) { self.end(nil) }
    }

    func cancel() {
      isCancelled = true
      guard continuation != nil else { return }
      queue.remove(number)
      end(CancellationError())
    }

    private func end(_ error: (any Error)?) {
      guard let continuation else { return }
      self.continuation = nil
      queue.waiting -= 1
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
  }

  // MARK: Running

  /// Runs one job or timer. False if there is neither, or if the next timer is beyond the horizon.
  func step(until horizon: Int64 = .max) -> Bool {
    if let chosen = choose() {
      if stalls > 0, let due = nextDue, due <= horizon, random.chance(stalls) {
        stalled += 1
        return fire()
      }
      run(take(chosen))
      return true
    }
    guard let due = nextDue, due <= horizon else { return false }
    return fire()
  }

  /// Whether a job is ready at this moment.
  var hasReady: Bool { !loose.isEmpty || lanes.contains { !$0.isEmpty } }

  private func choose() -> Int? {
    let heads = lanes.indices.filter { !lanes[$0].isEmpty }
    let count = loose.count + heads.count
    guard count > 0 else { return nil }
    if count > 1 { choices += 1 }
    func code(_ place: Int) -> Int {
      place < loose.count ? place : -1 - heads[place - loose.count]
    }
    guard isRanked else { return code(count == 1 ? 0 : random.below(count)) }
    var best = 0
    var rank: UInt64 = 0
    for place in 0..<count {
      let other = place < loose.count ? loose[place].rank : lanes[heads[place - loose.count]][0].rank
      if other >= rank { (best, rank) = (place, other) }
    }
    return code(best)
  }

  /// Negative codes are lanes.
  private func take(_ code: Int) -> (ready: Ready, lane: Int) {
    code >= 0 ? (loose.remove(at: code), -1) : (lanes[-1 - code].removeFirst(), -1 - code)
  }

  private func fire() -> Bool {
    let alarm = alarms.removeFirst()
    now = max(now, alarm.due)
    hash.add(UInt64(alarm.number))
    owner = alarm.owner
    alarm.fire()
    owner = 0
    return true
  }

  private func run(_ chosen: (ready: Ready, lane: Int)) {
    steps += 1
    hash.add(UInt64(chosen.ready.number) << 8 | UInt64(chosen.lane + 1))
    perform(chosen)
  }

  private func perform(_ chosen: (ready: Ready, lane: Int)) {
    owner = chosen.ready.owner
    defer { owner = 0 }
    switch chosen.ready.run {
    case .work(let work): work()
    case .job(let job):
      if chosen.lane < 0 {
        unsafe job.runSynchronously(on: ConcurrencyHook.anywhere)
      } else if let executor = executors[chosen.lane] {
        unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
      }
    }
  }

  /// The executors by their lanes. Their engines hold them.
  private var executors: [SeededExecutor?] = []

  func set(_ executor: SeededExecutor, of lane: Int) { executors[lane] = executor }

  // MARK: The dead

  /// Runs the remaining work of a dead process, outside of the run's hash. The latest work ends its engine and runs
  /// first; the rest follows, and timers fire at once.
  func bury(_ dead: Int) {
    if let place = loose.lastIndex(where: { $0.owner == dead }) { perform((loose.remove(at: place), -1)) }
    if let lane = lanes.firstIndex(where: { $0.last?.owner == dead }) {
      perform((lanes[lane].removeLast(), lane))
    }
    while true {
      if let place = loose.firstIndex(where: { $0.owner == dead }) {
        perform((loose.remove(at: place), -1))
      } else if let lane = lanes.firstIndex(where: { $0.first?.owner == dead }) {
        perform((lanes[lane].removeFirst(), lane))
      } else if let place = alarms.firstIndex(where: { $0.owner == dead }) {
        let alarm = alarms.remove(at: place)
        owner = dead
        alarm.fire()
        owner = 0
      } else {
        return
      }
    }
  }

  func tell(_ word: UInt64) { hash.add(word) }
}

/// The thread of one engine: a lane of the queue.
final class SeededExecutor: SerialExecutor {
  private let queue: SeededQueue
  private let lane: Int

  init(_ queue: SeededQueue) {
    self.queue = queue
    lane = queue.makeLane()
    queue.set(self, of: lane)
  }

  func enqueue(_ job: consuming ExecutorJob) { queue.enqueue(UnownedJob(job), lane: lane) }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }
}
