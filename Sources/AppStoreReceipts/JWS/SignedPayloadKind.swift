#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a signed payload is, told by its fields: no header and no field names it (receipt-facts.md c.2).
public enum SignedPayloadKind: Sendable, Hashable {
  /// ``SignedTransaction``
  case transaction
  /// ``SignedRenewalInfo``
  case renewalInfo
  /// ``SignedAppTransaction``
  case appTransaction
  /// ``ServerNotificationV2``
  case notification
  /// A request of the retention messaging interface; not decoded by this module.
  case retentionRequest
  /// None of these.
  case unknown

  /// Looks at the payload of a JWS. Throws if it is not a JWS with a JSON object.
  public init(jws: String) throws(ReceiptDecodingError) {
    self.init(try CompactJWS.payloadFields(of: jws.utf8))
  }

  /// Looks at a payload's JSON. Throws if it is not an object.
  public init(payload: Data) throws(ReceiptDecodingError) {
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
        // Every field of a renewal info can be absent; the others have names that can't be, and an app
        // transaction calls its environment `receiptType`.
        .renewalInfo
      } else {
        .unknown
      }
  }
}
