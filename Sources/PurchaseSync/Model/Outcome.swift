public import Foundation
public import PurchaseQueue

/// How a transaction was settled.
public struct Outcome: Sendable, Hashable {
  /// The transaction.
  public var key: EntryKey
  /// The lane of the entry: an account's, or the device's.
  public var lane: Lane
  /// The account that has bought or, for a purchase of the device, that has proved it to be its own; nil if no account has
  /// it.
  public var account: String?
  /// The order that was fulfilled, if any; nil if the purchase is another account's.
  public var orderNumber: String?
  /// The backend's verdict.
  public var verdict: Verdict
  /// Whose purchase it is. Of `another` show nothing, or that the purchase is not this person's: ask nothing.
  public var owner: PurchaseOwner
  /// When it was settled on this device, by the device's clock. A clock that is set back makes a later outcome of a key look
  /// earlier: the one that comes last decides, not the one with the latest moment.
  public var settledAt: Timestamp
  /// Whether the transaction is older than the order: the store answered the payment with a purchase that the user owns
  /// already, and charged nothing. The order is closed.
  public var isAlreadyOwned = false
  /// What the app gave at `begin` of the order.
  var note = OrderNote()
  /// The value that the app gave at `begin` of the order.
  public var context: PurchaseContext? {
    get { note.context }
    set { note.context = newValue }
  }
  /// Whether this person, or this device, has what was paid: credited now or before. False for a refund, for a period that
  /// is over, and for another account's purchase.
  public var isFulfilled: Bool { (verdict == .granted || verdict == .duplicate) && owner != .another }
  /// The product and how many units; nil if the details in the file are damaged. Of a subscription they are seats.
  public var purchase: (productID: String, quantity: Int)? {
    details.known.map { ($0.productID, $0.quantity) }
  }
  /// The bundle that the customer paid for, if ``purchase`` is a subscription that is part of one. Each subscription of a
  /// bundle has an outcome of its own; one of them has the order. Nil for every other purchase.
  public var bundleProductID: String? { details.known?.bundleProductID }
  /// The units without refunded seats.
  var paidUnits: Int? { details.known.map(\.units) }
  /// What was refunded of it, if the verdict is `refunded`.
  var refund: KnownRefund? {
    guard verdict == .refunded else { return nil }
    return details.known.map { KnownRefund(refundNote, $0) }
  }

  private var details: EntryDetails
  /// What the verdict says of a refund.
  private(set) var refundNote: RefundNote?
  /// The verdict as it is stored. An account that did not prove the purchase gets another one.
  private var storedVerdict: Verdict
  /// The account that proved the purchase of the device lane to be its own.
  private var provenBy: String?

  package init(_ tombstone: borrowing Tombstone) {
    key = tombstone.key
    lane = tombstone.lane
    account = lane.account
    owner = tombstone.owner
    orderNumber = owner == .another ? nil : tombstone.orderNumber
    verdict = tombstone.verdict
    settledAt = tombstone.settledAt
    details = EntryDetails(of: tombstone)
    storedVerdict = verdict
    refundNote = tombstone.refundNote
    provenBy = tombstone.provenBy
  }

  /// An outcome, for an app's own tests of what it does with one.
  ///
  /// - Parameters:
  ///   - transaction: The transaction that was settled.
  ///   - verdict: The backend's verdict.
  ///   - account: The account that bought; nil for a purchase of the device.
  ///   - orderNumber: The order that it fulfilled, if any.
  ///   - settledAt: When it was settled. Another outcome of the same transaction has another moment.
  public init(
    of transaction: StoreTransaction, _ verdict: Verdict, account: String?, orderNumber: String? = nil,
    settledAt: Date
  ) {
    key = transaction.key
    lane = account.map { .account($0) } ?? .device
    self.account = account
    owner = .settled(verdict, stated: nil, in: lane)
    self.orderNumber = owner == .another ? nil : orderNumber
    self.verdict = verdict
    self.settledAt = Timestamp(settledAt)
    details = .readable(TransactionDetails(transaction))
    storedVerdict = verdict
  }

  /// The outcome of an earlier purchase, for an order that the store answered with it. Another account's purchase is
  /// reported as such.
  init(_ tombstone: borrowing Tombstone, closing order: PurchaseOrder) {
    self.init(tombstone)
    let earlier = lane
    (lane, account) = (.account(order.account), order.account)
    orderNumber = order.number
    isAlreadyOwned = true
    note = order.note
    if earlier.account != nil, earlier != lane { becomeAnothers() }
  }
}

extension Outcome {
  /// The outcome as it is published while this account is signed in, or none. What one account has proved to be its
  /// own, it is not published to another account as `yours`.
  package func addressed(to account: String?) -> Outcome {
    guard lane == .device, owner == .yours else { return self }
    var copy = self
    guard !provenBy.isSameAccount(as: account) else {
      copy.account = account
      return copy
    }
    copy.becomeAnothers()
    (copy.orderNumber, copy.note, copy.provenBy) = (nil, OrderNote(), nil)
    return copy
  }

  /// The outcome for its buyer, who may not know the owner. `account` is nil for a guest. `isEarlier`: the store has
  /// answered a new payment with it.
  func addressed(toBuyer account: String?, isEarlier: Bool) -> Outcome {
    var copy = addressed(to: account)
    copy.isAlreadyOwned = isEarlier
    guard let owner = lane.account, owner != account else { return copy }
    copy.becomeAnothers()
    (copy.lane, copy.account, copy.orderNumber, copy.note) = (.device, nil, nil, OrderNote())
    return copy
  }

  private mutating func becomeAnothers() {
    owner = .another
    if verdict == .granted || verdict == .duplicate { verdict = .otherOwner }
  }
}

// MARK: - Which outcome

extension Outcome {
  /// What the outcome is about: a transaction, or an order that was answered with an earlier transaction.
  package enum Name: Hashable, Sendable {
    case transaction(EntryKey)
    case order(String)
  }

  /// What is new if an outcome of the same name is another one.
  package struct Mark: Hashable, Sendable {
    fileprivate var settledAt: Timestamp
    fileprivate var storedVerdict: Verdict
    fileprivate var owner: PurchaseOwner
    fileprivate var refund: RefundNote?
  }

  package var name: Name {
    if isAlreadyOwned, let orderNumber { .order(orderNumber) } else { .transaction(key) }
  }

  package var mark: Mark {
    Mark(settledAt: settledAt, storedVerdict: storedVerdict, owner: owner, refund: refundNote)
  }

  /// Whether it is still the outcome of its transaction: no later verdict has replaced it, and it was published as it
  /// is stored. An account that did not prove the purchase confirms nothing for the one that did.
  func isPresent(in tombstone: borrowing Tombstone) -> Bool {
    settledAt == tombstone.settledAt && storedVerdict == tombstone.verdict && owner == tombstone.owner
      && refundNote == tombstone.refundNote
  }
}
