import Foundation
import PurchaseSQLite

/// Tells when the app goes to the background and comes back, by the system's notifications. By their names, so that the
/// module needs no user interface: it is for app extensions and tools, too.
struct AppVisits: Sendable {
  /// True for the foreground, in the order of the notifications.
  let changes: AsyncStream<Bool>

  static let background = [Notification.Name("UIApplicationDidEnterBackgroundNotification")]
  static let foreground = [
    Notification.Name("UIApplicationDidBecomeActiveNotification"),
    Notification.Name("NSApplicationDidBecomeActiveNotification"),
  ]

  init(_ center: NotificationCenter) {
    let observers = Locked<[any NSObjectProtocol]>([])
    changes = AsyncStream { changes in
      for (names, isForeground) in [(Self.foreground, true), (Self.background, false)] {
        for name in names {
          let observer = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            changes.yield(isForeground)
          }
          observers.withLock { $0.append(observer) }
        }
      }
      changes.onTermination = { _ in
        for observer in observers.withLock({ $0 }) { center.removeObserver(observer) }
      }
    }
  }
}
