package import PurchaseQueue

/// One thing for the driver to do. Whatever has to be durable before it, is.
package enum SyncAction: Sendable, Hashable {
  /// Upload these entries of one lane; they share the first one's proof. → `replyArrived` or `uploadFailed`
  case send(lane: Lane, entries: [Entry])
  /// Tell the store that the transaction is done. → `finishEnded`
  case finish(Tombstone)
  /// Read the app receipt silently; hand it in if it holds this transaction. → `proofFound`, or nothing
  case readReceipt(EntryKey)
  /// Ask the store again for what is unfinished. → `transactionArrived` for each, then `storeListed`
  case listStore
  /// Claim what the device bought, in this account's name. → `claimEnded`
  case claim(account: String)
  /// A step failed after something else was done. What was to come is tried again at the next `timerFired`; the file
  /// may have to be opened anew.
  case storageFailed(QueueError)
  /// Tell the app.
  case emit(SyncEvent)
  /// Call `timerFired` at this moment, or soon after.
  case wake(at: Timestamp)
}
