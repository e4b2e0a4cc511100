public import AppStoreReceipts

/// The facts about subscriptions from the store's documents, in one form: from one document, or from many in
/// the order in which the store wrote them.
///
/// A pure value. It trusts its input: verify documents first, and keep environments apart.
public struct SubscriptionFacts: Sendable, Hashable {
  /// The periods by transaction id.
  private var periodsByID: [String: SubscriptionPeriod] = [:]
  /// The renewals by original transaction id.
  public private(set) var renewals: [String: SubscriptionRenewal] = [:]

  /// Creates an empty value.
  public init() {}

  /// All periods, by original transaction id, then by time.
  package var periods: [SubscriptionPeriod] {
    periodsByID.values.sorted {
      ($0.originalTransactionID, $0.purchaseDate ?? .min, $0.expiresDate, $0.transactionID)
        < ($1.originalTransactionID, $1.purchaseDate ?? .min, $1.expiresDate, $1.transactionID)
    }
  }

  /// Adds a period, or a newer description of a known one. The later description counts, by
  /// ``SubscriptionPeriod/asOf`` or else by the order of the calls: a refund can be reversed.
  package mutating func add(_ period: SubscriptionPeriod) {
    guard let known = periodsByID.updateValue(period, forKey: period.transactionID) else { return }
    let isOlder = Self.isOlder(period.asOf, than: known.asOf)
    periodsByID[period.transactionID] = isOlder ? known.completed(by: period) : period.completed(by: known)
  }

  /// Adds a renewal, or replaces an earlier description of it.
  public mutating func add(_ renewal: SubscriptionRenewal, originalTransactionID: String) {
    if let known = renewals[originalTransactionID], Self.isOlder(renewal.asOf, than: known.asOf) { return }
    renewals[originalTransactionID] = renewal
  }

  /// Adds all facts of another document, as newer than these.
  public mutating func merge(_ newer: SubscriptionFacts) {
    for period in newer.periodsByID.values { add(period) }
    for (id, renewal) in newer.renewals { add(renewal, originalTransactionID: id) }
  }

  private static func isOlder(_ asOf: Int64?, than known: Int64?) -> Bool {
    guard let asOf, let known else { return false }
    return asOf < known
  }

  /// Adds a description from the same answer.
  private mutating func unite(_ period: SubscriptionPeriod) {
    guard let known = periodsByID.updateValue(period, forKey: period.transactionID) else { return }
    periodsByID[period.transactionID] = period.united(with: known)
  }
}

extension SubscriptionFacts {
  /// Facts from an answer of `verifyReceipt` of either style, whatever its status: status 21006 also lists
  /// paid periods (R1.4).
  public init(_ response: VerifyReceiptResponse) {
    self.init()
    var asOf: Int64?
    if case .app(let receipt) = response.receipt { asOf = receipt.requestDate }
    add(response, asOf: asOf)
  }

  /// Facts from a notification of version 1. **It is not signed**, so these facts are unconfirmed.
  public init(_ notification: ServerNotificationV1) {
    self.init()
    for transaction in notification.latestExpiredTransactions + notification.latestTransactions {
      if var period = SubscriptionPeriod(transaction, environment: notification.storeEnvironment) {
        // Old CANCEL notifications state the moment at their top level, and the period by its line item.
        if period.revocationDate == nil, let item = notification.webOrderLineItemID,
          item == period.webOrderLineItemID
        {
          period.revocationDate = notification.cancellationDate
        }
        unite(period)
      }
    }
    if let receipt = notification.unifiedReceipt { add(receipt, asOf: nil) }
    if let renewal = notification.topLevelRenewal {
      let id = renewal.originalTransactionID ?? Self.chain(of: renewal, latestByProduct) ?? onlyChain
      // `pending_renewal_info` has the same values and more.
      if let id, renewals[id] == nil { add(SubscriptionRenewal(renewal), originalTransactionID: id) }
    }
  }

