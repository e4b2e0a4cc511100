public import AppStoreReceipts
public import Foundation
public import PurchaseQueue
public import PurchaseSync

/// What the store hands to an app at once: transactions, and the app receipt if it is the proof of any of them.
public struct StoreHandover: Sendable, Hashable {
  /// Who is signed in to the store; nil for nobody.
  public var storeAccount: String?
  /// In order of purchase; one transaction may be here several times.
  public var transactions: [DeliveredTransaction]
  /// The app receipt as it lies on the device. It may lack a transaction that it is to prove.
  public var receipt: [UInt8]?
}

/// A transaction as it arrives at the app over one of the store's interfaces.
public struct DeliveredTransaction: Sendable, Hashable, Codable {
  /// The store's id.
  public var transactionID: String
  /// The first transaction of the chain; its own id for a first purchase.
  public var originalTransactionID: String
  /// Which store it is from.
  public var environment: StoreEnvironment
  /// What was bought.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// When the store charged.
  public var purchasedAt: Timestamp
  /// The account token, where this interface still knows it.
  public var accountToken: UUID?
  /// What proves it.
  public var proofKind: ProofKind
  /// The proof as an upload has it; nil for an app receipt, of which there is one in the handover.
  public var proof: String?
  /// False if the device could not verify the signature.
  public var isVerified: Bool
}
