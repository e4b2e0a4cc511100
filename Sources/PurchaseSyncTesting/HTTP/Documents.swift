import Foundation
import PurchaseSync

/// The JSON of the routes that have no type in the library. Field names are those of the wire.
struct OrderList: Encodable { var orders: [OrderDocument] }

struct EntitlementList: Encodable { var entitlements: [Entitlement] }

struct DeviceClaimRequest: Decodable { var device: UUID }

/// The body of `POST /v1/receipts`, in either form: claims, or only a receipt.
enum UploadBody: Decodable {
  case claims(UploadRequest)
  case receipt(ReceiptUpload)

  private enum Key: String, CodingKey {
    case receiptData = "receipt-data"
    case uuid, uid
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    guard fields.contains(.receiptData) else {
      self = .claims(try UploadRequest(from: decoder))
      return
    }
    let upload = ReceiptUpload(
      receiptData: try fields.decode(String.self, forKey: .receiptData),
      device: try fields.decode(UUID.self, forKey: .uuid),
      account: try fields.decodeIfPresent(String.self, forKey: .uid))
    guard let upload else {
      throw DecodingError.dataCorruptedError(
        forKey: .receiptData, in: fields, debugDescription: "no receipt")
    }
    self = .receipt(upload)
  }

  /// What it makes the backend ask the store.
  var queries: [VerificationQuery] {
    switch self {
    case .claims(let upload): BackendModel.queries(of: upload)
    case .receipt(let upload): upload.queries
    }
  }

  var claims: [Claim] {
    switch self {
    case .claims(let upload): upload.claims
    case .receipt(let upload): upload.claims
    }
  }
}

struct ProductList: Encodable { var products: [StoreProduct] }

/// Who asks the store: a store account, or whoever is signed in on a device.
struct PaymentRequest: Decodable {
  var storeAccount: String?
  var device: String?
  var launch: String?
  var productID: String
  var quantity: Int?
  var accountToken: UUID?
  var delivery: StoreDelivery?
}

struct PaymentReply: Encodable {
  var transactionID: String
  var signedTransaction: String
  var transactions: [DeliveredTransaction]
  /// Base64, if it is the proof of any.
  var receipt: String?
}

struct ListingReply: Codable {
  var account: String?
  var transactions: [DeliveredTransaction]
  /// Base64, if it is the proof of any.
  var receipt: String?
}

/// Base64; nil where there is no receipt.
struct ReceiptReply: Codable { var receipt: String? }

struct StoreCallerDocument: Codable {
  var storeAccount: String?
  var device: String?
}

struct FinishRequest: Codable {
  var transactionID: String
  var storeAccount: String?
  var device: String?
}

/// `finished` or `notListed`.
struct FinishReply: Codable { var result: String }

struct SignInRequest: Codable {
  var device: String
  var storeAccount: String?
}

struct TransactionReference: Codable { var transactionID: String }

struct PlanChange: Decodable {
  var transactionID: String
  var productID: String?
}

struct NotificationBody: Encodable { var signedPayload: String }

struct EmptyDocument: Encodable {}
