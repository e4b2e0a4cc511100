public import PurchaseQueue

/// Everything that is not done yet, for a screen, for support, and for previews of either. It holds no proof, token or
/// credential. Accounts are named as the app names them.
public struct SyncSnapshot: Sendable, Hashable {
  /// In the order in which they were queued.
  public var purchases: [Purchase]
  /// The lanes with entries, by their names.
  public var lanes: [LaneStatus]
  /// Settled transactions that are not finished at the store.
  public var pendingFinishes: Int
  /// Outcomes that the app has not confirmed, oldest first.
  public var outcomes: [Outcome]
  /// Outcomes that the app never confirmed, and that are not reported any more: newer ones needed their place.
  public var outcomesForgotten: Int
  /// Adoptions of the device's purchases that the backend has not taken for all that they cover, by account.
  public var deviceAdoptions: [DeviceAdoption]
  /// Whether the store keeps purchases for lack of capacity. It is asked for them when there is capacity.
  public var isStoreHoldingMore: Bool
  /// Events that were dropped since the engine was opened, because a listener did not take them. Outcomes among them are
  /// published again as soon as it has taken half of its events, and at the next foreground.
  public var droppedEvents = 0
  /// Calls of the credentials, the store and the backend that have not returned within their time limits, oldest first.
  public var lateCalls: [LateCall] = []

  /// A state, for an app's own previews and tests.
  public init(
    purchases: [Purchase] = [], lanes: [LaneStatus] = [], pendingFinishes: Int = 0, outcomes: [Outcome] = [],
    outcomesForgotten: Int = 0, deviceAdoptions: [DeviceAdoption] = [], isStoreHoldingMore: Bool = false
  ) {
    self.purchases = purchases
    self.lanes = lanes
    self.pendingFinishes = pendingFinishes
    self.outcomes = outcomes
    self.outcomesForgotten = outcomesForgotten
    self.deviceAdoptions = deviceAdoptions
    self.isStoreHoldingMore = isStoreHoldingMore
  }

  /// Transactions that are not settled, quarantined ones included.
  public var unsettled: Int { purchases.count }
  /// Of these, the ones that do not take their turn.
  public var quarantined: Int { purchases.count { $0.problem != nil } }
  /// Outcomes that the app has not confirmed.
  public var unconfirmed: Int { outcomes.count }
  /// The number of these adoptions.
  public var pendingAdoptions: Int { deviceAdoptions.count }
}

extension SyncSnapshot {
  /// One purchase that is not settled.
  public struct Purchase: Sendable, Hashable {
    /// The transaction.
    public var key: EntryKey
    /// The owner of the purchase.
    public var lane: Lane
    /// The order that it fulfils, if that is known.
    public var orderNumber: String?
    /// The product; nil if the stored details are damaged.
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

  /// An account that adopts what was bought before sign-in.
  public struct DeviceAdoption: Sendable, Hashable {
    /// The account that adopts.
    public var account: String
    /// Whether it waits for the account's credentials.
    public var needsSignIn: Bool

    /// An adoption, for an app's own previews and tests.
    public init(account: String, needsSignIn: Bool = false) {
      self.account = account
      self.needsSignIn = needsSignIn
    }
  }
}

extension SyncSnapshot.Purchase {
  /// An entry whose row is damaged is shown too, with what can be said of it.
  init(_ entry: Entry) {
    let details = EntryDetails(of: entry).known
    self.init(
      key: entry.key, lane: entry.lane, orderNumber: entry.orderNumber, productID: details?.productID,
      quantity: details?.quantity, purchasedAt: details?.purchasedAt, queuedAt: entry.enqueuedAt,
      attempts: entry.attempts, attemptedAt: entry.attemptedAt,
      notBefore: entry.readyAt.milliseconds == 0 ? nil : entry.readyAt,
      problem: entry.state == .queued ? nil : entry.reason ?? entry.state.rawValue,
      isUnprotected: entry.isUnprotected)
  }
}
