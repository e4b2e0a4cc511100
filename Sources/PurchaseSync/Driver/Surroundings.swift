import Dispatch
package import Foundation
import PurchaseSQLite

/// What the engine has of the system beside the wall clock: its thread, a clock that nobody sets, sleep and chance. The
/// simulator brings its own, so that a run of the engine follows from one number.
package struct Surroundings: Sendable {
  /// A thread of its own, for each engine that is opened.
  package var executor: @Sendable () -> any SerialExecutor
  /// A clock that nobody sets.
  package var uptime: @Sendable () -> ContinuousClock.Instant
  /// Until so many milliseconds have passed by that clock; throws when the task is cancelled.
  package var sleep: @Sendable (_ milliseconds: Int64) async throws -> Void
  /// The same for calls that take too long: what a device sleeps through is not counted.
  package var patience: @Sendable (_ milliseconds: Int64) async throws -> Void
  /// 64 bits that nobody foresees.
  package var random: @Sendable () -> UInt64
  /// A name that nobody else has.
  package var uuid: @Sendable () -> UUID
  /// Runs blocking work elsewhere, once.
  package var elsewhere: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

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
  package static let system = Surroundings(
    executor: { BlockingExecutor(label: "purchase-sync") },
    uptime: { ContinuousClock.now },
    sleep: { try await Task.sleep(for: .milliseconds($0)) },
    patience: { try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000) },
    random: { UInt64.random(in: .min ... .max) },
    uuid: { UUID() },
    elsewhere: { BlockingExecutor.beside($0) })
}
