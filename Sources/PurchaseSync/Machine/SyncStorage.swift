package import Foundation
package import PurchaseQueue

/// What the machine needs of the queue's file. Every call that returns is durable.
package protocol SyncStorage {
  func order(accountToken: UUID) throws(QueueError) -> Order?
  /// Entry, proof and binding in one commit.
  func enqueue(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued
  func lanes() throws(QueueError) -> [Lane]
  func entries(in lane: Lane, limit: Int) throws(QueueError) -> [Entry]
  func recordAttempt(_ keys: [EntryKey], now: Timestamp) throws(QueueError)
  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError)
  /// False if the quarantine is full: the entry stays in its lane.
  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool
  func acknowledge(_ settlements: [Settlement], now: Timestamp) throws(QueueError) -> [Tombstone]
  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone?
  func tombstonesWithDuties() throws(QueueError) -> [Tombstone]
  func markFinished(_ key: EntryKey) throws(QueueError)
  func markSeen(_ key: EntryKey) throws(QueueError)
}
