public import Foundation
import PurchaseQueue
import PurchaseSQLite

/// What store and backend do by themselves as time passes.
extension MockServer {
  /// Does the work of store and backend that is due now: charges renewals, posts notifications, and runs the backend's
  /// job every 12 hours (R3.9). Call it repeatedly. Nothing is posted that could not be written to the file.
  ///
  /// - Parameters:
  ///   - atOnce: How many notifications are posted at the same time, so that a slow receiver does not delay the others.
  ///     Those of one transaction are posted one after another. With 1 all are, in the order in which they are due.
  ///   - post: Posts a body as `application/json` to the backend and returns the HTTP status; nil for no answer.
  /// - Returns: How many notifications were posted.
  @discardableResult
  public func goOn(atOnce: Int = 1, post: @escaping @Sendable (Data) async -> Int?) async -> Int {
    let moment = moment
    // Without a look at what is due, each call would compare the whole store with its file.
    if mock.withLock({ $0.store.isStepDue(at: moment) }) { withStore { $0.advance(to: moment) } }
    await runDueJob(now: moment)
    guard mock.withLock({ $0.store.notifications.nextDueAt.map { $0 <= moment } ?? false }) else { return 0 }
    let now = now()
    let (due, isKept) = mock.withLock { ($0.store.takeNotifications(now: moment), $0.keepNow(now: now)) }
    guard isKept else {
      setBackLosses()
      return 0
    }
    let sequences = atOnce > 1 ? Self.sequences(of: due) : [due]
    await withTaskGroup(of: Void.self) { group in
      var waiting = sequences[...]
      func begin() {
        guard let sequence = waiting.popFirst() else { return }
        group.addTask { await self.post(sequence, now: moment, post) }
      }
      for _ in 0..<max(1, atOnce) { begin() }
      while await group.next() != nil { begin() }
    }
    return due.count
  }

  private func post(
    _ sequence: [OutgoingNotification], now: Timestamp, _ post: @Sendable (Data) async -> Int?
  ) async {
    for notification in sequence {
      let status = await post(Data(notification.body.utf8))
      withStore { $0.settleNotification(id: notification.id, status: status, now: now) }
    }
  }

  /// The notifications of each transaction, in their order. The transaction with the earliest one is the first.
  static func sequences(of due: [OutgoingNotification]) -> [[OutgoingNotification]] {
    var sequences: [[OutgoingNotification]] = []
    var places: [String: Int] = [:]
    for notification in due {
      if let place = places[notification.transactionID] {
        sequences[place].append(notification)
      } else {
        places[notification.transactionID] = sequences.count
        sequences.append([notification])
      }
    }
    return sequences
  }
}
