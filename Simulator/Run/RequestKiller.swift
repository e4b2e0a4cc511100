import CommandLineTools
import Foundation
import PurchaseSQLite
import PurchaseSyncTesting

/// Kills a child process when the mock server sees a certain request, before or after the request is handled.
final class RequestKiller: Sendable {
  /// The request at which the child is killed.
  struct Order: Sendable {
    /// The n-th request that fits; the first is 1.
    var ordinal: Int
    var phase: RequestMoment.Phase
    /// How its path has to begin.
    var path = ""
  }

  private struct Watch {
    var child: ChildProcess?
    var order: Order?
    var seen = 0
  }

  private let watched = Locked(Watch())

  /// Watches a child that has just been started; nil for no order.
  func watch(_ child: ChildProcess?, order: Order?) {
    watched.withLock { $0 = Watch(child: child, order: order) }
  }

  /// To be called by the mock server.
  func requestPassed(_ moment: RequestMoment) {
    watched.withLock { watch in
      guard let order = watch.order, moment.phase == order.phase, moment.path.hasPrefix(order.path) else {
        return
      }
      watch.seen += 1
      if watch.seen == order.ordinal { watch.child?.kill() }
    }
  }
}
