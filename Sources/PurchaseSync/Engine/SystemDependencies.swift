import Dispatch
package import Foundation
import PurchaseSQLite

/// The parts of the system that the engine uses apart from the wall clock: a thread, the monotonic clock, sleep and
/// random numbers. The simulator replaces them, so that a run of the engine follows from one seed.
package struct SystemDependencies: Sendable {
  /// A thread of its own, for each engine that is opened.
  package var executor: @Sendable () -> any SerialExecutor
  /// The monotonic clock.
  package var uptime: @Sendable () -> ContinuousClock.Instant
  /// Returns after so many milliseconds of that clock; throws when the task is cancelled.
  package var sleep: @Sendable (_ milliseconds: Int64) async throws -> Void
  /// Sleeps for a time limit. The time while the device sleeps does not count.
  package var patience: @Sendable (_ milliseconds: Int64) async throws -> Void
  /// 64 unpredictable bits.
  package var random: @Sendable () -> UInt64
  /// A unique name.
  package var uuid: @Sendable () -> UUID
  /// Runs blocking work elsewhere, once.
  package var elsewhere: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
  /// Sees what an engine and its shop do: the judge of a test. Nil in an app. Called on any thread.
  package var sight: (@Sendable (EngineSight) -> Void)?

  package init(
    executor: @escaping @Sendable () -> any SerialExecutor,
    uptime: @escaping @Sendable () -> ContinuousClock.Instant,
    sleep: @escaping @Sendable (Int64) async throws -> Void,
    patience: @escaping @Sendable (Int64) async throws -> Void,
    random: @escaping @Sendable () -> UInt64, uuid: @escaping @Sendable () -> UUID,
    elsewhere: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.executor = executor
    self.uptime = uptime
    self.sleep = sleep
    self.patience = patience
    self.random = random
    self.uuid = uuid
    self.elsewhere = elsewhere
  }

  /// The system's own.
  package static let live = SystemDependencies(
    executor: { BlockingExecutor(label: "purchase-sync") },
    uptime: { ContinuousClock.now },
    sleep: { try await Task.sleep(for: .milliseconds($0)) },
    patience: { try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000) },
    random: { UInt64.random(in: .min ... .max) },
    uuid: { UUID() },
    elsewhere: { BlockingExecutor.runBlocking($0) })
}
