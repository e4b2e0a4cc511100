import AppStoreReceipts
import Foundation
import PurchaseQueue

/// What a queued transaction's claim says beside its order: the entry's `details`, as JSON. No token, no proof.
struct TransactionDetails: Codable {
  var environment: String
  var transactionID: String
  var originalTransactionID: String
  var productID: String
  var quantity: Int
  var purchasedAt: Timestamp
  var unverified: Bool?

  init(_ transaction: StoreTransaction) {
    environment = transaction.environment.rawValue
    transactionID = transaction.transactionID
    originalTransactionID = transaction.originalTransactionID
    productID = transaction.productID
    quantity = transaction.quantity
    purchasedAt = transaction.purchasedAt
    unverified = transaction.isVerified ? nil : true
  }

  init(text: String, key: EntryKey) throws(SyncError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch {
      throw .queue(.damaged(path: "entry \(key)", what: "its details are not the JSON that was written"))
    }
  }

  func text() throws(SyncError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      throw .encoding(what: "transaction \(transactionID)")
    }
  }

  func claim(orderNumber: String?) -> Claim {
    Claim(
      transactionID: transactionID, originalTransactionID: originalTransactionID, environment: environment,
      productID: productID, quantity: quantity, purchasedAt: purchasedAt,
      match: orderNumber == nil ? .none : .bound, orderNumber: orderNumber, unverified: unverified)
  }
}
