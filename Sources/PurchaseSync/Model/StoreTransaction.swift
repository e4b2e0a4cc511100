public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// A transaction as the store delivers it, with its proof.
///
/// This library verifies no signature. A property that the proof does not state is nil: an app receipt has no
/// account token, no reason and no mark of an upgrade (StoreFacts b.4).
public struct StoreTransaction: Sendable, Hashable {
  /// The store environment of the transaction.
  public var environment: StoreEnvironment
  /// The store's id of the transaction.
  public var transactionID: String
  /// The id of the first transaction of the chain; equal to `transactionID` for a first purchase.
  public var originalTransactionID: String
  /// The product.
  public var productID: String
  /// How many units; of a subscription, the seats that this transaction paid for. Of an assigned seat it is one, whatever its
  /// purchaser bought.
  public var quantity: Int
  /// When the store charged.
  public var purchasedAt: Timestamp
  /// The order's account token, if the payment carried one.
  public var accountToken: UUID?
  /// The bytes that are uploaded to the backend.
  public var proof: Payload
  /// False if the device could not verify the signature. Such a transaction is uploaded with a flag.
  public var isVerified: Bool
  /// The kind of the product.
  public var productKind: ProductKind?
  /// The subscription group: its products replace one another.
  public var subscriptionGroupID: String?
  /// For subscriptions: identifies the purchase of one period (R2.4).
  public var webOrderLineItemID: String?
  /// When the first transaction of the chain was charged.
  public var originalPurchasedAt: Timestamp?
  /// The id of the chain's first transaction before the store gave the chain another one.
  public var previousOriginalTransactionID: String?
  /// For subscriptions: when the period ends.
  public var expiresAt: Timestamp?
  /// When the store took the purchase back: refunded, or no longer shared.
  public var revokedAt: Timestamp?
  /// Why the store took the purchase back.
  public var revocationReason: RevocationReason?
  /// How much the store took back, of the whole quantity. Nil if the store took nothing back (`revokedAt` is nil), and
  /// where the proof does not say how much: then it is all of it.
  public var refundedShare: RefundedShare?
  /// Whether another plan of the group replaced this period; nil where the proof cannot say.
  public var isUpgraded: Bool?
  /// The purchase of a bundle that it is part of; nil if the customer paid for the product alone, and where the proof cannot
  /// say.
  public var bundle: BundlePurchase?
  /// How many of its seats were refunded, without an end for who has paid; nil where the proof cannot say.
  public var revokedSeats: Int?
  /// Whether the purchase is the user's own, shared by the family, or an assigned seat; nil where the proof cannot say.
  public var ownership: OwnershipType?
  /// Whether the customer bought or the store renewed; nil in app receipts and in proofs signed before June
  /// 2023.
  public var reason: TransactionReason?
  /// Which kind of offer applied, if any.
  public var offerType: OfferType?
  /// The offer's name, if it has one.
  public var offerIdentifier: String?
  /// When the proof was made. Of two proofs of one transaction, the later one is right.
  public var signedAt: Timestamp?

