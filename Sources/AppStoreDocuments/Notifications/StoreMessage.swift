public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A JSON body of the App Store, identified by its fields (StoreFacts section 0).
public enum StoreMessage: Sendable, Hashable {
  /// A request to `verifyReceipt`.
  case request(VerifyReceiptRequest)
  /// An answer of `verifyReceipt`.
  case response(VerifyReceiptResponse)
  /// A notification, version 1.
  case notificationV1(ServerNotificationV1)
  /// A notification, version 2: in its JWS, or its payload alone.
  case notificationV2(ServerNotificationV2)

  /// Reads a body. Throws if it is no JSON object, is none of these, or cannot be decoded.
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