  /// Facts from a notification of version 2. Throws if one of its JWS cannot be decoded.
  public init(_ notification: ServerNotificationV2) throws(ReceiptDecodingError) {
    self.init()
    guard let details = notification.details else { return }
    let transaction = try details.transaction()
    if let period = transaction.flatMap(SubscriptionPeriod.init) { add(period) }
    if let renewal = try details.renewalInfo() {
      add(renewal, state: details.subscriptionState, orOf: transaction)
    }
  }

  /// Facts from an app receipt: the state when it was made, without renewals, groups and upgrades.
  public init(_ receipt: AppReceipt) {
    self.init()
    // A growing dictionary holds its content twice for a moment.
    periodsByID.reserveCapacity(receipt.inApp.count { $0.expiresDate != nil })
    let environment = receipt.environment
    for purchase in receipt.inApp {
      let period = SubscriptionPeriod(
        purchase, environment: environment, asOf: receipt.receiptCreationDate)
      if let period { add(period) }
    }
  }

  /// Facts from an old transaction receipt: one period, without its renewal.
  public init(_ receipt: TransactionReceipt) {
    self.init()
    if let period = SubscriptionPeriod(receipt) { add(period) }
  }

  /// Facts from signed payloads: one customer's transactions and renewals.
  public init(transactions: [SignedTransaction], renewals: [SignedRenewalInfo] = []) {
    self.init()
    for period in transactions.compactMap(SubscriptionPeriod.init) { add(period) }
    for renewal in renewals { add(renewal, state: nil, orOf: nil) }
  }

  private mutating func add(
    _ renewal: SignedRenewalInfo, state: SubscriptionState?, orOf transaction: SignedTransaction?
  ) {
    guard let id = renewal.originalTransactionID ?? transaction?.originalTransactionID else { return }
    add(SubscriptionRenewal(renewal, state: state), originalTransactionID: id)
  }

  private mutating func add(_ response: VerifyReceiptResponse, asOf: Int64?) {
    // The transactions of `latest_receipt_info` come last, and count if the two lists differ.
    let transactions = response.transactions
    periodsByID.reserveCapacity(transactions.count { $0.expiresDate != nil })
    for transaction in transactions {
      let period = SubscriptionPeriod(transaction, environment: response.environment, asOf: asOf)
      if let period { unite(period) }
    }
    let latest = response.pendingRenewals.contains { $0.originalTransactionID == nil } ? latestByProduct : [:]
    for renewal in response.pendingRenewals {
      guard let id = renewal.originalTransactionID ?? Self.chain(of: renewal, latest) else { continue }
      add(SubscriptionRenewal(renewal, asOf: asOf), originalTransactionID: id)
    }
    if let renewal = response.topLevelRenewal, case .transaction(let transaction) = response.receipt {
      add(SubscriptionRenewal(renewal, asOf: asOf), originalTransactionID: transaction.originalTransactionID)
    }
  }

  /// Answers before 2018 name only products (StoreFacts a.6). The subscription that had the product last is
  /// meant.
  private static func chain(
    of renewal: PendingRenewal, _ latest: [String: SubscriptionPeriod]
  ) -> String? {
    [renewal.productID, renewal.autoRenewProductID]
      .compactMap { $0.flatMap { latest[$0] } }
      .max(by: isEarlier)?.originalTransactionID
  }

  /// For each product, the period that ends last. Computed once for all renewals, because an answer can have
  /// many of both.
  private var latestByProduct: [String: SubscriptionPeriod] {
    Dictionary(periodsByID.values.map { ($0.productID, $0) }) { Self.isEarlier($0, $1) ? $1 : $0 }
  }

  private static func isEarlier(_ left: SubscriptionPeriod, _ right: SubscriptionPeriod) -> Bool {
    (left.expiresDate, left.transactionID) < (right.expiresDate, right.transactionID)
  }

  private var onlyChain: String? {
    let chains = Set(periodsByID.values.map(\.originalTransactionID))
    return chains.count == 1 ? chains.first : nil
  }
}
