public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// A transaction as the store hands it over, with what proves it.
///
/// Nothing in it was verified by this library. What the proof does not say is nil: an app receipt knows neither
/// tokens, nor the reason of a transaction, nor whether it was upgraded (receipt-facts b.4).
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
  /// What kind of product was bought.
  public var productKind: ProductKind?
  /// The group of subscriptions among which the product can be exchanged.
  public var subscriptionGroupID: String?
  /// Names the purchase of one period (R2.4); of subscriptions.
  public var webOrderLineItemID: String?
  /// When the first transaction of the chain was charged.
  public var originalPurchasedAt: Timestamp?
  /// When the period ends; of subscriptions.
  public var expiresAt: Timestamp?
  /// When the store took the purchase back: refunded, or no longer shared.
  public var revokedAt: Timestamp?
  /// Why it did.
  public var revocationReason: RevocationReason?
  /// Whether another plan of the group replaced this period; nil where the proof cannot say.
  public var isUpgraded: Bool?
  /// Whose purchase it is; nil where the proof cannot say.
  public var ownership: OwnershipType?
  /// Whether the customer bought or the store renewed; nil in app receipts, and in what was signed before June 2023.
  public var reason: TransactionReason?
  /// Which kind of offer applied, if any.
  public var offerType: OfferType?
  /// The offer's name, if it has one.
  public var offerIdentifier: String?
  /// When the proof was made: of two about one transaction the later is right.
  public var signedAt: Timestamp?

  /// A transaction with what every proof says; the other properties can be set.
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
    productKind = signed.kind
    subscriptionGroupID = signed.subscriptionGroupID
    webOrderLineItemID = signed.webOrderLineItemID
    originalPurchasedAt = signed.originalPurchaseDate.map(Timestamp.init(milliseconds:))
    expiresAt = signed.expiresDate.map(Timestamp.init(milliseconds:))
    revokedAt = signed.revocationDate.map(Timestamp.init(milliseconds:))
    revocationReason = signed.revocationReason
    isUpgraded = signed.isUpgraded
    ownership = signed.ownership
    reason = signed.reason
    offerType = signed.offerType
    offerIdentifier = signed.offerIdentifier
    signedAt = signed.signedDate.map(Timestamp.init(milliseconds:))
  }

  /// Names the transaction for ever. Where ids restart, the purchase date is part of the name.
  public var key: EntryKey { key(id: transactionID, at: purchasedAt) }

  /// The name of the first transaction of its chain; nil where ids restart and the proof does not say when that was.
  public var originalKey: EntryKey? {
    if transactionID == originalTransactionID { return key }
    guard environment.reusesTransactionIDs else { return key(id: originalTransactionID, at: purchasedAt) }
    return originalPurchasedAt.map { key(id: originalTransactionID, at: $0) }
  }

  /// In whole seconds, which is what app receipts have: the same transaction from both of the store's interfaces
  /// has one name.
  private func key(id: String, at moment: Timestamp) -> EntryKey {
    let name = environment.rawValue + "/" + id
    guard environment.reusesTransactionIDs else { return EntryKey(rawValue: name) }
    return EntryKey(rawValue: name + "@\(moment.wholeSeconds * 1_000)")
  }
}

extension EntryKey {
  /// Whether it is of an environment whose ids restart: then nothing is known about it any more once the store
  /// has been told and the app has seen the outcome. A tombstone would take a later run's transaction for this one.
  package var leavesNoTombstone: Bool {
    Self.restarting.contains { rawValue.utf8.starts(with: $0.utf8) }
  }

  private static let restarting = [StoreEnvironment.xcode, .localTesting].map { $0.rawValue + "/" }
}

extension Timestamp {
  /// Seconds since 1970, cut off towards the past.
  var wholeSeconds: Int64 { milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000 }
}
