package import PurchaseQueue

/// One thing for the driver to do. Everything that has to be durable before it is durable.
package enum SyncAction: Sendable, Hashable {
  /// Upload these entries of one lane. The lane is reserved, and nothing is recorded
  /// yet: prepare the request, take the lane's lease, then → `attemptBegins`, or `uploadFailed` if that is not possible.
  case send(lane: Lane, entries: [Entry])
  /// Finish the transaction at the store. → `finishEnded`
  case finish(Tombstone)
  /// Read the app receipt silently; hand it in if it holds this transaction. → `proofFound`, or nothing
  case readReceipt(EntryKey)
  /// Ask the store again for unfinished transactions. → `transactionArrived` for each, then `storeListed`. Or hand in
  /// what did not fit of the last list → `transactionArrived` for each, then `heldArrived`
  case listStore
  /// Ask the backend to let this account adopt what the device bought. → `adoptionEnded`
  case adopt(account: String)
  /// A step failed after another one had an effect. It is tried again at the next `timerFired`. The file may have to be
  /// opened again.
  case storageFailed(QueueError)
  /// Publish it to the app.
  case emit(SyncEvent)
  /// Call `timerFired` at this moment, or soon after.
  case wake(at: Timestamp)
}

/// Whether a prepared upload goes out.
package enum AttemptStart: Sendable, Hashable {
  /// The attempt and its cost are committed. Perform the actions and send. → `replyArrived` or `uploadFailed`
  case send([SyncAction])
  /// Not now, and nothing was recorded. The lane is free again. Give the lease back, then perform the actions.
  case hold([SyncAction])
}

extension [SyncAction] {
  /// The actions of a step after which others come. If it fails, that is an action too: the failure must not take back
  /// what other steps did.
  static func attempting(_ step: () throws(QueueError) -> [SyncAction]) -> [SyncAction] {
    do throws(QueueError) {
      return try step()
    } catch {
      return [.storageFailed(error)]
    }
  }
}
