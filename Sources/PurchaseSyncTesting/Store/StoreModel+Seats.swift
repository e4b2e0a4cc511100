import AppStoreReceipts
public import PurchaseQueue

/// Who has the seats of a subscription. The purchaser has one of them.
struct SeatHolders: Sendable, Hashable, Codable {
  /// A member with a transaction of their own: the store hosts the invitations.
  struct Member: Sendable, Hashable, Codable {
    var storeAccount: String
    /// Whether the member's transactions carry the purchaser's account token. The sources do not say whether they do.
    var carriesToken: Bool
  }

  /// A seat that the app's backend claimed: the app hosts the invitations, and the member has no transaction.
  struct Claim: Sendable, Hashable, Codable {
    var id: String
    /// The name of the request: the same one claims no second seat.
    var request: String
    var appTransactionID: String?
  }

  var members: [Member] = []
  var claims: [Claim] = []
  /// How many claims there were.
  var claimed = 0
}

/// Subscriptions for several people: more and fewer seats, members, and refunds of seats.
extension StoreModel {
  /// No source says it.
  static let mostSeats = 100_000

  /// Gives a seat of a subscription to another store account, which gets a transaction of its own, also at each renewal.
  ///
  /// - Parameters:
  ///   - transactionID: A transaction of the subscription.
  ///   - member: The store account that gets the seat.
  ///   - carriesToken: Whether that transaction has the purchaser's account token. The sources do not say.
  ///   - now: The moment of the assignment.
  @discardableResult
  public mutating func assignSeat(
    of transactionID: String, to member: String, carriesToken: Bool = false, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let record = try seatedPeriod(of: transactionID, hostedBy: .apple)
    var holders = seats[record.originalTransactionID] ?? SeatHolders()
    guard !member.isEmpty, member != record.storeAccount,
      !holders.members.contains(where: { $0.storeAccount == member }),
      holders.members.count + 1 < seatCount(ofPeriodOf: record)
    else { throw .invalidSeats(transactionID) }
    let new = SeatHolders.Member(storeAccount: member, carriesToken: carriesToken)
    holders.members.append(new)
    seats[record.originalTransactionID] = holders
    let copy = seat(of: record, for: new, now: now)
    note(.subscribed(again: false), copy.transactionID, now: now)
    return copy
  }

  /// Takes a member's seat back: the member's transaction is revoked, and does not renew.
  public mutating func unassignSeat(
    of transactionID: String, from member: String, now: Timestamp
  ) throws(StoreModelError) {
    advance(to: now)
    let record = try seatedPeriod(of: transactionID, hostedBy: .apple)
    guard seats[record.originalTransactionID]?.members.contains(where: { $0.storeAccount == member }) == true
    else {
      throw .invalidSeats(transactionID)
    }
    revoke(sharesOf: record, with: member, now: now)
    seats[record.originalTransactionID]?.members.removeAll { $0.storeAccount == member }
  }

  /// Changes how many seats the next period has, as in the store's settings. This period keeps its own.
  public mutating func setRenewalSeats(
    _ count: Int, transactionID: String, now: Timestamp
  ) throws(StoreModelError) {
    advance(to: now)
    let record = try seatedPeriod(of: transactionID)
    guard 1...seatCount(ofPeriodOf: record) ~= count,
      var subscription = subscriptions[record.originalTransactionID]
    else { throw .invalidSeats(transactionID) }
    subscription.renewalSeats = count
    keep(subscription)
    note(.seatsReduced, record.transactionID, now: now)
  }

  /// Refunds some seats of one transaction. Nothing ends for the purchaser; a refund of all of them is
  /// ``refund(transactionID:_:reason:now:)``. Members beyond the seats that are left lose theirs, the last ones first.
  @discardableResult
  public mutating func refundSeats(
    transactionID: String, _ count: Int, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let position = try position(of: transactionID)
    let record = transactions[position]
    guard record.isCharge, record.invitations != nil, record.revokedAt == nil else {
      throw .notCharged(transactionID)
    }
    guard count > 0, count < record.quantity - record.revokedSeats else { throw .invalidSeats(transactionID) }
    amend(position) { $0.revokedSeats += count }
    announce(position)
    note(.seatsRefunded, transactionID, now: now)
    fitSeats(of: transactions[position], now: now)
    return transactions[position]
  }

  // MARK: Periods

  /// The charges of the period that this charge is of: several if seats were added.
  func payments(ofPeriodOf record: StoreTransactionRecord) -> [StoreTransactionRecord] {
    guard record.isOneOfSeveral else { return [record] }
    return transactions(storeAccount: record.storeAccount).filter {
      $0.isCharge && $0.originalTransactionID == record.originalTransactionID
        && $0.expiresAt == record.expiresAt && $0.productID == record.productID
    }
  }

