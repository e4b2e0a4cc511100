import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

@testable import PurchaseSyncTesting

extension StoreModel {
  /// One of the sample's products, bought by one store account.
  @discardableResult
  mutating func buy(
    _ product: String = "coins", as storeAccount: String = "a", token: UUID? = nil,
    delivery: StoreDelivery? = nil, launch: String? = nil, at now: Timestamp = Sample.now
  ) throws -> StoreTransactionRecord {
    try pay(
      product: product, quantity: 1, accountToken: token, storeAccount: storeAccount, delivery: delivery,
      launch: launch, now: now)
  }

  /// The app receipt as a reading without a prompt shows it; nil without a receipt.
  mutating func idsInReceipt(
    of storeAccount: String? = "a", at now: Timestamp = Sample.now
  ) throws -> [String]? {
    try receipt(storeAccount: storeAccount, now: now).map {
      try AppReceipt(decoding: $0).inApp.map(\.transactionID)
    }
  }

  /// The proof of one delivery, as an upload has it.
  mutating func proof(_ kind: ProofKind, of record: StoreTransactionRecord) throws -> ProofDocument {
    var record = record
    record.delivery = StoreDelivery(proofs: [kind])
    let handover = handover([record], to: record.storeAccount, now: Sample.now)
    let receipt = handover.receipt.map { Data($0).base64EncodedString() }
    guard let data = handover.transactions.first?.proof ?? receipt else { throw MissingProof() }
    return ProofDocument(kind: kind, data: data)
  }
}

struct MissingProof: Error {}
