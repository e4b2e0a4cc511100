import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

@testable import PurchaseSyncTesting

/// Values that most tests need.
enum Sample {
  static let bundleID = "com.example.app"
  static let now = Timestamp(milliseconds: 1_700_000_000_000)
  static let day: Int64 = 86_400_000
  static let forge = ReceiptForge(bundleID: bundleID)
  static let products = [
    StoreProduct(id: "coins", kind: .consumable),
    StoreProduct(id: "pro", kind: .nonConsumable),
    StoreProduct(id: "monthly", kind: .autoRenewable, period: .milliseconds(30 * day)),
  ]

  static func store() -> StoreModel { StoreModel(products: products, forge: forge) }

  static func record(
    _ id: String = "1", original: String? = nil, product: String = "coins", quantity: Int = 1,
    token: UUID? = nil, expiresAt: Timestamp? = nil, environment: StoreEnvironment = .production,
    purchasedAt: Timestamp = now, revokedAt: Timestamp? = nil
  ) -> StoreTransactionRecord {
    StoreTransactionRecord(
      transactionID: id, originalTransactionID: original, storeAccount: "apple", productID: product,
      kind: .consumable, quantity: quantity, accountToken: token, purchasedAt: purchasedAt,
      expiresAt: expiresAt,
      environment: environment, revokedAt: revokedAt)
  }

  static func claim(
    for record: StoreTransactionRecord, match: Claim.Match = .none, order: String? = nil,
    candidates: [String]? = nil
  ) -> Claim {
    Claim(
      transactionID: record.transactionID, originalTransactionID: record.originalTransactionID,
      environment: record.environment.rawValue, productID: record.productID, quantity: record.quantity,
      purchasedAt: record.purchasedAt, match: match, orderNumber: order, candidates: candidates)
  }
}

/// A backend model with the orders of two accounts, and a store whose answers the test sets.
struct BackendFixture {
  var model = BackendModel(bundleID: Sample.bundleID, seed: 7)
  let device = UUID()
  var lastWrites: [BackendWrite] = []

  mutating func order(_ account: String, product: String = "coins", quantity: Int = 1, key: String = "k")
    throws -> BackendOrder
  {
    let request = OrderRequest(productID: product, quantity: quantity)
    return try model.createOrder(request, account: account, idempotencyKey: key, now: Sample.now).order
  }

  /// Uploads one claim about transactions that the store calls genuine.
  mutating func upload(
    _ claim: Claim, holding records: [StoreTransactionRecord], as uploader: Uploader = .account("alice"),
    at now: Timestamp = Sample.now
  ) throws -> ClaimVerdict {
    let facts = try records.map {
      try SignedTransaction(jws: Sample.forge.signedTransaction($0, signedAt: now))
    }
    return try upload(claim, answer: .genuine(facts), as: uploader, at: now)
  }

  mutating func upload(
    _ claim: Claim, answer: StoreVerification, as uploader: Uploader = .account("alice"),
    at now: Timestamp = Sample.now
  ) throws -> ClaimVerdict {
    let proof = ProofDocument(kind: .signedTransaction, data: "unread")
    let request = UploadRequest(device: device, proof: proof, claims: [claim])
    let judgement = model.judge(request, from: uploader, now: now) { _ in answer }
    lastWrites = judgement.writes
    guard let verdict = judgement.verdicts.first else { throw MissingVerdict() }
    return verdict
  }
}

struct MissingVerdict: Error {}