  func first(ofPeriodOf record: StoreTransactionRecord) -> StoreTransactionRecord {
    payments(ofPeriodOf: record).first ?? record
  }

  /// The seats of a period, without refunded ones.
  func seatCount(ofPeriodOf record: StoreTransactionRecord) -> Int {
    payments(ofPeriodOf: record).reduce(0) { $0 + $1.unitsPaid }
  }

  /// The seats of the period after this one.
  func renewedSeats(of subscription: Subscription, after previous: StoreTransactionRecord) -> Int {
    guard previous.invitations != nil else { return 1 }
    return max(1, subscription.renewalSeats ?? seatCount(ofPeriodOf: previous))
  }

  static func price(_ price: Int64, of quantity: Int) -> Int64 {
    let (total, overflow) = price.multipliedReportingOverflow(by: Int64(quantity))
    return overflow ? price : total
  }

  /// The first transaction of the running period of a subscription with seats.
  func seatedPeriod(
    of transactionID: String, hostedBy host: InvitationManagement? = nil
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let record = transactions[try position(of: transactionID)]
    guard let subscription = subscriptions[record.originalTransactionID], subscription.isEntitled,
      let last = latest(of: record.originalTransactionID), let invitations = last.invitations,
      host == nil || invitations == host
    else { throw .noSubscription(transactionID) }
    return last
  }

  /// Takes a payment for more seats of a running subscription; nil if it is for something else.
  mutating func addSeats(
    to subscription: Subscription, _ plan: SubscriptionPlan, _ draft: StoreTransactionRecord,
    _ payment: StorePayment,
    now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord? {
    guard draft.invitations != nil, plan.productID == subscription.plan.productID,
      let first = latest(of: subscription.originalTransactionID)
    else { return nil }
    let present = seatCount(ofPeriodOf: first)
    guard payment.quantity != present else { return nil }
    guard payment.quantity > present else { throw .seatReduction(payment.productID) }
    var added = fresh(draft)
    added.originalTransactionID = subscription.originalTransactionID
    fill(&added, from: subscription)
    (added.purchasedAt, added.quantity, added.isOneOfSeveral) = (now, payment.quantity - present, true)
    added.price = plan.price.map { Self.price($0, of: added.quantity) }
    for paid in payments(ofPeriodOf: first) where !paid.isOneOfSeveral {
      guard let position = log.positions[paid.transactionID] else { continue }
      amend(position) { $0.isOneOfSeveral = true }
      announce(position)
    }
    let record = append(added)
    var changed = subscription
    // A reduction before is undone by as many as are added.
    changed.renewalSeats = subscription.renewalSeats.map { $0 + added.quantity }
    keep(changed)
    if let launch = payment.launch { payingLaunches[record.transactionID] = launch }
    updateReceipt(with: record, now: now)
    note(.seatsAdded, record.transactionID, now: now)
    return record
  }

  // MARK: Members

  /// The paid transaction of each seat.
  var paidSeats: [String: String] {
    var paid: [String: String] = [:]
    for (id, copies) in shares.copies.values {
      for copy in copies where transaction(copy)?.cause == .assignedSeat { paid[copy] = id }
    }
    return paid
  }

  /// Gives the members their transactions of a new period, as far as it has seats.
  mutating func shareSeats(of record: StoreTransactionRecord, now: Timestamp) {
    guard record.isCharge, record.invitations == .apple, let holders = seats[record.originalTransactionID]
    else {
      return
    }
    let most = max(0, seatCount(ofPeriodOf: record) - 1)
    seats[record.originalTransactionID]?.members = Array(holders.members.prefix(most))
    for member in holders.members.prefix(most) { seat(of: record, for: member, now: now) }
  }

  @discardableResult
  private mutating func seat(
    of record: StoreTransactionRecord, for member: SeatHolders.Member, now: Timestamp
  ) -> StoreTransactionRecord {
    copy(record, for: member.storeAccount, as: .assignedSeat) { draft in
      if !member.carriesToken { draft.accountToken = nil }
    }
  }

  /// Seats were refunded: the last of the members beyond what is left lose theirs.
  mutating func fitSeats(of record: StoreTransactionRecord, now: Timestamp) {
    let original = record.originalTransactionID
    guard let holders = seats[original] else { return }
    let most = max(0, seatCount(ofPeriodOf: record) - 1)
    let first = first(ofPeriodOf: record)
    for member in holders.members.dropFirst(most) {
      revoke(sharesOf: first, with: member.storeAccount, now: now)
    }
    let lost = holders.claims.dropFirst(most).map(\.id)
    seats[original]?.members = Array(holders.members.prefix(most))
    seats[original]?.claims = Array(holders.claims.prefix(most))
    if !lost.isEmpty { note(.seatsUnclaimed(lost), record.transactionID, now: now) }
  }
}
