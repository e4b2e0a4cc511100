package import PurchaseQueue

/// What the app says about the device's purchases.
extension SyncMachine {
  /// The app says that the device's purchases are this account's.
  package mutating func adoptionRequested(
    by account: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    try adoptions.request(by: account, in: adoptionStorage)
    return sendAdoptions(now: now)
  }

  /// The account takes its request back. False if this process has sent it.
  package mutating func adoptionWithdrawn(
    by account: String, now: Timestamp
  ) throws(QueueError) -> (isWithdrawn: Bool, actions: [SyncAction]) {
    advance(to: now)
    let isWithdrawn = try adoptions.withdraw(account, in: adoptionStorage)
    return (isWithdrawn, sendAdoptions(now: now))
  }
}
