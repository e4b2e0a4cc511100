import AppStoreReceipts
import PurchaseQueue

/// The body and the query of *Get Notification History*.
struct NotificationQuery: Hashable {
  static let pageLength = 20

  var startDate: Int64
  var endDate: Int64
  var kind: String?
  var subtype: String?
  var transactionID: String?
  var onlyFailures = false
  /// The number of the last notification of the page before; 0 for the first page.
  var after = 0

  /// "Notification history is available for the past 180 days in the production environment, and the past 30 days in the
  /// sandbox environment." Throws the store's error for a wrong body.
  init(
    body: JSONValue, paginationToken: String?, environment: StoreEnvironment, now: Timestamp
  ) throws(ServerAPIError) {
    guard let start = body["startDate"]?.wholeNumber, start >= 0 else { throw .invalidStartDate }
    guard let end = body["endDate"]?.wholeNumber, end >= 0 else { throw .invalidEndDate }
    guard start < end else { throw .startAfterEnd }
    let days: Int64 = environment == .sandbox ? 30 : 180
    guard start >= now.milliseconds - days * StorePace.day else { throw .startTooEarly }
    (startDate, endDate) = (start, min(end, now.milliseconds))
    (kind, subtype) = (body["notificationType"]?.string, body["notificationSubtype"]?.string)
    transactionID = body["transactionId"]?.string
    onlyFailures = body["onlyFailures"]?.flag ?? false
    guard kind == nil || transactionID == nil else { throw .multipleFilters }
    if let kind, !Self.kinds.contains(kind) { throw .invalidNotificationType }
    if let subtype {
      guard kind != nil, Self.subtypes.contains(subtype) else { throw .invalidNotificationType }
    }
    if let paginationToken {
      guard let number = number(of: paginationToken) else { throw .invalidPaginationToken }
      after = number
    }
  }

  /// Whether the history has this notification; the customer's account is looked up by the store.
  func matches(_ entry: LoggedNotification) -> Bool {
    // The end is included: a notification of this moment is in the history.
    startDate...max(startDate, endDate) ~= entry.createdAt.milliseconds && entry.number > after
      && kind.map { $0 == entry.kind } ?? true && subtype.map { $0 == entry.subtype } ?? true
      && (!onlyFailures || !entry.isDelivered)
  }

  // MARK: Tokens

  private static let tokenPrefix = "page-"

  /// The token of the page after this notification: its number, and the filters to which the token belongs.
  func token(after entry: LoggedNotification) -> String {
    "\(Self.tokenPrefix)\(entry.number)-\(fingerprint)"
  }

  private func number(of token: String) -> Int? {
    let parts = token.split(separator: "-", omittingEmptySubsequences: false)
    guard token.hasPrefix(Self.tokenPrefix), parts.count == 3, let number = Int(parts[1]), number > 0,
      parts[2] == fingerprint
    else { return nil }
    return number
  }

  /// In a list with other filters, the number would be another place. A later end adds to the same list.
  private var fingerprint: String {
    HistoryPlace.fingerprint(of: [
      String(startDate), kind ?? "", subtype ?? "", transactionID ?? "", String(onlyFailures),
    ])
  }

  // MARK: Words

  private static let kinds: Set<String> = [
    "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW",
    "EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "PRICE_CHANGE", "REFUND",
    "REFUND_DECLINED", "REFUND_REVERSED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION",
    "REVOKE", "TEST", "EXTERNAL_PURCHASE_TOKEN", "ONE_TIME_CHARGE", "METADATA_UPDATE", "MIGRATION",
    "RESCIND_CONSENT",
  ]

  private static let subtypes: Set<String> = [
    "INITIAL_BUY", "RESUBSCRIBE", "DOWNGRADE", "UPGRADE", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED",
    "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "GRACE_PERIOD", "BILLING_RECOVERY", "PENDING",
    "ACCEPTED", "PRODUCT_NOT_FOR_SALE", "SUMMARY", "FAILURE", "UNREPORTED", "ACTIVE_TOKEN_REMINDER",
    "CREATED",
  ]
}
