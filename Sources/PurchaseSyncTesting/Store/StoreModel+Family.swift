public import PurchaseQueue

/// The family shares of transactions.
struct FamilyShares: Sendable, Hashable, Codable {
  struct Chain: Sendable, Hashable, Codable, Comparable {
    var original: String
    var member: String

    static func < (left: Chain, right: Chain) -> Bool {
      (left.original, left.member) < (right.original, right.member)
    }
  }

  /// The first shared transaction of each chain and member.
  var originals = StoreRows<Chain, String>()
  /// The owner's chain, by the member's.
  var owners = StoreRows<String, String>()
  /// The shared transactions of each paid one.
  var copies = StoreRows<String, [String]>()

  mutating func forgetChanges() {
    originals.forgetChanges()
    owners.forgetChanges()
    copies.forgetChanges()
  }

  /// The paid transaction of a shared one; nil for one that is not shared.
  func paid(_ transactionID: String) -> String? {
    copies.values.first { $0.value.contains(transactionID) }?.key
  }
}

extension StoreModel {
  /// Replaces the family of a store account.
  ///
  /// New members get the valid shareable purchases as transactions of their own. The shares of former members are
  /// revoked.
  public mutating func setFamily(of storeAccount: String, to members: [String], now: Timestamp) {
    advance(to: now)
    let known = account(storeAccount).family
    settings[storeAccount, default: StoreAccount()].family = members
    for record in transactions(storeAccount: storeAccount) where record.isCharge {
      for member in known where !members.contains(member) { revoke(sharesOf: record, with: member, now: now) }
      for member in members where !known.contains(member) && counts(record, at: now) {
        share(record, with: member, now: now)
      }
    }
  }

  /// Shares a charge with the payer's family, if it is shareable, and with those who have its seats.
  mutating func share(_ record: StoreTransactionRecord, now: Timestamp) {
    for member in account(record.storeAccount).family { share(record, with: member, now: now) }
    shareSeats(of: record, now: now)
  }

  private mutating func share(_ record: StoreTransactionRecord, with member: String, now: Timestamp) {
    guard products[record.productID]?.isFamilyShareable == true, record.isCharge,
      record.kind == .nonConsumable || record.kind == .autoRenewable
    else { return }
    copy(record, for: member, as: .familyShare) { draft in
      draft.accountToken = nil
      draft.price = nil
    }
  }

  /// A transaction of another person's own for what a customer has paid.
  @discardableResult
  mutating func copy(
    _ record: StoreTransactionRecord, for member: String, as cause: StoreTransactionRecord.Cause,
    _ change: (inout StoreTransactionRecord) -> Void
  ) -> StoreTransactionRecord {
    let chain = FamilyShares.Chain(original: record.originalTransactionID, member: member)
    var draft = fresh(record)
    draft.storeAccount = member
    draft.cause = cause
    change(&draft)
    draft.originalTransactionID = shares.originals[chain] ?? ""
    let copy = append(draft)
    shares.originals[chain] = copy.originalTransactionID
    shares.owners[copy.originalTransactionID] = record.originalTransactionID
    shares.copies[record.transactionID, default: []].append(copy.transactionID)
    foreseeReceipt(with: copy)
    return copy
  }

  /// Revokes the family's shares of a transaction, and its seats.
  mutating func revokeShares(of record: StoreTransactionRecord, now: Timestamp) {
    for member in holders(of: record) { revoke(sharesOf: record, with: member, now: now) }
  }

  /// The family of the payer, and who has a seat.
  private func holders(of record: StoreTransactionRecord) -> [String] {
    account(record.storeAccount).family
      + (seats[record.originalTransactionID]?.members.map(\.storeAccount) ?? [])
  }

  mutating func revoke(sharesOf record: StoreTransactionRecord, with member: String, now: Timestamp) {
    for id in shares.copies[record.transactionID] ?? [] {
      guard let position = log.positions[id], transactions[position].storeAccount == member,
        counts(transactions[position], at: now)
      else { continue }
      amend(position) { $0.revokedAt = now }
      announce(position)
      note(.revoked, id, now: now)
    }
  }

  /// Restores the shares that were revoked with a refund.
  mutating func restoreShares(of record: StoreTransactionRecord) {
    let family = holders(of: record)
    for id in shares.copies[record.transactionID] ?? [] {
      guard let position = log.positions[id], family.contains(transactions[position].storeAccount) else {
        continue
      }
      amend(position) { $0.revokedAt = nil }
      announce(position)
    }
  }

  /// Marks the shares of an upgraded transaction as upgraded.
  mutating func upgradeShares(of transactionID: String) {
    for id in shares.copies[transactionID] ?? [] {
      guard let position = log.positions[id] else { continue }
      amend(position) { $0.isUpgraded = true }
      announce(position)
    }
  }

  /// Whether a transaction is valid at a moment.
  private func counts(_ record: StoreTransactionRecord, at now: Timestamp) -> Bool {
    !record.isTakenBack && !record.isUpgraded && record.expiresAt.map { $0 > now } ?? true
  }
}
