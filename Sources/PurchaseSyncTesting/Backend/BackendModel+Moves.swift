import AppStoreReceipts
import PurchaseSync

/// Ledger lines that were written before the owner was known.
extension BackendModel {
  /// The ruling on a claim about a credited transaction whose line gets another owner; nil if it keeps its owner.
  ///
  /// | the line | moves to |
  /// | --- | --- |
  /// | has no order or another one, and the token names one that is known by now | the order's account, and fulfils the order |
  /// | has no token, and that of another transaction of its bundle's payment names an order | the order's account |
  /// | has no order, and another transaction of its bundle's payment fulfils one | the order's account |
  /// | is a device's, has no order, and an account has another transaction of its bundle's payment | that account |
  /// | is a device's, no account has adopted it, and it can be restored | the device or account that proves it now |
  ///
  /// An order that a device made is registered after its payment, and another device may have reported the transaction
  /// before. A person who bought without an account gets a new phone, whose name is another one.
  func moved(
    _ credit: Credit, _ facts: VerifiedTransaction, _ isConsumable: Bool, to uploader: Uploader
  ) -> Ruling? {
    if let order = tokenOrder(of: facts) { return named(credit, order, facts, to: uploader) }
    guard let next = heir(of: credit, facts, isConsumable, provenBy: uploader), owner(of: credit) != next
    else { return nil }
    let verdict: Verdict = next != uploader ? .otherOwner : uploader.account == nil ? .duplicate : .granted
    var ruling = Ruling(verdict, writes: moves(of: credit, to: next))
    if case .creditMoved(let moved)? = ruling.writes.first {
      ruling.writes += others(inBundleOf: facts, after: moved)
    }
    ruling.isForNewOwner = true
    return ruling
  }

  /// Gives a line to its payer, without an order: the one that it fulfilled was a guess, and waits again.
  func moves(of credit: Credit, to owner: Uploader) -> [BackendWrite] {
    var moved = credit
    (moved.owner, moved.orderNumber) = (owner, nil)
    return [.creditMoved(moved)] + freed(credit)
  }

  private func freed(_ credit: Credit) -> [BackendWrite] {
    credit.orderNumber.flatMap { order(number: $0) }.map { [.order($0.waitingAgain())] } ?? []
  }

  /// The owner of a line without a token from now on; nil if it stays where it is.
  private func heir(
    of credit: Credit, _ facts: VerifiedTransaction, _ isConsumable: Bool, provenBy uploader: Uploader
  ) -> Uploader? {
    if let named = namedPayer(ofBundle: facts) { return named }
    guard credit.orderNumber == nil else { return nil }
    if let orderer = orderer(ofBundle: facts) { return orderer }
    guard !isConsumable, case .device = owner(of: credit) else { return nil }
    return payer(ofBundle: facts) ?? uploader
  }

  private func named(
    _ credit: Credit, _ order: BackendOrder, _ facts: VerifiedTransaction, to uploader: Uploader
  ) -> Ruling? {
    let account = Uploader.account(order.account)
    let isNew = owner(of: credit) != account
    // An order and its transaction stay together, unless it was another account's order: that was a guess.
    guard credit.orderNumber == nil || isNew, agrees(order, with: facts) else { return nil }
    let isRenewal = facts.originalTransactionID != facts.transactionID && facts.reason != .purchase
    let fulfils =
      order.fulfilledBy == nil && !isRenewal && !hasPaid(orderOf: account, byBundleOf: facts)
    guard isNew || fulfils else { return nil }
    var moved = credit
    (moved.owner, moved.orderNumber) = (account, fulfils ? order.number : nil)
    var writes = [BackendWrite.creditMoved(moved)] + freed(credit) + others(inBundleOf: facts, after: moved)
    if fulfils { writes.append(.order(order.fulfilled(by: facts.grantKey))) }
    let verdict: Verdict = account != uploader ? .otherOwner : isNew ? .granted : .duplicate
    var ruling = Ruling(verdict, orderNumber: moved.orderNumber, writes: writes)
    ruling.isForNewOwner = isNew
    return ruling
  }
}
