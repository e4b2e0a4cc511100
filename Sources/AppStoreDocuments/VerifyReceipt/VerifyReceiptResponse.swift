public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The answer of `verifyReceipt`, in the unified style or in the old style of a single transaction
/// (StoreFacts a.3).
///
/// It is as reliable as its sender: genuine if *your server* got it from the store over TLS, worthless from a
/// device. It contains a proof (``latestReceipt``); descriptions do not show it.
public struct VerifyReceiptResponse: Sendable, Hashable {
  /// `status`; absent only in texts that the store did not write.
  public var status: ReceiptStatus?
  /// `environment`; absent in failures and in the old style.
  public var environment: StoreEnvironment?
  /// `receipt`
  public var receipt: Receipt?
  /// `latest_receipt`: base64 of the newest receipt. Store it in place of the sent one (R2.5).
  public var latestReceipt: String?
  /// `latest_receipt_info`: one transaction in the old style, many in the unified style, in no defined order.
  public var latestTransactions: [ReceiptTransaction]
  /// `latest_expired_receipt_info`: with status 21006, the last paid period (R1.4).
  public var latestExpiredTransactions: [ReceiptTransaction]
  /// `pending_renewal_info`. Only the unified style has it.
  public var pendingRenewals: [PendingRenewal]
  /// The renewal fields that the old style has at its top level: `auto_renew_status`,
  /// `auto_renew_product_id`, `expiration_intent`, `is_in_billing_retry_period`. They are about the receipt's
  /// own subscription.
  public var topLevelRenewal: PendingRenewal?
  /// `is_retryable` or `is-retryable`
  public var isRetryable: Bool?
  /// `exception`, a text for developers.
  public var exception: String?
  /// Fields that this module does not know.
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
  /// The style follows from `receipt` alone: with `in_app` it is unified; with `transaction_id` or `product_id`
  /// it is the old one; with none of them, it is an app receipt without purchases.
  ///
  /// Throws if the body is no JSON object (a captive portal's page or an empty body, which is a failure of
  /// the transport), or if a known field has an invalid value; the error names the field.
  public init(json: Data) throws(ReceiptDecodingError) {
    try self.init(JSONFields(json: json))
  }

  /// Reads an answer from a decoded JSON value.
  public init(_ value: JSONValue) throws(ReceiptDecodingError) {
    try self.init(JSONFields(value, path: ""))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    status = try fields.receiptStatus("status")
    environment = try fields.word("environment", as: StoreEnvironment.self)
    receipt = try fields.object("receipt", Receipt.init)
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

  /// The action for this answer; ``ReceiptStatus/Action/unknown`` if it has no status.
  public var action: ReceiptStatus.Action { status?.action(isRetryable: isRetryable) ?? .unknown }

  /// The app's bundle id, of either style. Compare it with your own: a genuine receipt of another app proves
  /// nothing.
  public var bundleID: String? {
    switch receipt {
    case .app(let receipt): receipt.bundleID
    case .transaction(let transaction): transaction.oldStyle?.bundleID
    case nil: nil
    }
  }

  /// All transactions in the answer, those of `latest_receipt_info` last. One may occur several times.
  public var transactions: [ReceiptTransaction] {
    let own: [ReceiptTransaction]
    switch receipt {
    case .app(let receipt): own = receipt.transactions
    case .transaction(let transaction): own = [transaction]
    case nil: own = []
    }
    // A list that is alone is not copied: it can be long.
    let others = own + latestExpiredTransactions
    return others.isEmpty ? latestTransactions : others + latestTransactions
  }
}

extension VerifyReceiptResponse.Receipt {
  init(_ fields: JSONFields) throws(ReceiptDecodingError) {
    if !fields.has("in_app") && (fields.has("transaction_id") || fields.has("product_id")) {
      self = .transaction(try ReceiptTransaction(fields.strict))
    } else {
      self = .app(try VerifiedAppReceipt(fields))
    }
  }
}

extension VerifyReceiptResponse: CustomStringConvertible, CustomReflectable {
  /// Status and counts, without the receipt.
  public var description: String {
    let status = status.map { "\($0)" } ?? "none"
    return "verifyReceipt answer, status \(status); \(transactions.count) transactions"
  }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