  /// Creates a transaction with the values that every proof states. Set the other properties afterwards.
  public init(
    environment: StoreEnvironment, transactionID: String, originalTransactionID: String, productID: String,
    quantity: Int, purchasedAt: Timestamp, accountToken: UUID?, proof: Payload, isVerified: Bool = true
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

  /// Decodes a signed transaction (JWS), which is also its proof. The signature is not verified: pass on in
  /// `isVerified` what the store said about it.
  public init(jws: String, isVerified: Bool = true) throws(ReceiptDecodingError) {
    let signed = try SignedTransaction(jws: jws)
    self.init(
      environment: signed.environment, transactionID: signed.transactionID,
      originalTransactionID: signed.originalTransactionID, productID: signed.productID,
      quantity: signed.ownership == .assigned ? min(1, signed.quantity) : signed.quantity,
      purchasedAt: Timestamp(milliseconds: signed.purchaseDate),
      accountToken: signed.appAccountToken.flatMap(UUID.init(uuidString:)),
      proof: Payload(kind: ProofKind.signedTransaction.rawValue, bytes: Array(jws.utf8)),
      isVerified: isVerified
    )
    productKind = signed.kind
    subscriptionGroupID = signed.subscriptionGroupID
    webOrderLineItemID = signed.webOrderLineItemID
    originalPurchasedAt = signed.originalPurchaseDate.map(Timestamp.init(milliseconds:))
    previousOriginalTransactionID = signed.previousOriginalTransactionID
    expiresAt = signed.expiresDate.map(Timestamp.init(milliseconds:))
    revokedAt = signed.revocationDate.map(Timestamp.init(milliseconds:))
    revocationReason = signed.revocationReason
    refundedShare = signed.refundedShare
    revokedSeats = signed.multiSeatInfo.map { $0.revokedSeats ?? 0 }
    isUpgraded = signed.isUpgraded
    bundle = signed.bundle
    ownership = signed.ownership
    reason = signed.reason
    offerType = signed.offerType
    offerIdentifier = signed.offerIdentifier
    signedAt = signed.signedDate.map(Timestamp.init(milliseconds:))
  }

  /// The permanent key of the transaction. In an environment whose ids restart, the purchase date is part of
  /// it.
  public var key: EntryKey { key(id: transactionID, at: purchasedAt) }

  /// The key of the first transaction of the chain; nil if ids restart and the proof does not state its date.
  package var originalKey: EntryKey? {
    if transactionID == originalTransactionID { return key }
    guard environment.reusesTransactionIDs else { return key(id: originalTransactionID, at: purchasedAt) }
    return originalPurchasedAt.map { key(id: originalTransactionID, at: $0) }
  }

  /// The key of the chain's first transaction under its earlier id; nil if there is none, and where ids restart.
  package var previousOriginalKey: EntryKey? {
    guard !environment.reusesTransactionIDs else { return nil }
    return previousOriginalTransactionID.map { key(id: $0, at: purchasedAt) }
  }

  /// Whole seconds, because app receipts have no fractions: a transaction gets one key, whether it comes from
  /// StoreKit 2 or from an app receipt.
  private func key(id: String, at moment: Timestamp) -> EntryKey {
    let name = environment.rawValue + "/" + id
    guard environment.reusesTransactionIDs else { return EntryKey(rawValue: name) }
    return EntryKey(rawValue: name + "@\(moment.withoutFraction.milliseconds)")
  }
}

extension EntryKey {
  /// Whether the entry is from an environment whose ids restart. The queue then keeps no record after the
  /// store has finished it and the app has confirmed the outcome: with a tombstone, a later run's transaction would
  /// look settled.
  package var leavesNoTombstone: Bool {
    Self.restarting.contains { rawValue.utf8.starts(with: $0.utf8) }
  }

  /// The transaction's id in a key: `environment/id`, or `environment/id@milliseconds` where ids restart.
  package var transactionID: String {
    // By bytes: an id can begin with an accent, which belongs to the letter before it.
    let bytes = rawValue.utf8
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
    return String(Substring(bytes[start...].prefix { $0 != UInt8(ascii: "@") }))
  }

  private static let restarting = [StoreEnvironment.xcode, .localTesting].map { $0.rawValue + "/" }
}

extension Timestamp {
  /// Seconds since 1970, rounded towards the past.
  var wholeSeconds: Int64 { milliseconds / 1_000 - (milliseconds % 1_000 < 0 ? 1 : 0) }

  /// The same moment without its fraction of a second. The first second that has milliseconds is not a whole one.
  fileprivate var withoutFraction: Timestamp {
    let (whole, isTooEarly) = wholeSeconds.multipliedReportingOverflow(by: 1_000)
    return Timestamp(milliseconds: isTooEarly ? .min : whole)
  }
}

extension StoreTransaction {
  /// Whether another person has paid: a family member who shares it, or the purchaser of an assigned seat. It pays no order.
  package var isOfAnotherPayer: Bool { ownership?.isOfAnotherPayer ?? false }

  /// The account token, if it is this customer's. What another person has paid carries that person's token, or none.
  package var ownToken: UUID? { isOfAnotherPayer ? nil : accountToken }

  /// Whether it pays for a period of a subscription that renews. Its quantity is a number of seats.
  package var isSubscription: Bool { productKind.map { $0 == .autoRenewable } ?? (expiresAt != nil) }

  /// Whether the store took all of it back, so that it gives nothing any more. A part of it leaves the other units; a
  /// refunded period is over, whatever share of it was left.
  var isTakenBack: Bool {
    guard revokedAt != nil else { return false }
    return expiresAt != nil || (refundedShare ?? .whole).units(of: quantity) >= quantity
  }

  /// Whether the refund is the rest of the price of a plan that another plan has replaced: an upgrade gives it back, too
  /// (purchases-ios#6515). So does the switch to a bundle.
  var isRestOfReplacedPlan: Bool {
    isUpgradedToBundle || isUpgraded == true && expiresAt != nil && refundedShare.map { $0 < .whole } ?? false
  }

  /// Whether the store ended the subscription because the customer switched to a bundle: an upgrade, not a refund.
  var isUpgradedToBundle: Bool { revokedAt != nil && revocationReason == .upgradedToBundle }

  /// What the customer paid for: the bundle that it is part of, else the product. An order names it.
  package var soldProductID: String { bundle?.productID ?? productID }

  /// The payment of the bundle that it is part of, which the transactions of its subscriptions have in common.
  package var bundlePayment: String? { bundle?.transactionID }
}
