#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A JSON body of the App Store, told by its fields (receipt-facts.md, section 0).
public enum StoreMessage: Sendable, Hashable {
  /// A question to `verifyReceipt`.
  case request(VerifyReceiptRequest)
  /// An answer of `verifyReceipt`.
  case response(VerifyReceiptResponse)
  /// A notification, version 1.
  case notificationV1(ServerNotificationV1)
  /// A notification, version 2, in its JWS or already taken out of it.
  case notificationV2(ServerNotificationV2)

  /// Reads a body. Throws if it is no JSON object, or none of these, or if its decoder throws.
  public init(json: Data) throws(ReceiptDecodingError) {
    let fields = try JSONFields(json: json)
    if fields.has("signedPayload") {
      self = .notificationV2(try ServerNotificationV2(body: fields))
    } else if fields.has("notification_type") {
      self = .notificationV1(try ServerNotificationV1(fields))
    } else if fields.has("notificationType") {
      self = .notificationV2(try ServerNotificationV2(fields))
    } else if fields.has("receipt-data") {
      self = .request(try VerifyReceiptRequest(fields))
    } else if fields.has("status") || fields.has("receipt") {
      self = .response(try VerifyReceiptResponse(fields))
    } else {
      throw .field("start", "a request, an answer or a notification of the App Store")
    }
  }
}
