#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The answer of `verifyReceipt`, in the unified style or in the old one of a single transaction
/// (receipt-facts.md a.3).
///
/// It is worth what its sender is worth: genuine if *your server* got it from the store over TLS, worthless
/// from a device. Holds a proof (``latestReceipt``): descriptions don't show it.
public struct VerifyReceiptResponse: Sendable, Hashable {
  /// `status`; absent only in texts that the store didn't write.
  public var status: ReceiptStatus?
  /// `environment`; absent in failures and in the old style.
  public var environment: StoreEnvironment?
  /// `receipt`
  public var receipt: Receipt?
  /// `latest_receipt`: base64 of the newest receipt, to be stored in place of the one sent (R2.5).
  public var latestReceipt: String?
  /// `latest_receipt_info`: one transaction in the old style, many in the unified one, in no useful order.
  public var latestTransactions: [ReceiptTransaction]
  /// `latest_expired_receipt_info`: with 21006, the last period that was paid (R1.4).
  public var latestExpiredTransactions: [ReceiptTransaction]
  /// `pending_renewal_info`; of the unified style.
  public var pendingRenewals: [PendingRenewal]
  /// What the old style says of the renewal at its top level: `auto_renew_status`, `auto_renew_product_id`,
  /// `expiration_intent`, `is_in_billing_retry_period`. It is about the receipt's own subscription.
  public var topLevelRenewal: PendingRenewal?
  /// `is_retryable` or `is-retryable`
  public var isRetryable: Bool?
  /// `exception`, a text for developers.
  public var exception: String?
  /// What this module doesn't know.
  public var unknownFields: [String: JSONValue]

  /// The two shapes of `receipt`.
  public enum Receipt: Sendable, Hashable {
    /// The unified style, since iOS 7: an app receipt.
    case app(VerifiedAppReceipt)
    /// The old style: one transaction.
    case transaction(ReceiptTransaction)
  }

  /// Reads the body of an answer.
  ///
  /// The style follows from `receipt` alone: with `in_app` it is unified; with `transaction_id` it is the old
  /// one; with neither, it is an app receipt that says nothing of purchases.
  ///
  /// Throws if the body is no JSON object (a captive portal's page, an empty body: a failure of the
  /// transport), or if a known field has a value that it can't have; the error names the field.
  public init(json: Data) throws(ReceiptDecodingError) {
    try self.init(JSONFields(json: json))
  }

  /// The same, from a value that was read before.
  public init(_ value: JSONValue) throws(ReceiptDecodingError) {
    try self.init(JSONFields(value, path: ""))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    status = try fields.receiptStatus("status")
    environment = try fields.word("environment", as: StoreEnvironment.self)
    receipt = try fields.object("receipt").map(Receipt.init)
    latestReceipt = try fields.identifier("latest_receipt")
    latestTransactions = try fields.objects("latest_receipt_info", ReceiptTransaction.init)
    latestExpiredTransactions = try fields.objects("latest_expired_receipt_info", ReceiptTransaction.init)
    pendingRenewals = try fields.objects("pending_renewal_info", PendingRenewal.init)
    let renewal = try PendingRenewal(taking: &fields)
    topLevelRenewal = renewal.isEmpty ? nil : renewal
    let (underscored, hyphenated) = try (fields.flag("is_retryable"), fields.flag("is-retryable"))
    isRetryable = underscored ?? hyphenated
    exception = try fields.text("exception")
    unknownFields = try fields.unknown()
  }

  /// What to do with this answer; ``ReceiptStatus/Action/unknown`` where it has no status.
  public var action: ReceiptStatus.Action { status?.action(isRetryable: isRetryable) ?? .unknown }

  /// The app's bundle id, of either style. Compare it with your own: a genuine receipt of another app is no
  /// proof.
  public var bundleID: String? {
    switch receipt {
    case .app(let receipt): receipt.bundleID
    case .transaction(let transaction): transaction.oldStyle?.bundleID
    case nil: nil
    }
  }

  /// Every transaction in the answer, those of `latest_receipt_info` last; one may occur several times.
  public var transactions: [ReceiptTransaction] {
    let own: [ReceiptTransaction]
    switch receipt {
    case .app(let receipt): own = receipt.transactions
    case .transaction(let transaction): own = [transaction]
    case nil: own = []
    }
    return own + latestExpiredTransactions + latestTransactions
  }
}

extension VerifyReceiptResponse.Receipt {
  init(_ fields: JSONFields) throws(ReceiptDecodingError) {
    if !fields.has("in_app") && fields.has("transaction_id") {
      self = .transaction(try ReceiptTransaction(fields))
    } else {
      self = .app(try VerifiedAppReceipt(fields))
    }
  }
}

extension VerifyReceiptResponse: CustomStringConvertible, CustomReflectable {
  /// Status and counts; no receipt.
  public var description: String {
    let status = status.map { "\($0)" } ?? "none"
    return "verifyReceipt answer, status \(status); \(transactions.count) transactions"
  }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
