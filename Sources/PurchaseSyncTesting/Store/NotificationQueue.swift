public import PurchaseQueue

/// A server notification on its way to the backend.
public struct OutgoingNotification: Sendable, Hashable, Identifiable {
  /// The two forms.
  public enum Version: Int, Sendable, Hashable, Codable, CaseIterable {
    /// Unsigned, with `unified_receipt`; deprecated.
    case one = 1
    /// Signed.
    case two = 2
  }

  /// Unique in its queue; a copy has its own.
  public var id: Int
  /// `notificationUUID`: the same for all copies and attempts.
  public var notificationID: String
  /// Its form.
  public var version: Version
  /// `notification_type` or `notificationType`.
  public var kind: String
  /// `subtype`, if any.
  public var subtype: String?
  /// The transaction that it is about.
  public var transactionID: String
  /// The JSON of the POST. Holds proofs, and the shared secret: not for logs.
  public var body: String
  /// When the store had it to tell.
  public var createdAt: Timestamp
  /// When it is to be posted next.
  public var dueAt: Timestamp
  /// How often it was posted without success.
  public var failures = 0
  /// Whether a poster has it now.
  public var isTaken = false
}

/// What has become of a notification.
public struct NotificationFate: Sendable, Hashable {
  /// Which; its body is gone.
  public var notification: OutgoingNotification
  /// The last answer's HTTP status; nil for none.
  public var status: Int?
  /// False if the store gave up.
  public var isDelivered: Bool
}

/// The notifications that the store has to post: when, how often, in which order. A pure value; somebody else posts.
///
/// "For version 2 it retries five times, at 1, 12, 24, 48, and 72 hours after the previous attempt; for version 1 three
/// times, at 6, 24, and 48 hours", and in the sandbox not at all (Apple, Responding to App Store Server Notifications).
public struct NotificationQueue: Sendable, Hashable {
  /// Which forms the backend gets; none, and nothing is queued.
  public var versions: Set<OutgoingNotification.Version> = []
  /// How often each is posted although the backend took it.
  public var copies = 1
  /// Further milliseconds that notifications wait, one after the other and round again: so they arrive out of order.
  public var delays: [Int64] = []
  /// How much shorter the hours between attempts are.
  public var hourDivisor: Int64 = 1
  /// Not delivered yet, in the order in which they were made.
  public private(set) var waiting: [OutgoingNotification] = []
  /// Delivered or given up: the newest hundred.
  public private(set) var fates: [NotificationFate] = []
  /// How many notifications the store had to tell, copies not counted.
  public private(set) var madeCount = 0
  /// How many were delivered, copies counted.
  public private(set) var deliveredCount = 0
  /// How many the store gave up.
  public private(set) var abandonedCount = 0
  private var nextID = 1

  private static let keptFates = 100

  /// Empty, for a backend that gets none.
  public init() {}

  /// When the next one is to be posted; nil if none waits.
  public var nextDueAt: Timestamp? { waiting.lazy.filter { !$0.isTaken }.map(\.dueAt).min() }

  mutating func add(_ notification: OutgoingNotification) {
    var notification = notification
    if !delays.isEmpty {
      notification.dueAt = notification.dueAt.adding(milliseconds: max(0, delays[madeCount % delays.count]))
    }
    madeCount += 1
    for _ in 0..<max(1, copies) {
      notification.id = nextID
      nextID += 1
      waiting.append(notification)
    }
  }

  /// Takes what is due, the earliest first. Each has to be settled by its id.
  public mutating func take(now: Timestamp) -> [OutgoingNotification] {
    var taken: [OutgoingNotification] = []
    for index in waiting.indices where waiting[index].dueAt <= now && !waiting[index].isTaken {
      waiting[index].isTaken = true
      taken.append(waiting[index])
    }
    return taken.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
  }

  /// The backend's answer, an HTTP status, or nil for none: 200 to 206 is success, everything else is tried again later
  /// until the schedule ends. `retries` is false in the sandbox. An unknown id changes nothing.
  public mutating func settle(id: Int, status: Int?, retries: Bool, now: Timestamp) {
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
