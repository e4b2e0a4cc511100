import Foundation
import PurchaseQueue

/// The JSON of the store's routes for what people do. Field names are those of the wire.
struct RequestList: Codable { var requests: [RequestDocument] }

/// A purchase that waits: `askToBuy`, `interrupted` or `promoted`.
struct RequestDocument: Codable {
  var requestID: String
  var origin: PurchaseRequest.Origin
  var productID: String
  var quantity: Int

  init(_ request: PurchaseRequest) {
    requestID = request.id
    origin = request.origin
    productID = request.payment.productID
    quantity = request.payment.quantity
  }
}

struct RequestDecision: Codable {
  var requestID: String
  var accountToken: UUID?
}

struct OfferRedemption: Decodable {
  var offerCode: String
  var productID: String
  var storeAccount: String?
  var device: String?
}

struct AccountSettings: Decodable {
  var storeAccount: String
  var asksToBuy: Bool?
  var billingWorks: Bool?
  var interruptedPurchases: Int?
  var family: [String]?
}

struct PlanChangeReply: Encodable { var effect: PlanEffect }

struct RenewalWish: Decodable {
  var transactionID: String
  var willRenew: Bool
}

struct PriceChange: Decodable {
  var productID: String
  /// Thousandths of the currency's unit.
  var price: Int64
  var needsConsent: Bool?
}

struct PriceAnswer: Decodable {
  var transactionID: String
  var consents: Bool
}

struct ChangeReply: Encodable { var changed: Bool }

struct NotificationList: Encodable {
  var waiting: [NotificationDocument]
  var delivered: Int
  var abandoned: Int
}

struct NotificationDocument: Encodable {
  var notificationID: String
  var version: Int
  var kind: String
  var subtype: String?
  var transactionID: String
  var dueAt: Timestamp
  var failures: Int

  init(_ notification: OutgoingNotification) {
    notificationID = notification.notificationID
    version = notification.version.rawValue
    kind = notification.kind
    subtype = notification.subtype
    transactionID = notification.transactionID
    dueAt = notification.dueAt
    failures = notification.failures
  }
}

extension TransactionReference {
  init(_ record: StoreTransactionRecord) { transactionID = record.transactionID }
}
