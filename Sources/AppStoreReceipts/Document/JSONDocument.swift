/// A JSON object, recognised by its names (StoreFacts section 0 and c.3).
struct JSONDocument {
  private let fields: JSONFields

  init(_ json: [UInt8]) throws(ReceiptDecodingError) {
    fields = try JSONFields(json: json)
  }

  func read() throws(ReceiptDecodingError) -> (StoreDocument.Kind, StoreDocument.Content) {
    guard let kind else { throw .field("start", "the field names of an App Store document") }
    switch kind {
    case .verifyReceiptRequest: return (kind, .verifyReceiptRequest(try VerifyReceiptRequest(fields)))
    case .verifyReceiptResponse: return (kind, .verifyReceiptResponse(try VerifyReceiptResponse(fields)))
    case .notificationV1: return (kind, .notificationV1(try ServerNotificationV1(fields)))
    case .notificationV2: return (kind, .notificationV2(try ServerNotificationV2(body: fields)))
    case .notificationV2Payload: return (kind, .notificationV2(try ServerNotificationV2(fields)))
    case .transactionPayload: return (kind, .transaction(try SignedTransaction(fields)))
    case .renewalInfoPayload: return (kind, .renewalInfo(try SignedRenewalInfo(fields)))
    case .appTransactionPayload: return (kind, .appTransaction(try SignedAppTransaction(fields)))
    case .serverAPIResponse: return (kind, .serverAPIResponse(try ServerAPIResponse(fields)))
    case .receiptObject: return (kind, .receiptObject(try VerifiedAppReceipt(fields)))
    case .transactionObject:
      return isRenewal
        ? (kind, .renewalObject(try PendingRenewal(fields)))
        : (kind, .transactionObject(try ReceiptTransaction(fields)))
    case .appReceipt, .transactionReceipt, .signedTransaction, .signedRenewalInfo, .signedAppTransaction:
      throw .field("start", "a JSON document")
    }
  }

  /// The most specific names come first: an item of a Server API answer also has a `status`.
  private var kind: StoreDocument.Kind? {
    if fields.has("receipt-data") { return .verifyReceiptRequest }
    if fields.has("notification_type") { return .notificationV1 }
    if fields.has("notificationType") { return .notificationV2Payload }
    if fields.has("signedPayload"), !fields.has("sendAttempts") { return .notificationV2 }
    if has(ServerAPIResponse.names + ServerAPIResponse.lists) { return .serverAPIResponse }
    if has(["status", "receipt", "latest_receipt", "latest_receipt_info"]) { return .verifyReceiptResponse }
    if has(["in_app", "receipt_type", "application_version"]) { return .receiptObject }
    if isRenewal || has(Self.transactionNames) { return .transactionObject }
    if has(["autoRenewProductId", "autoRenewStatus"]) { return .renewalInfoPayload }
    if has(["receiptType", "originalApplicationVersion"]) { return .appTransactionPayload }
    if fields.has("transactionId") { return .transactionPayload }
    return nil
  }

  private static let transactionNames = [
    "transaction_id", "original_transaction_id", "purchase_date", "purchase_date_ms", "cancellation_date_ms",
    "expires_date_ms", "product_id",
  ]

  /// Whether the object is an item of `pending_renewal_info`: it describes the next renewal and names no
  /// transaction.
  private var isRenewal: Bool {
    has(["auto_renew_product_id", "auto_renew_status", "expiration_intent", "is_in_billing_retry_period"])
      && !has(["transaction_id", "purchase_date", "purchase_date_ms", "bid"])
  }

  private func has(_ names: [String]) -> Bool { names.contains { fields.has($0) } }
}
