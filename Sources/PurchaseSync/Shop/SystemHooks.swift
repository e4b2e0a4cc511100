import Foundation
import PurchaseSQLite

/// What a shop receives from the system around the app, and asks of it. Tests pass their own.
struct SystemHooks: Sendable {
  /// Where the system reports the background and the foreground; nil if the app reports them itself.
  var notifications: NotificationCenter?
  /// Follows the network; nil where the system has no monitor.
  var network: NetworkPath.Monitor?
  /// Time to finish what is under way when the app goes to the background.
  var backgroundTime: BackgroundTime

  init(
    notifications: NotificationCenter? = nil, network: NetworkPath.Monitor? = nil,
    backgroundTime: BackgroundTime = BackgroundTime()
  ) {
    self.notifications = notifications
    self.network = network
    self.backgroundTime = backgroundTime
  }

  /// The system's own.
  static func of(_ lifecycle: Shop.Lifecycle) -> SystemHooks {
    SystemHooks(
      notifications: lifecycle == .automatic ? .default : nil, network: NetworkPath.system)
  }
}

/// Reports when the app goes to the background and comes back, by the system's notifications. By their names, so that
/// the module needs no user interface: it is for app extensions and tools, too. Each process receives those of its own
/// kind only: UIKit's (iOS, Catalyst, tvOS, visionOS), AppKit's, WatchKit's, or those of an extension about its host
/// app. They are about the whole app, in whichever scene it is used, so a scene's phase is not needed.
struct ForegroundChanges: Sendable {
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
