import Foundation

/// What a shop receives from the system around the app, and asks of it. Tests pass their own.
struct Surroundings: Sendable {
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
  static func of(_ lifecycle: Shop.Lifecycle) -> Surroundings {
    Surroundings(
      notifications: lifecycle == .automatic ? .default : nil, network: NetworkPath.system)
  }
}
