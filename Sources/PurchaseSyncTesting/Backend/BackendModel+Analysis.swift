import AppStoreDocuments
import AppStoreReceipts
import Foundation
package import PurchaseQueue
import PurchaseSync

/// Learning from the store's answers. The result is the same for uploads, notifications and the job, in any order and
/// with repetitions.
extension BackendModel {
  /// Applies a change and adds it to the log.
  mutating func make(_ write: BackendWrite, into log: inout WriteLog) {
    apply(write)
    log.append(write)
  }

  /// Analyses every transaction of this app in a report (R3.3, R3.4, R3.8). Grants nothing: returns the subscriptions
  /// in the report for `creditRenewals`.
  mutating func absorb(_ report: StoreReport, into log: inout WriteLog, now: Timestamp) -> Set<ChainKey> {
    var touched: Set<ChainKey> = []
    for told in report.transactions where told.bundleID == bundleID {
      note(told, into: &log, now: now)
      if told.expiresDate != nil { touched.insert(ChainKey(told)) }
    }
    for renewal in report.renewals where touched.contains(renewal.chain) {
      if let known = renewals[renewal.chain], !renewal.supersedes(known) { continue }
      make(.renewal(renewal), into: &log)
    }
    for chain in touched.sorted() { settle(chain, into: &log, now: now) }
    return touched
  }

  private mutating func note(_ told: VerifiedTransaction, into log: inout WriteLog, now: Timestamp) {
    let known = purchase(TransactionKey(told))
    var row = known ?? Purchase(told, at: now)
    row.facts = row.facts.merged(with: told)
    if !row.isSubscription || isApart(row.facts) { row.feeStatus = row.status(isInBillingRetry: false) }
    guard row != known else { return }
    // A later confirmation of the same facts is stored, and is no change of the row.
    var before = known?.facts
    before?.toldAt = row.facts.toldAt
    before?.shareToldAt = row.facts.shareToldAt
    before?.seatsToldAt = row.facts.seatsToldAt
    if row.facts != before { row.updatedAt = now }
    make(.purchase(row), into: &log)
    follow(row.facts, before: known?.facts, into: &log)
  }

  /// Reverses credits with a refund, or the units that its share covers, and restores them when the store reverses the
  /// refund. The same share again changes nothing. Reversals that came from another source stay.
  private mutating func follow(
    _ facts: VerifiedTransaction, before: VerifiedTransaction?, into log: inout WriteLog
  ) {
    let key = facts.grantKey
    if let moment = facts.revocationDate, let share = facts.refund {
      if reversal(of: key) != nil, before?.revocationDate == moment, before?.refund == share { return }
      let reversal = Reversal(
        transaction: key, at: Timestamp(milliseconds: moment), share: facts.refundedShare,
        units: facts.isTakenBack ? nil : share.units(of: facts.quantity))
      if self.reversal(of: key) != reversal { make(.reversal(reversal), into: &log) }
    } else if before?.refund != nil, let moment = before?.revocationDate, reversal(of: key) != nil {
      let undone = Reversal(
        transaction: key, at: Timestamp(milliseconds: moment),
        undoneAt: Timestamp(milliseconds: facts.toldAt))
      make(.reversal(undone), into: &log)
    }
  }

  /// Updates the fields that depend on the neighbouring periods: only the last period has a renewal status (R3.4).
  private mutating func settle(_ chain: ChainKey, into log: inout WriteLog, now: Timestamp) {
    let rows = periods(of: chain)
    let renewal = renewals[chain]
    for (offset, row) in rows.enumerated() {
      var changed = row
      let isLast = offset == rows.count - 1
      // A statement from before this period began is about the previous one.
      let isRetrying =
        isLast && renewal?.renewal.isInBillingRetry == true
        && renewal.map { $0.toldAt >= row.facts.purchaseDate } ?? false
      changed.willAutoRenew = isLast ? renewal?.renewal.willAutoRenew : nil
      changed.feeStatus = row.status(isInBillingRetry: isRetrying)
      guard changed != row else { continue }
      changed.updatedAt = now
      make(.purchase(changed), into: &log)
    }
  }

  /// Credits the periods after a granted one, so that renewals count without an upload: to the account that their token
  /// names, with its order if a customer bought the period, else to the owner of the period before. The first period
  /// always needs a claim.
  mutating func creditRenewals(of chains: Set<ChainKey>, into log: inout WriteLog, now: Timestamp) {
    // Where ids restart, the same id can mean another subscription later.
    for chain in chains.sorted() where !chain.environment.reusesTransactionIDs {
      let rows = periods(of: chain)
      guard let first = rows.firstIndex(where: { !credits(for: $0.transaction).isEmpty }),
        var owner = presentOwner(of: rows[first].transaction)
      else { continue }
      for row in rows[first...] {
        if let own = presentOwner(of: row.transaction) {
          owner = own
        } else if !row.isFirst, !isReversed(row.transaction) {
          owner = creditRenewal(row, after: owner, into: &log, now: now)
        }
        if !row.isFirst { assign(row.transaction, to: owner, device: rows[first].device, into: &log) }
      }
    }
  }

  /// Returns the owner of the new credit.
  private mutating func creditRenewal(
    _ row: Purchase, after before: Uploader, into log: inout WriteLog, now: Timestamp
  ) -> Uploader {
    var owner = before
    var fulfilled: BackendOrder?
    switch later(row.facts) {
    case .order(let order): (owner, fulfilled) = (.account(order.account), order)
    case .owner(let named, _): owner = named
    case nil: break
    }
    make(.credit(credit(for: row.facts, to: owner, order: fulfilled, cause: .renewal, now: now)), into: &log)
    if let fulfilled { make(.order(fulfilled.fulfilled(by: row.facts.grantKey)), into: &log) }
    return owner
  }

  /// A line of the ledger for a transaction.
  package func credit(
    for facts: VerifiedTransaction, to owner: Uploader, order: BackendOrder?, cause: Credit.Cause,
    now: Timestamp
  ) -> Credit {
    Credit(
      sequence: credits.count + 1, transaction: facts.grantKey, orderNumber: order?.number, owner: owner,
      productID: facts.productID, quantity: facts.quantity, cause: cause, at: now,
      expiresAt: facts.expiresDate.map(Timestamp.init(milliseconds:)),
      purchasedAt: Timestamp(milliseconds: facts.purchaseDate))
  }

  /// Writes the user and the device of a receipt without claims into table C, for a transaction without a grant.
  /// Existing values stay; an owner replaces the user.
  mutating func noteUploader(
    of transaction: TransactionKey, account: String?, device: UUID, into log: inout WriteLog
  ) {
    guard var row = purchase(transaction), credits(for: row.facts.grantKey).isEmpty else { return }
    row.account = row.account ?? account
    row.device = row.device ?? device
    if row != purchase(transaction) { make(.purchase(row), into: &log) }
  }

  /// Writes the owner of a transaction into table C. The device that was there stays.
  mutating func assign(
    _ transaction: TransactionKey, to owner: Uploader?, device: UUID?, into log: inout WriteLog
  ) {
    guard var row = purchase(transaction) else { return }
    switch owner {
    case .account(let account):
      row.account = account
      row.device = row.device ?? device
    case .device(let device): row.device = row.device ?? device
    case nil: row.device = row.device ?? device
    }
    if row != purchase(transaction) { make(.purchase(row), into: &log) }
  }
}
