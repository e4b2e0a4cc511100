package import PurchaseQueue

/// The two versions of server notifications.
public enum NotificationVersion: Int, Sendable, Hashable, Codable, CaseIterable {
  /// Unsigned, with `unified_receipt`; deprecated.
  case one = 1
  /// Signed.
  case two = 2
}

/// A server notification on its way to the backend.
package struct OutgoingNotification: Sendable, Hashable, Identifiable, Codable {
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
  /// Its number in the log; nil for version 1.
  package var logNumber: Int?
}

/// The end of a notification.
package struct NotificationFate: Sendable, Hashable, Codable {
  /// The notification, without its body.
  package var notification: OutgoingNotification
  package var status: Int?
  package var isDelivered: Bool
}

/// The notifications that the store has to post: their time, order and attempts. A pure value without I/O.
///
/// "For version 2 it retries five times, at 1, 12, 24, 48, and 72 hours after the previous attempt; for version 1 three
/// times, at 6, 24, and 48 hours", and in the sandbox not at all (Apple, Responding to App Store Server Notifications).
public struct NotificationQueue: Sendable, Hashable, Codable {
  /// The versions that the backend gets; with none, nothing is queued.
  public var versions: Set<NotificationVersion> = []
  /// How many times each is posted, although the backend accepted it.
  public var copies = 1
  /// Further delays, assigned to notifications in turn, so that they arrive out of order.
  public var delays: [Duration] = []
  /// The divisor of the hours between attempts.
  public var hourDivisor: Int64 = 1
  /// The undelivered notifications, in order of creation.
  package var waiting: [OutgoingNotification] { queue.values.values.sorted { $0.id < $1.id } }
  /// The newest hundred notifications that were delivered or given up.
  package var fates: [NotificationFate] { ended.keys.sorted().compactMap { ended[$0] } }
  /// The notifications of version 2 with their attempts.
  package private(set) var log = NotificationLog()
  /// The number of notifications so far, without copies.
  package private(set) var madeCount = 0
  /// How many were delivered, copies counted.
  package private(set) var deliveredCount = 0
  package private(set) var abandonedCount = 0
  private var nextID = 1
  /// The waiting ones by id.
  private var queue = StoreRows<Int, OutgoingNotification>()
  /// The newest that ended, by the order of their ends.
  private var ended = StoreRows<Int, NotificationFate>()

  private static let keptFates = 100

  package init() {}

  /// The time of the next attempt; nil if no notification waits.
  package var nextDueAt: Timestamp? { queue.values.values.lazy.filter { !$0.isTaken }.map(\.dueAt).min() }

  mutating func add(_ notification: OutgoingNotification) {
    var notification = notification
    if !delays.isEmpty {
      notification.dueAt = notification.dueAt.adding(
        milliseconds: max(0, delays[madeCount % delays.count].inMilliseconds))
    }
    madeCount += 1
    notification.logNumber = log.add(notification)
    for _ in 0..<max(1, copies) {
      notification.id = nextID
      nextID += 1
      queue[notification.id] = notification
    }
  }

  /// Takes the due notifications, the earliest first. The caller settles each by its id.
  package mutating func take(now: Timestamp) -> [OutgoingNotification] {
    var taken: [OutgoingNotification] = []
    for notification in queue.values.values where notification.dueAt <= now && !notification.isTaken {
      queue[notification.id]?.isTaken = true
      taken.append(notification)
    }
    return taken.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
  }

  /// Records the backend's answer, an HTTP status or nil for none. 200 to 206 is success; everything else is posted
  /// again until the schedule ends. `retries` is false in the sandbox. An unknown id changes nothing.
  package mutating func settle(id: Int, status: Int?, retries: Bool, now: Timestamp) {
    guard var notification = queue[id] else { return }
    if let number = notification.logNumber { log.note(number, status: status, now: now) }
    if let status, 200...206 ~= status {
      deliveredCount += 1
      retire(notification, status: status, isDelivered: true)
      return
    }
    let hours = retries ? Self.hours(notification.version) : []
    let failures = notification.failures
    guard failures < hours.count else {
      abandonedCount += 1
      retire(notification, status: status, isDelivered: false)
      return
    }
    notification.failures += 1
    notification.isTaken = false
    let pause = max(1, hours[failures] * 3_600_000 / max(1, hourDivisor))
    notification.dueAt = now.adding(milliseconds: pause)
    queue[id] = notification
  }

  /// The hours between attempts.
  static func hours(_ version: OutgoingNotification.Version) -> [Int64] {
    version == .one ? [6, 24, 48] : [1, 12, 24, 48, 72]
  }

  private mutating func retire(_ notification: OutgoingNotification, status: Int?, isDelivered: Bool) {
    queue[notification.id] = nil
    var notification = notification
    notification.body = ""
    let number = deliveredCount + abandonedCount
    ended[number] = NotificationFate(notification: notification, status: status, isDelivered: isDelivered)
    if number > Self.keptFates { ended[number - Self.keptFates] = nil }
  }

  /// After a restart: what was being posted is posted again, because no answer is known.
  mutating func resume() {
    for id in queue.keys where queue[id]?.isTaken == true { queue[id]?.isTaken = false }
  }

  mutating func forgetChanges() {
    queue.forgetChanges()
    ended.forgetChanges()
    log.forgetChanges()
  }
}
