import PurchaseQueue

/// The machine's view of the store: transactions to finish, transactions that it keeps, and its account.
struct StoreSide: Hashable {
  var finishes = FinishTable()
  var overflow = StoreOverflow.none
  /// Whether the last transaction that did not fit lacked the capacity that duties of settled entries take.
  var isFullOfDuties = false
  /// The store account of the last listing; nil if it is not known.
  var account: String?

  /// The clock went back.
  mutating func follow(_ jump: ClockJump) {
    finishes.follow(jump)
    overflow.follow(jump)
  }
}
