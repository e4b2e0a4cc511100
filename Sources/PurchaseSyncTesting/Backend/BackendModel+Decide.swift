import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// The rules for one claim about one verified transaction, in order of precedence.
  func decide(_ claim: Claim, _ facts: SignedTransaction, from uploader: Uploader, now: Timestamp) -> Ruling {
    if let reason = disagreement(of: claim, with: facts) { return .rejected(reason) }
    let key = grantKey(of: facts)
    if let moment = facts.revocationDate {
      let writes =
        isReversed(key)
        ? [] : [BackendWrite.reversal(Reversal(transaction: key, at: Timestamp(milliseconds: moment)))]
      return Ruling(.refunded, orderNumber: credits(for: key).first?.orderNumber, writes: writes)
    }
    // A notification told of it before the upload came.
    if isReversed(key) { return Ruling(.refunded, orderNumber: credits(for: key).first?.orderNumber) }
    if let credit = credits(for: key).first {
      let isUploaders = credit.owner == uploader || owner(of: credit) == uploader
      return Ruling(isUploaders ? .duplicate : .otherOwner, orderNumber: credit.orderNumber)
    }
    if let expires = facts.expiresDate, expires <= now.milliseconds { return Ruling(.lapsed) }
    switch destination(of: claim, facts, from: uploader) {
    case .contradiction(let reason): return .rejected(reason)
    case .owner(let owner, let reason):
      return grant(key, facts, to: owner, order: nil, uploader: uploader, reason: reason, now: now)
    case .order(let order):
      return grant(
        key, facts, to: .account(order.account), order: order, uploader: uploader, reason: nil, now: now)
    }
  }

  private func grant(
    _ key: TransactionKey, _ facts: SignedTransaction, to owner: Uploader, order: BackendOrder?,
    uploader: Uploader, reason: String?, now: Timestamp
  ) -> Ruling {
    let isUploaders = owner == uploader
    let credit = Credit(
      sequence: credits.count + 1, transaction: key, orderNumber: order?.number, owner: owner,
      productID: facts.productID, quantity: facts.quantity, cause: isUploaders ? .granted : .otherOwner,
      at: now, expiresAt: facts.expiresDate.map(Timestamp.init(milliseconds:)),
      purchasedAt: Timestamp(milliseconds: facts.purchaseDate))
    var writes: [BackendWrite] = [.credit(credit)]
    if var order {
      order.state = .delivered
      order.fulfilledBy = key
      writes.append(.order(order))
    }
    return Ruling(
      isUploaders ? .granted : .otherOwner, orderNumber: order?.number, reason: reason, writes: writes)
  }

  private func disagreement(of claim: Claim, with facts: SignedTransaction) -> String? {
    if facts.bundleID != bundleID { return "other bundle: the transaction is of another app" }
    if facts.productID != claim.productID { return "other product: the transaction is of another product" }
    if facts.quantity != claim.quantity { return "other quantity: the transaction is of another quantity" }
    return nil
  }

  /// A restored purchase has a new id, but was paid for once: what counts is its original. A subscription's
  /// period has an end, and each was paid for.
  private func grantKey(of facts: SignedTransaction) -> TransactionKey {
    var key = TransactionKey(facts)
    if facts.expiresDate == nil { key.transactionID = facts.originalTransactionID }
    return key
  }
}
