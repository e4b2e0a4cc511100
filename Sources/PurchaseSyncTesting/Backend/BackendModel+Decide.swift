import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// The rules for one claim about one verified transaction, in order of precedence.
  ///
  /// `verified` is the transaction in this proof. The backend's other knowledge counts too: a refund or an account token from an
  /// earlier notification.
  ///
  /// `isProven` is whether the claim has a proof. Without one the app may not know the facts that the store returned for a
  /// question by id, and gets and learns nothing if the store's record names no owner (`withoutProof`).
  func decide(
    _ claim: Claim, _ verified: VerifiedTransaction, isProven: Bool = true, from uploader: Uploader,
    now: Timestamp
  ) -> Ruling {
    var ruling: Ruling
    if verified.bundleID != bundleID {
      ruling = .rejected("other bundle: the transaction is of another app")
    } else {
      let facts = purchase(TransactionKey(verified))?.facts ?? verified
      let isConsumable = verified.isConsumable == true || facts.isConsumable == true
      ruling = decide(claim, facts, isConsumable: isConsumable, from: uploader, now: now)
      if !isProven { ruling = withoutProof(ruling, on: claim, facts, isConsumable, from: uploader) }
    }
    // A row of table C does not get the device of a claim that could be a guess.
    if isProven || ruling.verdict.verdict.isSettled { ruling.transaction = verified }
    return ruling
  }

  /// The ruling on a claim without a proof: an id can be guessed, so it moves credit to no one whom the store's own record
  /// does not name, and tells no one what became of the purchase. The record names the account of its token's order, the
  /// owner of the subscription that it belongs to, or who has it already: an account, or a device if no other one can
  /// restore it. Everything else waits: the client sends the claim again with its proof.
  private func withoutProof(
    _ ruling: Ruling, on claim: Claim, _ facts: VerifiedTransaction, _ isConsumable: Bool,
    from uploader: Uploader
  ) -> Ruling {
    let isRecorded: Bool
    if ruling.creditedOwner == nil, let present = presentOwner(of: facts.grantKey) {
      isRecorded = present.account != nil || isConsumable || present == uploader
    } else {
      let owner = ruling.creditedOwner ?? heir(of: claim, facts, from: uploader)
      isRecorded = owner == inheritedOwner(facts)
    }
    return isRecorded ? ruling : Ruling(.unknownTransaction, reason: "a proof is needed")
  }

  private func decide(
    _ claim: Claim, _ facts: VerifiedTransaction, isConsumable: Bool,
    from uploader: Uploader, now: Timestamp
  ) -> Ruling {
    guard let reversal = reversal(of: facts.grantKey) else {
      return withoutRefund(claim, facts, isConsumable: isConsumable, from: uploader, now: now)
    }
    var ruling: Ruling
    if reversal.units == nil {
      ruling = Ruling(.refunded, orderNumber: credits(for: facts.grantKey).first?.orderNumber)
    } else {
      // What is left was paid: it is credited like every purchase, and the verdict says what is not.
      ruling = withoutRefund(claim, facts, isConsumable: isConsumable, from: uploader, now: now)
      guard ruling.verdict.verdict.isSettled, ruling.verdict.verdict != .lapsed else { return ruling }
      ruling.verdict.verdict = .refunded
    }
    ruling.verdict.refundedShare = (reversal.share ?? .whole).milliPercent
    ruling.verdict.refundedUnits = reversal.units ?? facts.quantity
    return ruling
  }

  private func withoutRefund(
    _ claim: Claim, _ facts: VerifiedTransaction, isConsumable: Bool,
    from uploader: Uploader, now: Timestamp
  ) -> Ruling {
    let credited = credits(for: facts.grantKey).first
    if let credited, let ruling = moved(credited, facts, isConsumable, to: uploader) { return ruling }
    if let credited {
      let isUploaders = credited.owner == uploader || owner(of: credited) == uploader
      return Ruling(isUploaders ? .duplicate : .otherOwner, orderNumber: credited.orderNumber)
    }
    if isOver(facts, at: now) { return Ruling(.lapsed) }
    switch destination(of: claim, facts, from: uploader) {
    case .owner(let owner, let reason):
      return grant(facts, to: owner, order: nil, uploader: uploader, reason: reason, now: now)
    case .order(let order):
      let isGuess = claim.match == .proposed && tokenOrder(of: facts) == nil
      return grant(
        facts, to: .account(order.account), order: order, isGuess: isGuess, uploader: uploader, reason: nil,
        now: now)
    }
  }

  /// Whether a period is over: at its end, or at the end of its grace.
  private func isOver(_ facts: VerifiedTransaction, at now: Timestamp) -> Bool {
    guard let expires = facts.expiresDate, expires <= now.milliseconds else { return false }
    let chain = ChainKey(facts)
    guard let grace = renewals[chain]?.graceEndsAt, grace > now.milliseconds else { return true }
    // The grace is of the last period, with all of its transactions.
    return periods(of: chain).last.map { $0.facts.expiresDate != expires } ?? true
  }

  private func grant(
    _ facts: VerifiedTransaction, to owner: Uploader, order: BackendOrder?, isGuess: Bool = false,
    uploader: Uploader, reason: String?, now: Timestamp
  ) -> Ruling {
    let isUploaders = owner == uploader
    let cause: Credit.Cause = isGuess ? .proposed : isUploaders ? .granted : .otherOwner
    let credit = credit(for: facts, to: owner, order: order, cause: cause, now: now)
    var writes: [BackendWrite] = [.credit(credit)]
    if let order { writes.append(.order(order.fulfilled(by: facts.grantKey))) }
    writes += others(inBundleOf: facts, after: credit)
    return Ruling(
      isUploaders ? .granted : .otherOwner, orderNumber: order?.number, reason: reason, writes: writes)
  }
}
