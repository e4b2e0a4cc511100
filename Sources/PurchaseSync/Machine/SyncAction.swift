package import PurchaseQueue

/// One thing for the driver to do. Everything that has to be durable before it is durable.
package enum SyncAction: Sendable, Hashable {
  /// Upload these entries of one lane. The lane is reserved, and nothing is recorded
  /// yet: prepare the request, take the lane's lease, then → `attemptBegins`, or `uploadFailed` if that is not possible.
  case send(lane: Lane, entries: [Entry])
  /// Finish the transaction at the store. → `finishEnded`
  case finish(Tombstone)
  /// Look silently for a newer proof of this transaction, in the list and in the app receipt. → `proofFound`, or nothing
  case readProof(EntryKey)
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

/// Why waiting lanes are looked at before their time.
public enum WakeReason: Sendable, Hashable {
  /// The app came to the foreground.
  case foreground
  /// The network is back.
  case networkBack
  /// The user asked for it: what no Retry-After holds is sent at once, and costs nothing of the retry budget.
  case userAsked
  /// There are credentials for this account, new ones or again.
  case signedIn(account: String)
}

extension WakeReason {
  /// What the requests are for that it brings. Only a person who asks is not limited by the budget: the app calls the
  /// others at each launch.
  var purpose: RetryBudget.Purpose { self == .userAsked ? .person : .retry }

  /// Whether it is about this account, or about all of them.
  func concerns(_ account: String) -> Bool {
    if case .signedIn(let other) = self { other == account } else { true }
  }
}

/// How a call of the store's finish ended.
package enum FinishEnd: Sendable, Hashable {
  /// The store took it.
  case finished
  /// The store does not list the transaction. The finish stays pending until the store account that bought it is back,
  /// or until a listing shows that it is done.
  case notListed
  /// The store failed, did not answer in time, or the call was cancelled by `suspend`.
  case failed
}

/// How a request that adopts the device's purchases ended.
package enum AdoptionEnd: Sendable, Hashable {
  /// The backend took it.
  case taken
  /// It failed, for one of the reasons of an upload.
  case failed(UploadFailure)
}
