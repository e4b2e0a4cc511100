package import AppStoreReceipts

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The kind of a signed payload, identified by its fields: no header and no field names it (StoreFacts c.2).
package enum SignedPayloadKind: Sendable, Hashable {
  /// `SignedTransaction`
  case transaction
  /// ``SignedRenewalInfo``
  case renewalInfo
  /// ``SignedAppTransaction``
  case appTransaction
  /// ``ServerNotificationV2``
  case notification
  /// ``RetentionRequest``
  case retentionRequest
  /// None of these.
  case unknown

  /// Inspects the payload of a JWS. Throws if it is not a JWS with a JSON object.
  package init(jws: String) throws(ReceiptDecodingError) {
    self.init(try CompactJWS.payloadFields(of: jws.utf8))
  }

  /// Inspects the JSON of a payload. Throws if it is not an object.
  package init(payload: Data) throws(ReceiptDecodingError) {
    self.init(try CompactJWS.fields(ofPayload: payload))
  }

  init(_ fields: JSONFields) {
    func count(_ names: [String]) -> Int { names.count { fields.has($0) } }
    if fields.has("notificationType") {
      self = .notification
    } else if fields.has("requestIdentifier") && (fields.has("userLocale") || fields.has("locale")) {
      self = .retentionRequest
    } else if fields.has("receiptType") || fields.has("originalApplicationVersion") {
      self = .appTransaction
    } else {
      let (renewal, transaction) = (count(Self.renewalNames), count(Self.transactionNames))
      if renewal > transaction {
        self = .renewalInfo
      } else if transaction > 0 {
        self = .transaction
      } else if fields.has("environment") && fields.has("signedDate") {
        // Every field of a renewal info can be absent. The other kinds have fields that are always present,
        // and an app transaction calls its environment `receiptType`.
        self = .renewalInfo
      } else {
        self = .unknown
      }
    }
  }

  /// Names that a renewal info may have, and a transaction never has.
  private static let renewalNames = [
    "autoRenewProductId", "autoRenewStatus", "expirationIntent", "isInBillingRetryPeriod",
    "gracePeriodExpiresDate", "priceIncreaseStatus", "eligibleWinBackOfferIds", "recentSubscriptionStartDate",
    "renewalDate", "renewalPrice", "renewalBillingPlanType", "renewalQuantity",
  ]

  /// Names that a transaction may have, and a renewal info never has.
  private static let transactionNames = [
    "transactionId", "bundleId", "purchaseDate", "originalPurchaseDate", "expiresDate", "quantity", "type",
    "inAppOwnershipType", "transactionReason", "revocationDate", "webOrderLineItemId", "storefront",
  ]
}
