import Dispatch
import FaultInjection
import Foundation
import PurchaseQueue

/// The sum of many worlds.
struct ExplorationSum: Sendable {
  var seeds = 0
  var events = 0
  var exercised: [Int] = []
  var marks: [Int] = []
  var figures = FaultInjection.Figures()
  /// The failing one with the smallest seed.
  var failure: Failure?
  var failures = 0
  /// The first ones of each thread, by seed.
  var broken: [Failure] = []

  struct Failure: Sendable {
    var seed: UInt64
    var violation: Violation
  }

  mutating func add(_ life: Life) {
    seeds += 1
    events += life.events
    add(life.exercised, life.marks)
    figures.add(life.figures)
    guard let violation = life.violation else { return }
    failures += 1
    let new = Failure(seed: life.seed, violation: violation)
    if life.seed < failure?.seed ?? .max { failure = new }
    if broken.count < 20 { broken.append(new) }
  }

  private mutating func add(_ exercised: [Int], _ marks: [Int]) {
    if self.exercised.isEmpty { self.exercised = Array(repeating: 0, count: exercised.count) }
    if self.marks.isEmpty { self.marks = Array(repeating: 0, count: marks.count) }
    for index in exercised.indices { self.exercised[index] += exercised[index] }
    for index in marks.indices { self.marks[index] += marks[index] }
  }

  mutating func add(_ other: ExplorationSum) {
    seeds += other.seeds
    events += other.events
    failures += other.failures
    if !other.exercised.isEmpty { add(other.exercised, other.marks) }
    figures.add(other.figures)
    broken += other.broken
    if let found = other.failure, found.seed < failure?.seed ?? .max { failure = found }
  }
}

/// Where the disks of explored phones come from.
enum ExploredDisks {
  /// In memory, of either kind; files of the real queue go to the system's memory file system, where there is one.
  static func maker(_ storage: ExploredStorage) -> DiskMaker {
    switch storage {
    case .memory: { (limits, hasVault) throws(QueueError) in MemoryDisk(limits: limits, hasVault: hasVault) }
    case .sqlite:
      { (limits, hasVault) throws(QueueError) in
        try SQLiteDisk(
          below: parent, named: "explore-" + UUID().uuidString, limits: limits, hasVault: hasVault)
      }
    }
  }

  static let parent: String = {
    let memory = "/dev/shm"
    let isThere = FileManager.default.isWritableFile(atPath: memory)
    return isThere ? memory : FileManager.default.temporaryDirectory.path
  }()
}

/// Runs seeds on several threads, each the same as alone.
final class Explorer: Sendable {
  private let profile: ExplorationProfile
  private let storage: ExploredStorage
  private let plant: Plant?
  private let jobs: Int

  init(_ profile: ExplorationProfile, _ storage: ExploredStorage, _ plant: Plant? = nil, jobs: Int) {
    self.profile = profile
    self.storage = storage
    self.plant = plant
    self.jobs = jobs > 0 ? jobs : ProcessInfo.processInfo.activeProcessorCount
  }

  var exploration: Exploration {
    Exploration(profile: profile, plant: plant, disks: ExploredDisks.maker(storage))
  }

  /// All of them, or until one fails, if that is asked for.
  func run(_ seeds: Range<UInt64>, stopsAtFailure: Bool = false) throws(QueueError) -> ExplorationSum {
    let results = Results(jobs)
    let (count, jobs) = (UInt64(seeds.count), UInt64(self.jobs))
    DispatchQueue.concurrentPerform(iterations: self.jobs) { job in
      var sum = ExplorationSum()
      let exploration = self.exploration
      // Neighbouring seeds go to different threads, in turn.
      var offset = UInt64(job)
      do throws(QueueError) {
        while offset < count {
          sum.add(try exploration.live(seeds.lowerBound + offset))
          if stopsAtFailure, sum.failure != nil || results.hasFailed { break }
          offset += jobs
        }
        results.put(sum, nil, job)
      } catch {
        results.put(sum, error, job)
      }
    }
    return try results.sum()
  }
}

private final class Results: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var sums: [ExplorationSum?]
  private nonisolated(unsafe) var error: QueueError?
  private nonisolated(unsafe) var failed = false

  init(_ count: Int) { unsafe sums = Array(repeating: nil, count: count) }

  var hasFailed: Bool { lock.withLock { unsafe failed } }

  func put(_ sum: ExplorationSum, _ error: QueueError?, _ job: Int) {
    lock.withLock {
      unsafe sums[job] = sum
      if let error { unsafe self.error = error }
      if sum.failure != nil { unsafe failed = true }
    }
  }

  func sum() throws(QueueError) -> ExplorationSum {
    let (found, error) = lock.withLock { unsafe (sums, self.error) }
    if let error { throw error }
    var sum = ExplorationSum()
    for part in found { if let part { sum.add(part) } }
    return sum
  }
}
