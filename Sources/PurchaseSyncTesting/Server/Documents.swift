import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

// The JSON of the routes that have no type in the library. Field names are those of the wire.

package struct EntitlementList: Encodable {
  var entitlements: [Entitlement]

  package init(entitlements: [Entitlement]) { self.entitlements = entitlements }
}

package struct EmptyDocument: Encodable { package init() {} }

struct ProductList: Encodable { var products: [StoreProduct] }

/// A store account, or the device on which it is signed in.
struct StoreCaller: Codable {
  var storeAccount: String?
  var device: String?
}

struct PaymentRequest: Codable {
  var storeAccount: String?
  var device: String?
  var launch: String?
  var productID: String
  var quantity: Int?
  var accountToken: UUID?
  var delivery: StoreDelivery?
}

/// Receipts are base64 in all replies, and absent where no transaction needs one as its proof.
struct PaymentReply: Encodable {
  var transactionID: String
  /// The number on the customer's invoice, for *Look Up Order ID*.
  var orderID: String
  var signedTransaction: String
  var transactions: [DeliveredTransaction]
  var receipt: Data?
}

struct ReceiptReply: Codable { var receipt: Data? }

struct FinishRequest: Codable {
  var transactionIDs: [String]
  var storeAccount: String?
  var device: String?
}

struct FinishReply: Codable {
  enum Result: String, Codable { case finished, notListed }

  /// By transaction id.
  var results: [String: Result]

  init(_ results: [String: FinishResult]) {
    self.results = results.mapValues { $0 == .finished ? .finished : .notListed }
  }
}

struct SignInRequest: Codable {
  var device: String
  var storeAccount: String?
}

struct RequestList: Codable { var requests: [RequestDocument] }

/// A purchase that waits.
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

struct TransactionReference: Codable {
  var transactionID: String

  init(_ record: StoreTransactionRecord) { transactionID = record.transactionID }
}

/// How much of a transaction is refunded: all of it, unless one of the others says how much.
struct RefundWish: Decodable {
  var transactionID: String
  var units: Int?
  /// In thousandths of a percent.
  var share: Int?
  var timeLeft: Bool?

  func extent() throws(HTTPProblem) -> RefundExtent {
    switch (units, share, timeLeft ?? false) {
    case (nil, nil, false): return .whole
    case (let units?, nil, false): return .units(units)
    case (nil, nil, true): return .timeLeft
    case (nil, let share?, false):
      guard let share = RefundedShare(milliPercent: share) else {
        throw .invalid("share: not 0 to 100,000 thousandths of a percent")
      }
      return .share(share)
    default: throw .invalid("units, share, timeLeft: more than one of them")
    }
  }
}

/// One change of a subscription's seats.
struct SeatChange: Decodable {
  var transactionID: String
  /// A member who gets a seat.
  var assignTo: String?
  /// Whether the member's transaction carries the purchaser's account token.
  var carriesToken: Bool?
  /// A member whose seat is taken back.
  var takeFrom: String?
  /// How many seats of the transaction are refunded.
  var refunded: Int?
  /// How many seats the next period has.
  var renewing: Int?
  /// Claims of seats that a notification says were taken back, whatever the store knows of them.
  var unclaimed: [String]?
}

/// The transaction that changed, or a member's new one, and its notification for a caller that posts it to its backend.
struct SignedChange: Encodable {
  var transactionID: String
  var signedPayload: String
}

struct PlanChange: Decodable {
  var transactionID: String
  var productID: String?
}

/// A handover with the notification of the renewal.
struct RenewalReply: Encodable {
  private enum Key: CodingKey { case signedPayload }

  var handover: StoreHandover
  var signedPayload: String

  func encode(to encoder: any Encoder) throws {
    try handover.encode(to: encoder)
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(signedPayload, forKey: .signedPayload)
  }
}

struct PlanChangeReply: Encodable { var effect: PlanEffect }

struct RenewalWish: Decodable {
  var transactionID: String
  var willRenew: Bool
}

struct ConsentWithdrawal: Decodable { var storeAccount: String }

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

struct NotificationBody: Encodable { var signedPayload: String }

/// Members that are absent stay as they are.
struct NotificationSettings: Decodable {
  /// Empty for the server's own backend.
  var url: String?
  var versions: [Int]?
}

struct NotificationList: Encodable {
  /// Nil for the server's own backend.
  var url: String?
  var versions: [Int]
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

/// *Get Transaction Info* as a backend reads it.
struct TransactionInfo: Decodable { var signedTransactionInfo: String }

/// A page of *Get Transaction History* as a backend reads it.
struct TransactionHistory: Decodable {
  var revision: String?
  var hasMore: Bool
  var signedTransactions: [String]
}
