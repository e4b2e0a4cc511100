import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where a process is to be killed: at the n-th passage of a named failpoint, or at the n-th passage of any.
///
/// The engine calls its hook at each boundary between two durable steps; this decides there. The process raises
/// SIGKILL against itself: no handler runs, no buffer is flushed, as if the system had killed it.
public final class Failpoints: Sendable {
  /// One place to die.
  public enum Moment: Sendable, Hashable {
    /// At the n-th passage (from 1) of the failpoint of that name.
    case passage(of: String, hit: Int)
    /// At the n-th passage (from 1) of whatever failpoint.
    case any(hit: Int)
  }

  private let moment: Moment?
  private let lock = NSLock()
  private nonisolated(unsafe) var passages: [String: Int] = [:]
  private nonisolated(unsafe) var total = 0

  private let onPass: @Sendable (String) -> Void

  /// Nil never kills; passages are counted all the same. `onPass` hears of each, also of the last one.
  public init(_ moment: Moment?, onPass: @escaping @Sendable (String) -> Void = { _ in }) {
    self.moment = moment
    self.onPass = onPass
  }

  /// To be called at a failpoint. May not return.
  public func pass(_ name: String) {
    onPass(name)
    if isFatal(name) { raise(SIGKILL) }
  }

  private func isFatal(_ name: String) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    unsafe total += 1
    unsafe passages[name, default: 0] += 1
    switch moment {
    case .passage(let wanted, let hit): return unsafe wanted == name && passages[name] == hit
    case .any(let hit): return unsafe total == hit
    case nil: return false
    }
  }

  /// How often each failpoint was passed.
  public var counts: [String: Int] {
    lock.lock()
    defer { lock.unlock() }
    return unsafe passages
  }
}
