package import AppStoreDocuments
package import AppStoreReceipts
import Foundation
package import PurchaseQueue

/// Makes answers of `verifyReceipt` as the store writes them (StoreFacts a.3 to a.7), in both styles.
///
/// A pure value: the same arguments give the same JSON. Change a member of the
/// `AppStoreReceipts.JSONValue`, or use ``BrokenJSON``, for answers that the store would not write.
package struct VerifyReceiptForge: Sendable, Hashable {
  /// `bundle_id`, or `bid`.
  package var bundleID: String
  /// `environment`; the old style doesn't say it.
  package var environment: StoreEnvironment
  /// Writes ids, quantities and milliseconds as numbers, as servers in between do (R4.3).
  package var writesNumbers: Bool

  package init(bundleID: String, environment: StoreEnvironment = .production, writesNumbers: Bool = false) {
    self.bundleID = bundleID
    self.environment = environment
    self.writesNumbers = writesNumbers
  }

  /// An answer without a receipt: `{"status":21007}`.
  package func failure(_ status: ReceiptStatus, isRetryable: Bool? = nil) -> JSONValue {
    var members: [String: JSONValue] = ["status": .integer(Int64(status.rawValue))]
    if let isRetryable { members["is_retryable"] = .bool(isRetryable) }
    return .object(members)
  }

  /// An answer in the unified style, status 0.
  ///
  /// `held` are the transactions in the receipt that was sent, `latest` every one of the customer;
  /// `latest_receipt` is `newReceipt`, and `createdAt` the moment of the receipt that was sent. Without subscriptions in `latest`, the last three fields are absent,
  /// as in the store's answers, unless `alwaysTellsLatest`, as in notifications.
  package func unified(
    held: [StoreTransactionRecord], latest: [StoreTransactionRecord] = [], renewals: [ForgedRenewal] = [],
    newReceipt: String? = nil, createdAt: Timestamp? = nil, alwaysTellsLatest: Bool = false,
    requestedAt: Timestamp
  ) -> JSONValue {
    let receipt: [(String, JSONValue)] =
      [
        ("receipt_type", .string(environment == .production ? "Production" : "ProductionSandbox")),
        ("adam_id", 0), ("app_item_id", 0), ("bundle_id", .string(bundleID)), ("application_version", "1"),
        ("download_id", .integer(environment == .production ? 500_000_000_000_000_007 : 0)),
        ("version_external_identifier", 0), ("original_application_version", "1.0"),
        ("in_app", .array(held.map { transaction($0, isLatest: false) })),
      ]
      + date("receipt_creation_date", createdAt ?? requestedAt) + date("request_date", requestedAt)
      + date("original_purchase_date", Timestamp(milliseconds: 1_375_340_400_000))
    var members: [(String, JSONValue)] = [
      ("status", 0), ("environment", .string(environment.rawValue)), ("receipt", object(receipt)),
    ]
    if alwaysTellsLatest || latest.contains(where: { $0.expiresAt != nil }) {
      members.append(("latest_receipt_info", .array(latest.map { transaction($0, isLatest: true) })))
      members.append(("pending_renewal_info", .array(renewals.map(pendingRenewal))))
      if let newReceipt { members.append(("latest_receipt", .string(newReceipt))) }
    }
    return object(members)
  }

  /// An answer in the old style: status 0, or 21006 once `latest` has ended at `requestedAt`.
  package func oldStyle(
    sent: StoreTransactionRecord, latest: StoreTransactionRecord? = nil, renewal: ForgedRenewal? = nil,
    newReceipt: String? = nil, requestedAt: Timestamp
  ) -> JSONValue {
    var members: [(String, JSONValue)] = [("receipt", oldTransaction(sent))]
    let newest = latest ?? sent
    let hasLapsed = newest.expiresAt.map { $0 <= requestedAt } ?? false
    members.append(("status", hasLapsed ? 21006 : 0))
    if newest.expiresAt != nil {
      members.append(
        (hasLapsed ? "latest_expired_receipt_info" : "latest_receipt_info", oldTransaction(newest)))
      if !hasLapsed, let newReceipt { members.append(("latest_receipt", .string(newReceipt))) }
    }
    if let renewal {
      members.append(("auto_renew_status", renewal.willAutoRenew ? 1 : 0))
      members.append(("auto_renew_product_id", .string(renewal.autoRenewProductID)))
      members += expiry(renewal)
    }
    return object(members)
  }

  /// An item of `in_app`, or of `latest_receipt_info`, which says more.
  package func transaction(_ record: StoreTransactionRecord, isLatest: Bool) -> JSONValue {
    var members = common(record)
    if let expires = record.expiresAt { members += date("expires_date", expires) }
    if isLatest {
      members.append(("in_app_ownership_type", .string(record.ownership.rawValue)))
      if let code = record.offerCode { members.append(("offer_code_ref_name", .string(code))) }
      if record.isUpgraded { members.append(("is_upgraded", "true")) }
      if let group = record.groupID { members.append(("subscription_group_identifier", .string(group))) }
      if let token = record.accountToken {
        members.append(("app_account_token", .string(token.uuidString.lowercased())))
      }
    }
    return object(members)
  }

  /// The `receipt` of the old style, where `expires_date` is milliseconds.
  package func oldTransaction(_ record: StoreTransactionRecord) -> JSONValue {
    var members = common(record)
    members += [
      ("bid", .string(bundleID)), ("bvrs", "1"), ("item_id", number("892617314")),
      ("unique_identifier", "7468f08dc6b0cb8fa02580c5f35ef943ff3ca6da"),
      ("unique_vendor_identifier", "3873A4E2-FB10-4BA4-A24E-11C50E53BD4A"),
    ]
    if let expires = record.expiresAt {
      members += [
        ("expires_date", number(String(expires.milliseconds))),
        ("expires_date_formatted", .string(StoreDateText.text(expires, zone: "Etc/GMT"))),
        ("expires_date_formatted_pst", .string(StoreDateText.text(expires, zone: "America/Los_Angeles"))),
      ]
    }
    return object(members)
  }

  /// An item of `pending_renewal_info`.
  package func pendingRenewal(_ renewal: ForgedRenewal) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("original_transaction_id", number(renewal.originalTransactionID)),
      ("product_id", .string(renewal.productID)),
      ("auto_renew_product_id", .string(renewal.autoRenewProductID)),
      ("auto_renew_status", number(renewal.willAutoRenew ? "1" : "0")),
    ]
    members += expiry(renewal)
    if let grace = renewal.gracePeriodExpiresAt { members += date("grace_period_expires_date", grace) }
    if let consents = renewal.consentsToPrice {
      members += [
        ("price_consent_status", number(consents ? "1" : "0")),
        ("price_increase_status", number(consents ? "1" : "0")),
      ]
    }
    return object(members)
  }

  private func expiry(_ renewal: ForgedRenewal) -> [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    if let intent = renewal.expirationIntent { members.append(("expiration_intent", number(String(intent)))) }
    if let retry = renewal.isInBillingRetry {
      members.append(("is_in_billing_retry_period", number(retry ? "1" : "0")))
    }
    return members
  }

  private func common(_ record: StoreTransactionRecord) -> [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [
      ("quantity", number(String(record.quantity))), ("product_id", .string(record.productID)),
      ("transaction_id", number(record.transactionID)),
      ("original_transaction_id", number(record.originalTransactionID)),
      ("is_trial_period", record.isTrial ? "true" : "false"),
    ]
    members +=
      date("purchase_date", record.purchasedAt) + date("original_purchase_date", record.originalPurchasedAt)
    if record.expiresAt != nil {
      members.append(("is_in_intro_offer_period", record.isInIntroductoryOffer ? "true" : "false"))
    }
    if let item = record.webOrderLineItemID { members.append(("web_order_line_item_id", number(item))) }
    if let revoked = record.revokedAt {
      members +=
        date("cancellation_date", revoked) + [
          ("cancellation_reason", number(String(record.revocationReason.rawValue)))
        ]
    }
    return members
  }

  private func date(_ name: String, _ moment: Timestamp) -> [(String, JSONValue)] {
    StoreDateText.members(name, moment, isNumeric: writesNumbers)
  }

  private func number(_ text: String) -> JSONValue {
    guard writesNumbers, let integer = Int64(text) else { return .string(text) }
    return .integer(integer)
  }

  private func object(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(Dictionary(members) { _, last in last })
  }
}
