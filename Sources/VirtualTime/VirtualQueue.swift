import Dispatch
import PurchaseSQLite

/// Runs tasks one at a time, in the order in which they become ready, and in virtual time: time passes when nothing is
/// ready. The same tasks run in the same order each time.
///
/// Work of other threads and of the main actor is unknown to it: see `outside`.
package final class VirtualQueue: Sendable {
  /// Why a run cannot go on.
  package enum Standstill: Sendable, Hashable {
    /// The body waits, and nothing is left that could end its wait.
    case nothingLeft
    /// The body waits still after the longest time.
    case timeIsOver
    /// A task asks again and again, and never waits.
    case spinning
    /// A task has held the thread for a minute of the system's time.
    case blocked
  }

  /// This runtime has no hook for its jobs.
  package struct NoHook: Error {}

  /// A run that stands still.
  package struct Stuck: Error {
    /// Why.
    package let standstill: Standstill
  }

  private struct State {
    var schedule: Schedule
    var isScheduled = false
    /// Resumes the caller of `run`; nil before it began and after it was resumed.
    var fail: (@Sendable (Stuck) -> Void)?
    /// Set at the end of the run.
    var last: (@Sendable () -> Void)?
    /// How many jobs have begun, and whether one runs: a job that does not return blocks the run.
    var begun = 0
    var isRunning = false
    /// Cancelled before they began.
    var cancelled: Set<Int> = []
    var processes: [Int: Process] = [:]
  }

  private struct Process {
    /// The process that waits for its end.
    var parent: Int
    var ended: @Sendable () -> Void
    var resume: @Sendable () -> Void
  }

  private let state: Locked<State>
  private let thread = DispatchQueue(label: "virtual-time")

  /// How many seconds of the system's time one job may hold the thread.
  private let patience: Double

  /// - Parameters:
  ///   - longest: How many milliseconds of virtual time a run may take.
  ///   - patience: How many seconds of the system's time one job may hold the thread. Then the run fails, and its thread
  ///     is left behind.
  package init(longest: Int64, patience: Double = 60) {
    state = Locked(State(schedule: Schedule(end: longest)))
    self.patience = patience
  }

  /// Milliseconds since the run began.
  package var now: Int64 { state.withLock { $0.schedule.now } }

  // MARK: The run

  /// Runs `body` and everything that it starts, until it returns. Once for each queue.
  package func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    guard ConcurrencyHook.install() else { throw NoHook() }
    return try await withCheckedThrowingContinuation { caller in
      state.withLock { $0.fail = { caller.resume(throwing: $0) } }
      ConcurrencyHook.leading(to: self) {
        _ = Task {
          let result: Result<R, any Error>
          do { result = .success(try await body()) } catch { result = .failure(error) }
          self.state.withLock { state in
            guard state.fail != nil else { return }
            state.fail = nil
            state.last = { caller.resume(with: result) }
          }
        }
      }
      wake()
      watch(after: 0)
    }
  }

  /// Looks twice in the time of the patience whether the job that runs is still the same one.
  private func watch(after seen: Int) {
    DispatchQueue.global().asyncAfter(deadline: .now() + patience / 2) { [weak self] in
      guard let self else { return }
      let (begun, isOver, fail) = state.withLock { state in
        let isBlocked = state.isRunning && state.begun == seen && state.schedule.outside == 0
        defer { if isBlocked { state.fail = nil } }
        return (state.isRunning ? state.begun : 0, state.fail == nil, isBlocked ? state.fail : nil)
      }
      if let fail { return fail(Stuck(standstill: .blocked)) }
      if !isOver { watch(after: begun) }
    }
  }

  func enqueue(_ work: Schedule.Work, of owner: Int? = nil) {
    state.withLock { $0.schedule.add(work, of: owner) }
    wake()
  }

  /// Has the run do some work.
  package func call(_ work: @escaping @Sendable () -> Void) { enqueue(.call(work)) }

  /// Has the thread go on.
  private func wake() {
    let isAsleep = state.withLock { state in
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isAsleep { thread.async { self.work() } }
  }

  private func work() {
    while true {
      let next: Schedule.Next? = state.withLock { state in
        guard state.fail != nil else { return nil }
        let next = state.schedule.next()
        // Under the same lock: work that comes later wakes it.
        if case .rest = next { state.isScheduled = false }
        return next
      }
      switch next {
      case .run(let ready): run(ready)
      case .stuck(let standstill):
        state.withLock { state in
          guard let fail = state.fail else { return }
          state.fail = nil
          state.last = { fail(Stuck(standstill: standstill)) }
        }
      case .rest:
        return
      case nil:
        state.withLock { state in
          defer { state.last = nil }
          return state.last
        }?()
        return
      }
    }
  }

  private func run(_ ready: Schedule.Ready) {
    state.withLock { state in
      state.schedule.owner = ready.owner
      state.begun += 1
      state.isRunning = true
    }
    ConcurrencyHook.leading(to: self) {
      switch ready.work {
      case .job(let job): unsafe job.runSynchronously(on: ConcurrencyHook.anywhere)
      case .laneJob(let job, let lane): unsafe job.runSynchronously(on: lane.asUnownedSerialExecutor())
      case .call(let call): call()
      }
    }
    state.withLock { state in
      state.schedule.owner = 0
      state.isRunning = false
    }
  }

  // MARK: Waiting

  /// Returns after so many milliseconds of virtual time; throws when the task is cancelled.
  package func sleep(_ milliseconds: Int64) async throws {
    let number = state.withLock { $0.schedule.makeNumber() }
    defer { state.withLock { _ = $0.cancelled.remove(number) } }
    // Not a checked continuation: that of a killed process is never resumed, on purpose.
    let sleeper = unsafe Locked<UnsafeContinuation<Void, any Error>?>(nil)
    try await withTaskCancellationHandler {
      try await unsafe withUnsafeThrowingContinuation { continuation in
        unsafe sleeper.withLock { unsafe $0 = continuation }
        let isCancelled = state.withLock { state in
          if state.cancelled.contains(number) { return true }
          state.schedule.addAlarm(number, after: milliseconds) {
            unsafe sleeper.value?.resume()
          }
          return false
        }
        if isCancelled { unsafe continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let owner = state.withLock { state in
        state.cancelled.insert(number)
        return state.schedule.removeAlarm(number)
      }
      if let owner {
        enqueue(.call { unsafe sleeper.value?.resume(throwing: CancellationError()) }, of: owner)
      }
    }
  }

  /// Returns when nothing else is ready: all is done that needs no time.
  package func settle() async {
    await wait { $0.addWhenSettled($1) }
  }

  /// Returns after the next alarm of any task.
  package func waitForAlarm() async {
    await wait { $0.addAfterAlarm($1) }
  }

  /// Never returns: what waits here is over.
  package func never() async {
    await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }

  private func wait(_ add: @Sendable (inout Schedule, @escaping @Sendable () -> Void) -> Void) async {
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let resume: @Sendable () -> Void = { unsafe continuation.resume() }
      state.withLock { add(&$0.schedule, resume) }
    }
  }

  /// Does work that needs other threads or the system's time. Virtual time stands still in the meantime.
  package func outside<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) async throws -> R {
    let owner = state.withLock { state in
      state.schedule.outside += 1
      return state.schedule.owner
    }
    return try await unsafe withUnsafeThrowingContinuation { continuation in
      ConcurrencyHook.leaving {
        _ = Task {
          let result: Result<R, any Error>
          do { result = .success(try await work()) } catch { result = .failure(error) }
          self.state.withLock { $0.schedule.outside -= 1 }
          self.enqueue(.call { unsafe continuation.resume(with: result) }, of: owner)
        }
      }
    }
  }

  // MARK: Processes

  /// Runs `body` as a process: when it returns or is killed, everything that it started ends, also in the middle. Nil if
  /// it was killed.
  ///
  /// What ended is never resumed: its memory and its open files are held until this process of the system ends.
  ///
  /// - Parameters:
  ///   - ended: Called at the end, when nothing of the process happens any more, and before the caller goes on.
  ///   - body: Gets the number of the process.
  package func process<R: Sendable>(
    ended: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (_ number: Int) async throws -> R
  ) async throws -> R? {
    let result = Locked<Result<R, any Error>?>(nil)
    await unsafe withUnsafeContinuation { (caller: UnsafeContinuation<Void, Never>) in
      let (number, parent) = state.withLock { state in
        let (number, parent) = (state.schedule.makeNumber(), state.schedule.owner)
        let resume: @Sendable () -> Void = { unsafe caller.resume() }
        state.processes[number] = Process(parent: parent, ended: ended, resume: resume)
        state.schedule.owner = number
        return (number, parent)
      }
      _ = Task {
        let outcome: Result<R, any Error>
        do { outcome = .success(try await body(number)) } catch { outcome = .failure(error) }
        result.withLock { $0 = outcome }
        self.kill(number)
      }
      state.withLock { $0.schedule.owner = parent }
    }
    return try result.value?.get()
  }

  /// Ends a process now. Its job that is running should wait with `never`.
  package func kill(_ number: Int) {
    let process = state.withLock { state in
      state.schedule.bury(number)
      return state.processes.removeValue(forKey: number)
    }
    guard let process else { return }
    process.ended()
    enqueue(.call(process.resume), of: process.parent)
  }

  /// The process of the running job; 0 for the body of `run`.
  var owner: Int { state.withLock { $0.schedule.owner } }
}
