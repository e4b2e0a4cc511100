import CommandLineTools
import Dispatch
import Exploration
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSQLite

/// Makes the disks of the phones in the machine's simulation.
enum ExploredDisks {
  /// A command calls it before it makes the first disk.
  static func prepare(_ storage: ExploredStorage) throws(QueueError) {
    guard storage == .sqlite, !FaultVFS.install() else { return }
    throw .storage(path: "memory", reason: "SQLite refuses disks in memory")
  }

  /// Disks in memory. Files of the real queue are on the thread's own disk where `FaultVFS` is installed; else they are
  /// in the system's memory file system, if it has one.
  static func maker(_ storage: ExploredStorage) -> DiskMaker {
    switch storage {
    case .memory:
      return { (limits, hasVault) throws(QueueError) in MemoryDisk(limits: limits, hasVault: hasVault) }
    case .sqlite:
      return { (limits, hasVault) throws(QueueError) in
        SQLiteDisk(try folder(), limits: limits, hasVault: hasVault)
      }
    }
  }

  private static func folder() throws(QueueError) -> any DiskFolder {
    if unsafe FaultVFS.isInstalled { return FaultFolder() }
    return try SystemFolder(parent + "/explore-" + UUID().uuidString)
  }

  static let parent: String = {
    let memory = "/dev/shm"
    let isThere = FileManager.default.isWritableFile(atPath: memory)
    return isThere ? memory : FileManager.default.temporaryDirectory.path
  }()
}

/// Which seeds to run, and when to stop.
struct ExploreLimits: Sendable {
  var from: UInt64 = 1
  /// How many; nil: as many as the time allows.
  var seeds: UInt64?
  /// For how long, in seconds; nil: without a limit.
  var seconds: Double?
  /// After so many failing seeds no later seed begins: for any number of threads these are the first failures.
  var failures = Int.max
}

/// Runs seeds on several threads. The results do not depend on the number of threads.
final class Explorer: Sendable {
  private let choice: SimulationChoice
  private let jobs: Int
  /// Whether to count how the knobs were drawn.
  private let countsKnobs: Bool
  private let makeRunner: @Sendable () -> any SimulationRunner

  /// - Parameter runner: Makes the runner of one thread; nil for the one of the choice.
  init(
    _ choice: SimulationChoice, jobs: Int, countsKnobs: Bool = false,
    runner: (@Sendable () -> any SimulationRunner)? = nil
  ) {
    self.choice = choice
    self.jobs = jobs > 0 ? jobs : Jobs.usualWidth
    self.countsKnobs = countsKnobs
    makeRunner = runner ?? { choice.runner() }
  }

  var runner: any SimulationRunner { makeRunner() }

  /// All of them; or all up to the first one that fails, and some after it.
  func run(_ seeds: Range<UInt64>, stopsAtFailure: Bool = false) throws -> RunSum {
    var limits = ExploreLimits(from: seeds.lowerBound, seeds: UInt64(seeds.count))
    if stopsAtFailure { limits.failures = 1 }
    return try run(limits)
  }

  /// `watch` receives the sum so far from time to time, on any thread and never twice at a time.
  ///
  /// Ends early at an interruption (`Interruption`): the sum then holds the runs that were complete.
  func run(_ limits: ExploreLimits, watch: @escaping @Sendable (RunSum) -> Void = { _ in }) throws -> RunSum {
    let work = ExploreWork(limits, watch)
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      let runner = self.makeRunner()
      while let share = work.next() {
        var sum = RunSum()
        do {
          for seed in share where !work.isOver(for: seed) {
            let result = try runner.run(seed)
            sum.add(result)
            if countsKnobs { sum.knobs.add(runner.knobs(of: seed).values) }
            if result.violation != nil { work.failed(seed) }
          }
        } catch {
          // Workers end with an interruption.
          if !Interruption.shared.isAsked { work.stop(error) }
        }
        work.add(sum)
      }
    }
    return try work.sum()
  }
}

/// Hands out seeds to the threads in small shares, and adds up their results.
private final class ExploreWork: Sendable {
  /// Small, so that all threads end together; large enough that they do not wait for each other.
  private static let share: UInt64 = 8

  private let limits: ExploreLimits
  private let watch: @Sendable (RunSum) -> Void
  private let started = ProcessInfo.processInfo.systemUptime

  private struct State {
    /// How many seeds were handed out.
    var begun = UInt64(0)
    var sum = RunSum()
    /// Seeds of runs that broke an invariant, in order; no more than the limit.
    var failing: [UInt64] = []
    var error: (any Error)?

    /// Whether enough earlier seeds failed.
    func isBehind(_ seed: UInt64, _ limits: ExploreLimits) -> Bool {
      guard error == nil else { return true }
      guard failing.count >= limits.failures, let last = failing.last else { return false }
      return seed > last
    }
  }

  private let state = Locked(State())

  init(_ limits: ExploreLimits, _ watch: @escaping @Sendable (RunSum) -> Void) {
    (self.limits, self.watch) = (limits, watch)
  }

  /// Whether this run does not begin. Another thread may still find an earlier failure, which counts first.
  func isOver(for seed: UInt64) -> Bool { isLate || state.withLock { $0.isBehind(seed, limits) } }

  /// Whether no further run begins.
  private var isLate: Bool {
    if Interruption.shared.isAsked { return true }
    guard let seconds = limits.seconds else { return false }
    return ProcessInfo.processInfo.systemUptime - started >= seconds
  }

  func next() -> Range<UInt64>? {
    guard !isLate else { return nil }
    return state.withLock { state in
      let begin = state.begun
      let end = min(begin + Self.share, limits.seeds ?? .max)
      guard begin < end, !state.isBehind(limits.from + begin, limits) else { return nil }
      state.begun = end
      return limits.from + begin..<limits.from + end
    }
  }

  func add(_ sum: RunSum) {
    state.withLock {
      $0.sum.add(sum)
      watch($0.sum)
    }
  }

  func failed(_ seed: UInt64) {
    state.withLock { state in
      let before = state.failing.lastIndex { $0 < seed }
      state.failing.insert(seed, at: before.map { $0 + 1 } ?? 0)
      if state.failing.count > limits.failures { state.failing.removeLast() }
    }
  }

  func stop(_ error: any Error) { state.withLock { $0.error = error } }

  func sum() throws -> RunSum {
    let state = state.value
    if let error = state.error { throw error }
    return state.sum
  }
}
