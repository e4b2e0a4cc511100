package import PurchaseQueue

/// One thing for the driver to do.
package enum SyncAction: Sendable, Hashable {
  /// Upload these entries of one lane; they share the first one's proof. Their attempt is committed.
  case send(lane: Lane, entries: [Entry])
  /// Tell the store that the transaction is done. Its acknowledgement is committed.
  case finish(Tombstone)
  /// Tell the app.
  case emit(SyncEvent)
  /// Call `timerFired` at this moment, or soon after.
  case wake(at: Timestamp)
}
