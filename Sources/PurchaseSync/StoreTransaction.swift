public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// A transaction as the store hands it over, with what proves it.
public struct StoreTransaction: Sendable, Hashable {
  /// Which store it is from.
  public var environment: StoreEnvironment
  /// The store's id of the transaction.
  public var transactionID: String
  /// The id of the first transaction of its chain; its own for a first purchase.
  public var originalTransactionID: String
  /// What was bought.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// When the store charged.
  public var purchasedAt: Timestamp
  /// The order's account token, if the payment carried one.
  public var accountToken: UUID?
  /// What is uploaded.
  public var proof: Proof
  /// False if the device could not verify the signature; such a one is uploaded and flagged.
  public var isVerified: Bool

  /// A transaction with all of its fields.
  public init(
    environment: StoreEnvironment, transactionID: String, originalTransactionID: String, productID: String,
    quantity: Int, purchasedAt: Timestamp, accountToken: UUID?, proof: Proof, isVerified: Bool = true
  ) {
    self.environment = environment
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.quantity = quantity
    self.purchasedAt = purchasedAt
    self.accountToken = accountToken
    self.proof = proof
    self.isVerified = isVerified
  }

  /// From a signed transaction (JWS), which is also its proof. Decoded, not verified: pass on what the store said
  /// of the signature.
  public init(jws: String, isVerified: Bool = true) throws(ReceiptDecodingError) {
    let signed = try SignedTransaction(jws: jws)
    self.init(
      environment: signed.environment, transactionID: signed.transactionID,
      originalTransactionID: signed.originalTransactionID, productID: signed.productID,
      quantity: signed.quantity, purchasedAt: Timestamp(milliseconds: signed.purchaseDate),
      accountToken: signed.appAccountToken.flatMap(UUID.init(uuidString:)),
      proof: Proof(kind: ProofKind.signedTransaction.rawValue, bytes: Array(jws.utf8)), isVerified: isVerified
    )
  }

  /// Names the transaction for ever. Where ids restart, the purchase date is part of the name.
  public var key: EntryKey {
    let name = environment.rawValue + "/" + transactionID
    guard environment.reusesTransactionIDs else { return EntryKey(rawValue: name) }
    return EntryKey(rawValue: name + "@\(purchasedAt.milliseconds)")
  }
}
