import Foundation
import PurchaseSyncTesting

/// Kills a child from outside when the world sees a certain request, before or after handling it.
final class Executioner: Sendable {
  /// The request that the child does not survive.
  struct Order: Sendable {
    /// The n-th that fits; the first is 1.
    var ordinal: Int
    var phase: RequestMoment.Phase
    /// How its path has to begin.
    var path = ""
  }

  private let lock = NSLock()
  private nonisolated(unsafe) var child: ChildProcess?
  private nonisolated(unsafe) var order: Order?
  private nonisolated(unsafe) var seen = 0

  /// Watches a child that has just been started; nil for no order.
  func watch(_ child: ChildProcess?, order: Order?) {
    lock.lock()
    defer { lock.unlock() }
    unsafe self.child = child
    unsafe self.order = order
    unsafe seen = 0
  }

  /// To be called by the world's server.
  func requestPassed(_ moment: RequestMoment) {
    lock.lock()
    defer { lock.unlock() }
    guard let order = unsafe order, moment.phase == order.phase, moment.path.hasPrefix(order.path) else {
      return
    }
    unsafe seen += 1
    if unsafe seen == order.ordinal { unsafe child?.kill() }
  }
}
