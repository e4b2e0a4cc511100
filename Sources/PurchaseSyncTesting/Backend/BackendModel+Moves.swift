import AppStoreReceipts
import PurchaseSync

/// Ledger lines that were written before the owner was known.
extension BackendModel {
  /// The ruling on a claim about a credited transaction whose line gets another owner; nil if it keeps its owner.
  ///
  /// | the line | moves to |
  /// | --- | --- |
  /// | has no order, and the token names one that is known by now | the order's account, and fulfils the order |
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
    guard credit.orderNumber == nil, let next = heir(of: credit, facts, isConsumable, provenBy: uploader),
      owner(of: credit) != next
    else { return nil }
    var moved = credit
    moved.owner = next
    let verdict: Verdict = next != uploader ? .otherOwner : uploader.account == nil ? .duplicate : .granted
    var ruling = Ruling(verdict, writes: [.creditMoved(moved)])
    ruling.isForNewOwner = true
    return ruling
  }

  /// The owner of a line without an order from now on; nil if it stays where it is.
  private func heir(
    of credit: Credit, _ facts: VerifiedTransaction, _ isConsumable: Bool, provenBy uploader: Uploader
  ) -> Uploader? {
    if let orderer = orderer(ofBundle: facts) { return orderer }
    guard !isConsumable, case .device = owner(of: credit) else { return nil }
    return payer(ofBundle: facts) ?? uploader
  }

  private func named(
    _ credit: Credit, _ order: BackendOrder, _ facts: VerifiedTransaction, to uploader: Uploader
  ) -> Ruling? {
    guard credit.orderNumber == nil, agrees(order, with: facts) else { return nil }
    let isRenewal = facts.originalTransactionID != facts.transactionID && facts.reason != .purchase
    let fulfils = order.fulfilledBy == nil && !isRenewal
    let account = Uploader.account(order.account)
    let isNew = owner(of: credit) != account
    guard isNew || fulfils else { return nil }
    var moved = credit
    moved.owner = account
    if fulfils { moved.orderNumber = order.number }
    var writes = [BackendWrite.creditMoved(moved)]
    if fulfils { writes.append(.order(order.fulfilled(by: facts.grantKey))) }
    let verdict: Verdict = account != uploader ? .otherOwner : isNew ? .granted : .duplicate
    var ruling = Ruling(verdict, orderNumber: moved.orderNumber, writes: writes)
    ruling.isForNewOwner = isNew
    return ruling
  }
}
