package import PurchaseQueue

/// A notification of version 2 that the store made, and its attempts to post it.
package struct LoggedNotification: Sendable, Hashable, Codable {
  package struct Attempt: Sendable, Hashable, Codable {
    package var attemptedAt: Timestamp
    /// The HTTP status; nil for no answer.
    package var status: Int?

    /// 200 to 206.
    package var isSuccess: Bool { status.map { 200...206 ~= $0 } ?? false }
  }

  /// Counts the notifications of the log.
  package var number: Int
  package var notificationID: String
  package var kind: String
  package var subtype: String?
  /// Empty for a notification that is about no transaction.
  package var transactionID: String
  package var createdAt: Timestamp
  /// The JSON of the POST: holds proofs, not for logs.
  package var body: String
  /// At most six: the first and five more.
  package var attempts: [Attempt] = []

  package var isDelivered: Bool { attempts.contains(where: \.isSuccess) }
}

/// The notifications of version 2, for *Get Notification History*. It keeps the newest 5,000.
package struct NotificationLog: Sendable, Hashable, Codable {
  private var rows = StoreRows<Int, LoggedNotification>()
  private var madeCount = 0

  private static let capacity = 5_000

  /// In the order in which they were made.
  package var entries: [LoggedNotification] { rows.values.values.sorted { $0.number < $1.number } }

  /// Returns the number of the notification in the log; nil for version 1, which has no history.
  mutating func add(_ notification: OutgoingNotification) -> Int? {
    guard notification.version == .two else { return nil }
    madeCount += 1
    rows[madeCount] = LoggedNotification(
      number: madeCount, notificationID: notification.notificationID, kind: notification.kind,
      subtype: notification.subtype, transactionID: notification.transactionID,
      createdAt: notification.createdAt, body: notification.body)
    rows[madeCount - Self.capacity] = nil
    return madeCount
  }

  mutating func forgetChanges() { rows.forgetChanges() }

  /// Records an attempt; a notification that is no longer kept changes nothing.
  mutating func note(_ number: Int, status: Int?, now: Timestamp) {
    rows[number]?.attempts.append(.init(attemptedAt: now, status: status))
  }
}
