package import PurchaseQueue
import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A boundary in the environment of the engine: the simulated app's own steps, its transport and its store.
public enum AppCheckpoint: String, CaseIterable, Sendable {
  /// The payment sheet is about to be shown.
  case paymentBefore = "payment.before"
  /// The store has charged; the app does not know it yet.
  case paymentAfter = "payment.after"
  /// A request is about to be handed to the network.
  case transportSend = "transport.send"
  /// A response has come from the network.
  case transportAnswered = "transport.answered"
  /// The store has listed its unfinished transactions.
  case storeListed = "store.listed"
  /// The call that finishes a transaction is about to be made.
  case storeFinish = "store.finish"
  /// The store has finished the transaction.
  case storeFinished = "store.finished"
}

/// Counts the checkpoints that a process passes, and kills the process at a chosen one.
///
/// The process sends SIGKILL to itself: no handler runs and no buffer is flushed, as if the system had killed it.
public final class Checkpoints: Sendable {
  /// The passage at which the process is killed.
  public enum Moment: Sendable, Hashable {
    /// The n-th passage (from 1) of the checkpoint with that name.
    case passage(of: String, hit: Int)
    /// The n-th passage (from 1) of any checkpoint.
    case any(hit: Int)
  }

  private let moment: Moment?
  private let passages = Locked<[String: Int]>([:])
  private let onPass: @Sendable (String) -> Void

  /// Without a moment, checkpoints are counted and the process is not killed. `onPass` is called with the name of
  /// each checkpoint, before the kill.
  public init(_ moment: Moment?, onPass: @escaping @Sendable (String) -> Void = { _ in }) {
    self.moment = moment
    self.onPass = onPass
  }

  /// Passes a checkpoint of the product. Does not return if the process is killed there.
  package func pass(_ checkpoint: Checkpoint) { pass(named: checkpoint.rawValue) }

  /// Passes a checkpoint of the environment. Does not return if the process is killed there.
  public func pass(_ checkpoint: AppCheckpoint) { pass(named: checkpoint.rawValue) }

  /// Passes a checkpoint of another process, such as the simulated backend.
  package func pass(named name: String) {
    onPass(name)
    if isFatal(name) { raise(SIGKILL) }
  }

  private func isFatal(_ name: String) -> Bool {
    let counts = passages.withLock { passages in
      passages[name, default: 0] += 1
      return passages
    }
    switch moment {
    case .passage(let wanted, let hit): return wanted == name && counts[name] == hit
    case .any(let hit): return counts.values.reduce(0, +) == hit
    case nil: return false
    }
  }

  /// How often each checkpoint was passed.
  public var counts: [String: Int] { passages.value }
}
