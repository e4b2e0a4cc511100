/// Assigned seats, which another person has paid.
extension LeanBackend {
  /// Whether a seat says nothing of its subscription's owner, nor that one of it: the first transaction is the purchaser's, or
  /// is not known here (`BackendModel.isApart`).
  func isApart(_ sale: Int, _ store: LeanStore) -> Bool {
    let first = store.sales[sale].original
    guard store.sales[sale].isSeat, first != sale else { return false }
    return !store.sales[first].isSeat || first >= isKnown.count || !isKnown[first]
  }

  /// Invariant 45: whether a seat counts once if its verdict says so, fulfils no order, and is with a device that has shown it,
  /// or with an account that has adopted one. The store's record names no account as its owner, whosever token it carries.
  /// Nil for every other sale.
  func isSeatMembers(_ sale: Int, _ answer: Answer, _ store: LeanStore) -> Bool? {
    guard store.sales[sale].isSeat else { return nil }
    guard answer.order == nil else { return false }
    guard let credit = credit(of: sale) else {
      return ![.granted, .duplicate, .otherOwner].contains(answer.ruling)
    }
    let isShown = credit.owner < 0 || adoptions.contains { $0.account == credit.owner }
    return isShown && credit.order == nil && count(of: sale) == 1
  }
}
