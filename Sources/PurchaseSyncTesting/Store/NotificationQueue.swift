package import PurchaseQueue

/// The two versions of server notifications.
public enum NotificationVersion: Int, Sendable, Hashable, Codable, CaseIterable {
  /// Unsigned, with `unified_receipt`; deprecated.
  case one = 1
  /// Signed.
  case two = 2
}

/// A server notification on its way to the backend.
package struct OutgoingNotification: Sendable, Hashable, Identifiable {
  package typealias Version = NotificationVersion

  package var id: Int
  /// `notificationUUID`: the same for all copies and attempts.
  package var notificationID: String
  package var version: Version
  /// `notification_type` or `notificationType`.
  package var kind: String
  package var subtype: String?
  package var transactionID: String
  /// The JSON of the POST. Holds proofs, and the shared secret: not for logs.
  package var body: String
  package var createdAt: Timestamp
  package var dueAt: Timestamp
  package var failures = 0
  /// Whether it is being posted now.
  package var isTaken = false
}

/// The end of a notification.
package struct NotificationFate: Sendable, Hashable {
  /// The notification, without its body.
  package var notification: OutgoingNotification
  package var status: Int?
  package var isDelivered: Bool
}

/// The notifications that the store has to post: their time, order and attempts. A pure value without I/O.
///
/// "For version 2 it retries five times, at 1, 12, 24, 48, and 72 hours after the previous attempt; for version 1 three
/// times, at 6, 24, and 48 hours", and in the sandbox not at all (Apple, Responding to App Store Server Notifications).
public struct NotificationQueue: Sendable, Hashable {
  /// The versions that the backend gets; with none, nothing is queued.
  public var versions: Set<NotificationVersion> = []
  /// How many times each is posted, although the backend accepted it.
  public var copies = 1
  /// Further delays, assigned to notifications in turn, so that they arrive out of order.
  public var delays: [Duration] = []
  /// The divisor of the hours between attempts.
  public var hourDivisor: Int64 = 1
  /// The undelivered notifications, in order of creation.
  package private(set) var waiting: [OutgoingNotification] = []
  /// The newest hundred notifications that were delivered or given up.
  package private(set) var fates: [NotificationFate] = []
  /// The number of notifications so far, without copies.
  package private(set) var madeCount = 0
  /// How many were delivered, copies counted.
  package private(set) var deliveredCount = 0
  package private(set) var abandonedCount = 0
  private var nextID = 1

  private static let keptFates = 100

  package init() {}

  /// The time of the next attempt; nil if no notification waits.
  package var nextDueAt: Timestamp? { waiting.lazy.filter { !$0.isTaken }.map(\.dueAt).min() }

  mutating func add(_ notification: OutgoingNotification) {
    var notification = notification
    if !delays.isEmpty {
      notification.dueAt = notification.dueAt.adding(
        milliseconds: max(0, delays[madeCount % delays.count].inMilliseconds))
    }
    madeCount += 1
    for _ in 0..<max(1, copies) {
      notification.id = nextID
      nextID += 1
      waiting.append(notification)
    }
  }

  /// Takes the due notifications, the earliest first. The caller settles each by its id.
  package mutating func take(now: Timestamp) -> [OutgoingNotification] {
    var taken: [OutgoingNotification] = []
    for index in waiting.indices where waiting[index].dueAt <= now && !waiting[index].isTaken {
      waiting[index].isTaken = true
      taken.append(waiting[index])
    }
    return taken.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
  }

  /// Records the backend's answer, an HTTP status or nil for none. 200 to 206 is success; everything else is posted
  /// again until the schedule ends. `retries` is false in the sandbox. An unknown id changes nothing.
  package mutating func settle(id: Int, status: Int?, retries: Bool, now: Timestamp) {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
    if let status, 200...206 ~= status {
      deliveredCount += 1
      retire(index, status: status, isDelivered: true)
      return
    }
    let hours = retries ? Self.hours(waiting[index].version) : []
    let failures = waiting[index].failures
    guard failures < hours.count else {
      abandonedCount += 1
      retire(index, status: status, isDelivered: false)
      return
    }
    waiting[index].failures += 1
    waiting[index].isTaken = false
    let pause = max(1, hours[failures] * 3_600_000 / max(1, hourDivisor))
    waiting[index].dueAt = now.adding(milliseconds: pause)
  }

  /// The hours between attempts.
  static func hours(_ version: OutgoingNotification.Version) -> [Int64] {
    version == .one ? [6, 24, 48] : [1, 12, 24, 48, 72]
  }

  private mutating func retire(_ index: Int, status: Int?, isDelivered: Bool) {
    var notification = waiting.remove(at: index)
    notification.body = ""
    fates.append(NotificationFate(notification: notification, status: status, isDelivered: isDelivered))
    if fates.count > Self.keptFates { fates.removeFirst(fates.count - Self.keptFates) }
  }
}
