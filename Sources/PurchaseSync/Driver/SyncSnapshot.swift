public import PurchaseQueue

/// What is on its way, for a screen and for previews of one.
public struct SyncSnapshot: Sendable, Hashable {
  /// One purchase that is not settled.
  public struct Purchase: Sendable, Hashable {
    /// The transaction.
    public var key: EntryKey
    /// Whose it is.
    public var lane: Lane
    /// The order that it fulfils, if that is known.
    public var orderNumber: String?
    /// What was bought.
    public var productID: String
    /// How many.
    public var quantity: Int
    /// How often it was sent.
    public var attempts: Int
    /// Not sent before this moment; nil if it takes its turn.
    public var notBefore: Timestamp?
    /// Why it does not take its turn: it is in quarantine, or damaged. Nil if it does.
    public var problem: String?
  }

  /// In the order in which they were queued.
  public var purchases: [Purchase]
  /// Acknowledged transactions that the store has not been told of.
  public var finishesOwed: Int
  /// What the app has not confirmed, oldest first.
  public var outcomes: [Outcome]
  /// Accounts whose claim of the device's purchases the backend has not taken yet.
  public var claimsOwed: Int

  /// A state, for an app's own previews and tests.
  public init(
    purchases: [Purchase] = [], finishesOwed: Int = 0, outcomes: [Outcome] = [], claimsOwed: Int = 0
  ) {
    self.purchases = purchases
    self.finishesOwed = finishesOwed
    self.outcomes = outcomes
    self.claimsOwed = claimsOwed
  }

  /// Transactions that the backend has not acknowledged, quarantined ones included.
  public var unsettled: Int { purchases.count }
  /// Of these, the ones that do not take their turn.
  public var quarantined: Int { purchases.count { $0.problem != nil } }
  /// Outcomes that the app has not confirmed.
  public var unseen: Int { outcomes.count }
}

extension SyncSnapshot.Purchase {
  init(_ entry: Entry) throws(QueueError) {
    let details = try TransactionDetails(text: entry.details, key: entry.key)
    self.init(
      key: entry.key, lane: entry.lane, orderNumber: entry.orderNumber, productID: details.productID,
      quantity: details.quantity, attempts: entry.attempts,
      notBefore: entry.readyAt.milliseconds == 0 ? nil : entry.readyAt,
      problem: entry.state == .queued ? nil : entry.reason ?? entry.state.rawValue)
  }
}
