import Dispatch
import FaultInjection
import Foundation
import PurchaseQueue

/// Where the disks of explored phones come from.
enum ExploredDisks {
  /// To be called by a command before it makes the first of them.
  static func prepare(_ storage: ExploredStorage) throws(QueueError) {
    guard storage == .sqlite, !FaultVFS.install() else { return }
    throw .storage(path: "memory", reason: "SQLite refuses disks in memory")
  }

  /// In memory, of either kind. Where `FaultVFS` is installed, files of the real queue are on the disk of the thread;
  /// else in the system's memory file system, where there is one.
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

/// Which lives are to be lived, and when that is enough.
struct ExploreLimits: Sendable {
  var from: UInt64 = 1
  /// How many; nil: as many as there is time for.
  var seeds: UInt64?
  /// For how long, in seconds; nil: until they are through.
  var seconds: Double?
  /// No life begins whose seed is behind so many that broke an invariant: whatever the number of threads, these are
  /// the first ones.
  var failures = Int.max
}

/// Runs seeds on several threads, each the same as alone.
final class Explorer: Sendable {
  private let profile: ExplorationProfile
  private let storage: ExploredStorage
  private let plant: Plant?
  private let jobs: Int
  /// Whether it is to be counted how the knobs were drawn.
  private let countsKnobs: Bool

  init(
    _ profile: ExplorationProfile, _ storage: ExploredStorage, _ plant: Plant? = nil, jobs: Int,
    countsKnobs: Bool = false
  ) {
    self.profile = profile
    self.storage = storage
    self.plant = plant
    self.jobs = jobs > 0 ? jobs : ProcessInfo.processInfo.activeProcessorCount
    self.countsKnobs = countsKnobs
  }

  var exploration: Exploration {
    Exploration(profile: profile, plant: plant, disks: ExploredDisks.maker(storage))
  }

  /// All of them; or, if that is asked for, all up to the first one that fails, and some behind it.
  func run(_ seeds: Range<UInt64>, stopsAtFailure: Bool = false) throws(QueueError) -> ExplorationSum {
    var limits = ExploreLimits(from: seeds.lowerBound, seeds: UInt64(seeds.count))
    if stopsAtFailure { limits.failures = 1 }
    return try run(limits)
  }

  /// `watch` hears of the sum so far now and then, from any thread and never twice at a time.
  ///
  /// Ends early when somebody asks to (`Interruption`): the sum is then that of the lives that came to their end.
  func run(
    _ limits: ExploreLimits, watch: @escaping @Sendable (ExplorationSum) -> Void = { _ in }
  ) throws(QueueError) -> ExplorationSum {
    let work = ExploreWork(limits, watch)
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      let exploration = self.exploration
      while let share = work.next() {
        do throws(QueueError) {
          var sum = ExplorationSum()
          for seed in share where !work.isOver(for: seed) {
            let life = try exploration.live(seed)
            sum.add(life)
            if countsKnobs { sum.knobs.add(Knobs(seed: seed, profile: profile)) }
            if life.violation != nil { work.failed(seed) }
          }
          work.add(sum)
        } catch {
          work.stop(error)
        }
      }
    }
    return try work.sum()
  }
}

/// Seeds, handed out in small shares to whoever has none, and what came of them.
private final class ExploreWork: Sendable {
  /// Small enough that all threads end together, and large enough that they do not wait for each other.
  private static let share: UInt64 = 8

  private let limits: ExploreLimits
  private let watch: @Sendable (ExplorationSum) -> Void
  private let started = ProcessInfo.processInfo.systemUptime
  private let lock = NSLock()
  private nonisolated(unsafe) var next_ = UInt64(0)
  private nonisolated(unsafe) var all = ExplorationSum()
  /// Seeds of lives that broke an invariant, in order; no more of them than are asked for.
  private nonisolated(unsafe) var failing: [UInt64] = []
  private nonisolated(unsafe) var error: QueueError?

  init(_ limits: ExploreLimits, _ watch: @escaping @Sendable (ExplorationSum) -> Void) {
    (self.limits, self.watch) = (limits, watch)
  }

  /// This life is not to begin. Another thread may still be on its way to one before it, which counts first.
  func isOver(for seed: UInt64) -> Bool { isLate || lock.withLock { isBehind(seed) } }

  /// Nothing more is to begin.
  private var isLate: Bool {
    if Interruption.shared.isAsked { return true }
    guard let seconds = limits.seconds else { return false }
    return ProcessInfo.processInfo.systemUptime - started >= seconds
  }

  /// Behind as many failures as are asked for. To be called with the lock held.
  private func isBehind(_ seed: UInt64) -> Bool {
    guard unsafe error == nil else { return true }
    guard unsafe failing.count >= limits.failures, let last = unsafe failing.last else { return false }
    return seed > last
  }

  func next() -> Range<UInt64>? {
    guard !isLate else { return nil }
    return lock.withLock {
      let begin = unsafe next_
      let end = min(begin + Self.share, limits.seeds ?? .max)
      guard begin < end, !isBehind(limits.from + begin) else { return nil }
      unsafe next_ = end
      return limits.from + begin..<limits.from + end
    }
  }

  func add(_ sum: ExplorationSum) {
    lock.withLock {
      unsafe all.add(sum)
      unsafe watch(all)
    }
  }

  func failed(_ seed: UInt64) {
    lock.withLock {
      let before = unsafe failing.lastIndex { $0 < seed }
      unsafe failing.insert(seed, at: before.map { $0 + 1 } ?? 0)
      if unsafe failing.count > limits.failures { unsafe failing.removeLast() }
    }
  }

  func stop(_ error: QueueError) { lock.withLock { unsafe self.error = error } }

  func sum() throws(QueueError) -> ExplorationSum {
    let (sum, error) = lock.withLock { unsafe (all, self.error) }
    if let error { throw error }
    return sum
  }
}
