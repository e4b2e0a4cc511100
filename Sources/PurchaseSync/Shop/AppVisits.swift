import Foundation
import PurchaseSQLite

/// Reports when the app goes to the background and comes back, by the system's notifications. By their names, so that
/// the module needs no user interface: it is for app extensions and tools, too. Each process receives those of its own
/// kind only: UIKit's (iOS, Catalyst, tvOS, visionOS), AppKit's, WatchKit's, or those of an extension about its host
/// app. They are about the whole app, in whichever scene it is used, so a scene's phase is not needed.
struct AppVisits: Sendable {
  /// True for the foreground, in the order of the notifications.
  let changes: AsyncStream<Bool>

  /// AppKit has none: macOS does not suspend an app that shows no window.
  static let background = [
    Notification.Name("UIApplicationDidEnterBackgroundNotification"),
    Notification.Name("WKApplicationDidEnterBackgroundNotification"),
    Notification.Name("NSExtensionHostDidEnterBackgroundNotification"),
  ]
  static let foreground = [
    Notification.Name("UIApplicationDidBecomeActiveNotification"),
    Notification.Name("NSApplicationDidBecomeActiveNotification"),
    Notification.Name("WKApplicationDidBecomeActiveNotification"),
    Notification.Name("NSExtensionHostDidBecomeActiveNotification"),
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
