import AppStoreReceipts
import PurchaseQueue

/// *Get Transaction Info*, *Get Transaction History*, *Get Refund History*, *Look Up Order ID*: the App Store Server API
/// as Apple documents it.
extension StoreModel {
  /// Whether a text can be the id of a transaction: 1 to 20 digits.
  static func isTransactionID(_ text: some StringProtocol) -> Bool {
    1...20 ~= text.utf8.count && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// The transaction with this id, for an endpoint that takes no other ids.
  func transaction(atAPI id: String) throws(ServerAPIError) -> StoreTransactionRecord {
    guard Self.isTransactionID(id) else { throw .invalidTransactionID }
    if let record = transaction(id) { return record }
    throw storeAccount(appTransactionID: id) == nil ? .transactionNotFound : .appTransactionIDNotSupported
  }

  /// The store account of "any `transactionId`, `originalTransactionId`, or `appTransactionId`".
  func customer(of anyID: String) throws(ServerAPIError) -> String {
    guard Self.isTransactionID(anyID) else { throw .invalidTransactionID }
    guard let account = transaction(anyID)?.storeAccount ?? storeAccount(appTransactionID: anyID) else {
      throw .transactionNotFound
    }
    return account
  }

  // MARK: Histories

  /// A page of all transactions of a customer. Version 1 leaves out finished consumables that were not refunded.
  func history(
    of anyID: String, version: Int, _ query: HistoryQuery
  ) throws(ServerAPIError) -> HistoryPage {
    let listed = transactions(storeAccount: try customer(of: anyID)).filter { record in
      let isSpent = record.kind == .consumable && record.isFinished && record.revokedAt == nil
      return query.matches(record) && (version > 1 || !isSpent)
    }
    return try HistoryPage(
      of: listed.map { (place(of: $0), $0) }, after: query.revision, isDescending: query.isDescending,
      fingerprint: query.fingerprint)
  }

  /// A page of the customer's refunded purchases, the earliest refund first.
  func refundHistory(of anyID: String, after revision: String?) throws(ServerAPIError) -> HistoryPage {
    let refunded = transactions(storeAccount: try customer(of: anyID))
      .filter { $0.isCharge && $0.revokedAt != nil }
    return try HistoryPage(of: refunded.map { (place(of: $0), $0) }, after: revision)
  }

  /// "The App Store updates the recently modified date if the customer upgrades a subscription or the App Store revokes an
  /// in-app purchase" (Apple, Get Transaction History).
  private func place(of record: StoreTransactionRecord) -> HistoryPlace {
    var changedAt = record.revokedAt ?? record.purchasedAt
    if record.isUpgraded, record.revokedAt == nil {
      let paid = shares.paid(record.transactionID) ?? record.transactionID
      let period = subscription(of: record.transactionID)?.periods.first { $0.transactionID == paid }
      changedAt = period?.replacedAt ?? changedAt
    }
    return HistoryPlace(changedAt: changedAt, transactionID: record.transactionID)
  }

  // MARK: Orders

  /// The number of the order on the customer's invoice. The real store's have ten characters and no meaning.
  static func orderID(of record: StoreTransactionRecord) -> String {
    "M" + String(UInt64(record.transactionID) ?? 0, radix: 36, uppercase: true)
  }

  /// The transactions of an order; none for an unknown one. "This endpoint isn't available in the sandbox environment."
  func order(_ orderID: String) -> [StoreTransactionRecord] {
    guard environment != .sandbox, orderID.hasPrefix("M"),
      let number = UInt64(orderID.dropFirst(), radix: 36),
      let record = transaction(String(number)), record.isCharge, Self.orderID(of: record) == orderID
    else { return [] }
    return [record]
  }

  // MARK: App transactions

  /// The number of the customer's download of the app: one for each store account, for ever.
  func appTransactionID(of storeAccount: String) -> String {
    let bytes = SHA256.digest(Array("\(forge.bundleID) \(storeAccount)".utf8))
    let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 10_000_000_000_000_000
    let digits = String(number)
    return "70" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  private func storeAccount(appTransactionID: String) -> String? {
    guard appTransactionID.hasPrefix("70"), appTransactionID.count == 18 else { return nil }
    return log.accounts.keys.first { self.appTransactionID(of: $0) == appTransactionID }
  }

  /// The signed app transaction of a customer. The app was downloaded with the first purchase.
  func signedAppTransaction(of anyID: String, now: Timestamp) throws(ServerAPIError) -> String {
    let account = try customer(of: anyID)
    let downloadedAt = transactions(storeAccount: account).first?.purchasedAt ?? now
    return notificationForge.signedAppTransaction(
      id: appTransactionID(of: account), downloadedAt: downloadedAt, createdAt: now)
  }
}
