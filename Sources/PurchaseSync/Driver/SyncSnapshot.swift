public import PurchaseQueue

/// What is on its way, for a screen, for support, and for previews of either. Nothing in it is a proof, a token or a
/// credential; accounts are named as the app names them.
public struct SyncSnapshot: Sendable, Hashable {
  /// In the order in which they were queued.
  public var purchases: [Purchase]
  /// What the lanes with entries are doing, by their names.
  public var lanes: [LaneStatus]
  /// Settled transactions that the store has not been told of.
  public var finishesOwed: Int
  /// What the app has not confirmed, oldest first.
  public var outcomes: [Outcome]
  /// Claims of the device's purchases that the backend has not taken for all that they cover, by account.
  public var deviceClaims: [DeviceClaim]
  /// The store holds purchases for which there was no room. It is asked for them when there is.
  public var isStoreHoldingMore: Bool

  /// A state, for an app's own previews and tests.
  public init(
    purchases: [Purchase] = [], lanes: [LaneStatus] = [], finishesOwed: Int = 0, outcomes: [Outcome] = [],
    deviceClaims: [DeviceClaim] = [], isStoreHoldingMore: Bool = false
  ) {
    self.purchases = purchases
    self.lanes = lanes
    self.finishesOwed = finishesOwed
    self.outcomes = outcomes
    self.deviceClaims = deviceClaims
    self.isStoreHoldingMore = isStoreHoldingMore
  }

  /// Transactions that are not settled, quarantined ones included.
  public var unsettled: Int { purchases.count }
  /// Of these, the ones that do not take their turn.
  public var quarantined: Int { purchases.count { $0.problem != nil } }
  /// Outcomes that the app has not confirmed.
  public var unseen: Int { outcomes.count }
  /// Accounts whose claim of the device's purchases the backend has not taken yet.
  public var claimsOwed: Int { deviceClaims.count }
}

extension SyncSnapshot {
  /// One purchase that is not settled.
  public struct Purchase: Sendable, Hashable {
    /// The transaction.
    public var key: EntryKey
    /// Whose it is.
    public var lane: Lane
    /// The order that it fulfils, if that is known.
    public var orderNumber: String?
    /// What was bought; nil if the file's text about it is damaged.
    public var productID: String?
    /// How many; nil with the product.
    public var quantity: Int?
    /// When the store charged, by its clock; nil with the product.
    public var purchasedAt: Timestamp?
    /// When it was queued on this installation, by the device's clock.
    public var queuedAt: Timestamp
    /// How often it was sent.
    public var attempts: Int
    /// When it was last sent.
    public var attemptedAt: Timestamp?
    /// Not sent before this moment; nil if it takes its turn.
    public var notBefore: Timestamp?
    /// Why it does not take its turn: it is in quarantine, or damaged. Nil if it does.
    public var problem: String?
    /// Whether an uninstall would leave it to the store's redelivery alone: the vault does not hold it.
    public var isUnprotected: Bool

    /// A purchase, for an app's own previews and tests.
    public init(
      key: EntryKey, lane: Lane, orderNumber: String? = nil, productID: String?, quantity: Int? = 1,
      purchasedAt: Timestamp? = nil, queuedAt: Timestamp, attempts: Int = 0, attemptedAt: Timestamp? = nil,
      notBefore: Timestamp? = nil, problem: String? = nil, isUnprotected: Bool = false
    ) {
      self.key = key
      self.lane = lane
      self.orderNumber = orderNumber
      self.productID = productID
      self.quantity = quantity
      self.purchasedAt = purchasedAt
      self.queuedAt = queuedAt
      self.attempts = attempts
      self.attemptedAt = attemptedAt
      self.notBefore = notBefore
      self.problem = problem
      self.isUnprotected = isUnprotected
    }
  }

  /// An account's claim of what was bought before anybody was signed in.
  public struct DeviceClaim: Sendable, Hashable {
    /// Who claims.
    public var account: String
    /// Whether it waits for the account's credentials.
    public var needsSignIn: Bool

    /// A claim, for an app's own previews and tests.
    public init(account: String, needsSignIn: Bool = false) {
      self.account = account
      self.needsSignIn = needsSignIn
    }
  }
}

extension SyncSnapshot.Purchase {
  /// An entry whose row is damaged is shown too, with what can be said of it.
  init(_ entry: Entry) {
    var details: TransactionDetails?
    do throws(QueueError) {
      details = try TransactionDetails(text: entry.details, key: entry.key)
    } catch {
      details = nil
    }
    self.init(
      key: entry.key, lane: entry.lane, orderNumber: entry.orderNumber, productID: details?.productID,
      quantity: details?.quantity, purchasedAt: details?.purchasedAt, queuedAt: entry.enqueuedAt,
      attempts: entry.attempts, attemptedAt: entry.attemptedAt,
      notBefore: entry.readyAt.milliseconds == 0 ? nil : entry.readyAt,
      problem: entry.state == .queued ? nil : entry.reason ?? entry.state.rawValue,
      isUnprotected: entry.isUnprotected)
  }
}
