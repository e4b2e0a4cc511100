package import AppStoreReceipts
package import Foundation
package import PurchaseQueue
package import PurchaseSync

/// The transactions that the store delivers to an app at once, with the app receipt if it proves one of them.
package struct StoreHandover: Sendable, Hashable, Codable {
  private enum CodingKeys: String, CodingKey {
    case storeAccount = "account"
    case transactions, receipt
  }

  package var storeAccount: String?
  /// In order of purchase; a transaction may occur several times.
  package var transactions: [DeliveredTransaction]
  /// The app receipt as it lies on the device. It may lack a transaction that it should prove.
  package var receipt: Data?
}

/// A transaction as one of the store's interfaces delivers it to the app.
package struct DeliveredTransaction: Sendable, Hashable, Codable {
  package var transactionID: String
  /// The first transaction of the chain; its own id for a first purchase.
  package var originalTransactionID: String
  package var environment: StoreEnvironment
  package var productID: String
  package var quantity: Int
  package var purchasedAt: Timestamp
  /// The account token, if this interface still knows it.
  package var accountToken: UUID?
  package var proofKind: ProofKind
  /// The proof as an upload has it; nil for an app receipt, which is in the handover.
  package var proof: String?
  /// Whether the device could verify the signature.
  package var isVerified: Bool
}
