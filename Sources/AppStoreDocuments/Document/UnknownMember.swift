import AppStoreReceipts

extension StoreDocument {
  /// The most members in ``unknownMembers``. Further ones are not listed.
  public static let maximumUnknownMembers = 100

  /// A member of a JSON object that the decoder does not read: new, invented, or in the wrong place.
  public struct UnknownMember: Sendable, Hashable {
    /// The place, without the numbers of items: "receipt.in_app[].colour". The last name comes from the
    /// input, and is cut after 64 characters.
    public let path: String
    /// The place where the store writes a member of this name, if there is one: the member is misplaced, and
    /// was not read. "the top", "receipt" or "in_app and latest_receipt_info"; with the kind of document if this one
    /// is of another kind, or has the member there: "the top of a notification of version 1".
    public let home: String?

    /// Pass the kind of the document.
    init(_ name: String, in path: String, of kind: StoreDocument.Kind?) {
      let short = name.unicodeScalars.count > 64 ? String(name.unicodeScalars.prefix(64)) + "…" : name
      let place = Self.withoutNumbers(path)
      self.path = place.isEmpty ? short : place + "." + short
      home = Self.homes[name].map { home in
        home.document.kinds.contains(kind) ? home.place : "\(home.place) of \(home.document.rawValue)"
      }
    }

    /// "in_app[12]" becomes "in_app[]".
    private static func withoutNumbers(_ path: String) -> String {
      var result = ""
      var isInside = false
      for character in path.unicodeScalars {
        if character == "]" { isInside = false }
        if !isInside { result.unicodeScalars.append(character) }
        if character == "[" { isInside = true }
      }
      return result
    }

    /// The documents in which a member has its place.
    private enum Document: String {
      case answer = "an answer of verifyReceipt"
      case request = "a request to verifyReceipt"
      case notificationV1 = "a notification of version 1"
      case body = "the body of a notification of version 2"
      case payload = "the payload of a notification of version 2"

      var kinds: [StoreDocument.Kind?] {
        switch self {
        case .answer: [.verifyReceiptResponse, .receiptObject, .transactionObject]
        case .request: [.verifyReceiptRequest]
        case .notificationV1: [.notificationV1]
        case .body: []
        case .payload: [.notificationV2, .notificationV2Payload]
        }
      }
    }

    private static let homes: [String: (place: String, document: Document)] = {
      let names: [(place: String, document: Document, names: [String])] = [
        (
          "the top", .answer,
          [
            "status", "receipt", "latest_receipt", "latest_receipt_info", "latest_expired_receipt_info",
            "pending_renewal_info", "is_retryable", "is-retryable",
          ]
        ),
        ("the top", .request, ["receipt-data", "exclude-old-transactions", "password"]),
        ("the top", .notificationV1, ["notification_type", "unified_receipt"]),
        ("the top", .payload, ["notificationType", "notificationUUID"]),
        ("the top", .body, ["signedPayload"]),
        (
          "receipt", .answer,
          [
            "in_app", "adam_id", "receipt_type", "application_version", "original_application_version",
            "download_id", "receipt_creation_date", "receipt_creation_date_ms",
          ]
        ),
        (
          "in_app and latest_receipt_info", .answer,
          [
            "transaction_id", "original_transaction_id", "product_id", "purchase_date", "purchase_date_ms",
            "expires_date", "expires_date_ms", "cancellation_date", "cancellation_date_ms", "quantity",
            "web_order_line_item_id", "is_trial_period",
          ]
        ),
        (
          "pending_renewal_info", .answer,
          [
            "auto_renew_product_id", "auto_renew_status", "expiration_intent", "is_in_billing_retry_period",
            "grace_period_expires_date_ms",
          ]
        ),
        ("data", .payload, ["signedTransactionInfo", "signedRenewalInfo"]),
      ]
      return names.reduce(into: [:]) { result, home in
        for name in home.names { result[name] = (home.place, home.document) }
      }
    }()
  }
}
