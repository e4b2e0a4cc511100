import Foundation
import PurchaseSync

/// The JSON of the routes that have no type in the library. Field names are those of the wire.
struct OrderList: Encodable { var orders: [OrderDocument] }

struct EntitlementList: Encodable { var entitlements: [Entitlement] }

struct Entitlement: Encodable {
  var productID: String
  var quantity: Int
}

struct DeviceClaimRequest: Decodable { var device: UUID }

struct ProductList: Encodable { var products: [StoreProduct] }

struct PaymentRequest: Decodable {
  var storeAccount: String
  var productID: String
  var quantity: Int?
  var accountToken: UUID?
}

struct PaymentReply: Encodable {
  var transactionID: String
  var signedTransaction: String
}

struct UnfinishedList: Encodable { var transactions: [String] }

struct TransactionReference: Decodable { var transactionID: String }

struct NotificationBody: Encodable { var signedPayload: String }

struct EmptyDocument: Encodable {}
