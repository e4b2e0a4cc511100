#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The kind of a signed payload, identified by its fields: no header and no field names it (StoreFacts c.2).
package enum SignedPayloadKind: Sendable, Hashable {
  /// ``SignedTransaction``
  case transaction
  /// ``SignedRenewalInfo``
  case renewalInfo
  /// ``SignedAppTransaction``
  case appTransaction
  /// ``ServerNotificationV2``
  case notification
  /// A request of the retention messaging interface. This module does not decode it.
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

  private init(_ fields: JSONFields) {
    self =
      if fields.has("notificationType") {
        .notification
      } else if fields.has("autoRenewProductId") || fields.has("autoRenewStatus") {
        .renewalInfo
      } else if fields.has("receiptType") || fields.has("originalApplicationVersion") {
        .appTransaction
      } else if fields.has("transactionId") {
        .transaction
      } else if fields.has("requestIdentifier") && fields.has("userLocale") {
        .retentionRequest
      } else if fields.has("environment") && fields.has("signedDate") {
        // Every field of a renewal info can be absent. The other kinds have fields that are always present,
        // and an app transaction calls its environment `receiptType`.
        .renewalInfo
      } else {
        .unknown
      }
  }
}
