import AppStoreReceipts

/// A JSON object, recognised by its names (StoreFacts section 0 and c.3), and read leniently.
struct JSONDocument {
  private let fields: JSONFields
  private let findings: DocumentFindings

  init(_ json: [UInt8], _ findings: DocumentFindings) throws(ReceiptDecodingError) {
    self.findings = findings
    fields = try JSONFields(json: json, findings: findings)
  }

  /// The payload of a JWS.
  init(jws: [UInt8], _ findings: DocumentFindings) throws(ReceiptDecodingError) {
    self.findings = findings
    fields = try CompactJWS.payloadFields(of: jws, findings: findings)
  }

  func read() throws(ReceiptDecodingError) -> (StoreDocument.Kind, StoreDocument.Content) {
    guard let kind else {
      throw .field(
        "start", "the field names of an App Store document",
        found: fields.has("errorCode") ? "an error of the App Store Server API" : "an object without them")
    }
    findings.kind = kind
    let content: StoreDocument.Content
    do throws(ReceiptDecodingError) {
      content = try self.content(of: kind)
    } catch {
      // A required field of another type was named first, and then counted as absent.
      throw error.reason == .missing ? findings.failures.first ?? error : error
    }
    // Where nothing is left to show, the first error says why.
    if let failure = findings.failures.first, isEmpty(content) { throw failure }
    return (kind, content)
  }

  /// The document inside of a JWS. It is read by these rules alone, and as a part of another document.
  func readSigned() throws(ReceiptDecodingError) -> (kind: StoreDocument.Kind, content: StoreDocument.Content)
  {
    let kind = SignedPayloadKind(fields)
    if kind == .notification { findings.kind = .notificationV2 }
    switch kind {
    case .transaction: return (.signedTransaction, try content(of: .transactionPayload))
    case .renewalInfo: return (.signedRenewalInfo, try content(of: .renewalInfoPayload))
    case .appTransaction: return (.signedAppTransaction, try content(of: .appTransactionPayload))
    case .notification: return (.notificationV2, try content(of: .notificationV2Payload))
    case .retentionRequest: return (.retentionRequest, try content(of: .retentionRequest))
    case .unknown:
      throw .field(
        "payload", "a transaction, a renewal info, an app transaction, a notification or a retention request",
        found: "an object without their fields")
    }
  }

  private func content(
    of kind: StoreDocument.Kind
  ) throws(ReceiptDecodingError) -> StoreDocument.Content {
    switch kind {
    case .verifyReceiptRequest: return .verifyReceiptRequest(try VerifyReceiptRequest(fields))
    case .verifyReceiptResponse: return .verifyReceiptResponse(try VerifyReceiptResponse(fields))
    case .notificationV1: return .notificationV1(try ServerNotificationV1(fields))
    case .notificationV2: return .notificationV2(try ServerNotificationV2(body: fields))
    case .notificationV2Payload: return .notificationV2(try ServerNotificationV2(fields))
    case .transactionPayload:
      return try transaction(SignedTransaction.init) { .transaction($0) }
    case .renewalInfoPayload: return .renewalInfo(try SignedRenewalInfo(fields))
    case .appTransactionPayload: return .appTransaction(try SignedAppTransaction(fields))
    case .retentionRequest: return .retentionRequest(try RetentionRequest(fields))
    case .serverAPIResponse: return .serverAPIResponse(try ServerAPIResponse(fields))
    case .receiptObject: return .receiptObject(try VerifiedAppReceipt(fields))
    case .transactionObject:
      if isRenewal { return .renewalObject(try PendingRenewal(fields)) }
      return try transaction(ReceiptTransaction.init) { .transactionObject($0) }
    case .appReceipt, .transactionReceipt, .signedTransaction, .signedRenewalInfo, .signedAppTransaction:
      throw .field("start", "a JSON document")
    }
  }

  /// A transaction is read strictly. If that fails, the parts that can be read are shown.
  private func transaction<Made>(
    _ make: (JSONFields) throws(ReceiptDecodingError) -> Made, _ content: (Made) -> StoreDocument.Content
  ) throws(ReceiptDecodingError) -> StoreDocument.Content {
    let made = try fields.lenient { () throws(ReceiptDecodingError) in try make(fields.strict) }
    if let made { return content(made) }
    return .incompleteTransaction(IncompleteTransaction(fields))
  }

  private func isEmpty(_ content: StoreDocument.Content) -> Bool {
    switch content {
    case .verifyReceiptResponse(let response):
      response.status == nil && !fields.isObject("receipt") && response.transactions.isEmpty
        && response.pendingRenewals.isEmpty && response.latestReceipt == nil
    case .receiptObject(let receipt):
      receipt.bundleID == nil && receipt.receiptType == nil && receipt.transactions.isEmpty
    case .serverAPIResponse(let response): response.signedFields.isEmpty
    case .incompleteTransaction(let transaction): transaction.isEmpty
    default: false
    }
  }

  /// The most specific names come first: an item of a Server API answer also has a `status`.
  private var kind: StoreDocument.Kind? {
    if fields.has("receipt-data") { return .verifyReceiptRequest }
    if fields.has("notification_type") { return .notificationV1 }
    if fields.has("notificationType") { return .notificationV2Payload }
    if fields.has("signedPayload"), !fields.has("sendAttempts") { return .notificationV2 }
    if has(ServerAPIResponse.names) || ServerAPIResponse.lists.contains(where: fields.isArray) {
      return .serverAPIResponse
    }
    if has(["status", "receipt", "latest_receipt", "latest_receipt_info"]) { return .verifyReceiptResponse }
    if has(["in_app", "receipt_type", "application_version"]) { return .receiptObject }
    if isRenewal || has(Self.transactionNames) { return .transactionObject }
    switch SignedPayloadKind(fields) {
    case .transaction: return .transactionPayload
    case .renewalInfo: return .renewalInfoPayload
    case .appTransaction: return .appTransactionPayload
    case .retentionRequest: return .retentionRequest
    case .notification: return .notificationV2Payload
    case .unknown: return nil
    }
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
