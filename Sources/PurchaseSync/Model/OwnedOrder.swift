import PurchaseQueue

/// An order that the store answered with an earlier transaction.
struct OwnedOrder: Hashable {
  /// What the backend said to the order's account about the transaction.
  struct Answer: Hashable {
    /// As the outcome of a tombstone of the device lane.
    var outcome: String
    var settledAt: Timestamp
  }

  var number: String
  var account: String
  /// The earlier transaction. Its outcome is the order's, too.
  var key: EntryKey
  /// Nil if the backend was not asked for this order.
  var answer: Answer?

  init(number: String, account: String, key: EntryKey, answer: Answer? = nil) {
    self.number = number
    self.account = account
    self.key = key
    self.answer = answer
  }

  /// The outcome for the order's account, from the tombstone of the transaction. Nil if that does not say whether the
  /// purchase is this account's: the device lane's answer depends on who was signed in then.
  func answer(in tombstone: Tombstone) -> Tombstone? {
    guard let answer else { return isKnown(in: tombstone) ? tombstone : nil }
    var answered = tombstone
    answered.lane = .device
    answered.outcome = answer.outcome
    answered.settledAt = answer.settledAt
    return answered
  }

  private func isKnown(in tombstone: Tombstone) -> Bool {
    let lane = tombstone.lane
    // A question that the app has discarded is not asked again.
    if lane == .account(account) || lane == .question(of: account) { return true }
    if tombstone.outcome == Tombstone.discarded { return true }
    guard tombstone.owner == .yours else { return false }
    return lane.account != nil || tombstone.provenBy.isSameAccount(as: account)
  }
}
