public import AppStoreReceipts
import PurchaseQueue

/// Transactions of the original API, which keeps no account token over a restart of the app.
extension StoreTransaction {
  /// One transaction of an app receipt; `bytes` is the whole receipt and becomes the proof. Decoded, not
  /// verified.
  ///
  /// Throws if the receipt has no purchase date for the transaction.
  public init(
    _ purchase: InAppPurchase, in receipt: AppReceipt, bytes: [UInt8], isVerified: Bool = true
  ) throws(ReceiptDecodingError) {
    guard let purchaseDate = purchase.purchaseDate else {
      throw ReceiptDecodingError(
        expected: "a purchase date", location: "transaction \(purchase.transactionID), attribute 1704",
        reason: .missing)
    }
    self.init(
      // The first receipts had no type and came from production (StoreFacts b.2, b.4).
      environment: receipt.environment ?? .production, transactionID: purchase.transactionID,
      originalTransactionID: purchase.originalTransactionID, productID: purchase.productID,
      quantity: purchase.quantity, purchasedAt: Timestamp(milliseconds: purchaseDate), accountToken: nil,
      proof: Payload(kind: ProofKind.appReceipt.rawValue, bytes: bytes), isVerified: isVerified)
    productKind = purchase.productType.flatMap(Self.productKind)
    webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
    originalPurchasedAt = purchase.originalPurchaseDate.map(Timestamp.init(milliseconds:))
    expiresAt = purchase.expiresDate.map(Timestamp.init(milliseconds:))
    revokedAt = purchase.cancellationDate.map(Timestamp.init(milliseconds:))
    if purchase.isInIntroOfferPeriod == true || purchase.isTrialPeriod == true { offerType = .introductory }
    if let offer = purchase.promotionalOfferID {
      offerType = .promotional
      offerIdentifier = offer
    }
    // Undocumented. A missing attribute proves nothing: older receipts of shared purchases do not have it.
    if purchase.unknownAttributes[Self.sharedAttribute] == Self.integerOne { ownership = .familyShared }
    signedAt = receipt.receiptCreationDate.map(Timestamp.init(milliseconds:))
  }

  /// All transactions of an app receipt (R4.4); `bytes` is the whole receipt and becomes the proof of each.
  /// Decoded, not verified.
  ///
  /// Throws if one transaction has no purchase date.
  public static func all(
    in receipt: AppReceipt, bytes: [UInt8], isVerified: Bool = true
  ) throws(ReceiptDecodingError) -> [StoreTransaction] {
    var transactions: [StoreTransaction] = []
    for purchase in receipt.inApp {
      transactions.append(
        try StoreTransaction(purchase, in: receipt, bytes: bytes, isVerified: isVerified))
    }
    return transactions
  }

  /// A receipt of one transaction, iOS 6 style; `bytes` is the whole receipt and becomes the proof. Decoded,
  /// not verified.
  ///
  /// Throws if the receipt has no product id or no purchase date.
  public init(
    _ receipt: TransactionReceipt, bytes: [UInt8], isVerified: Bool = true
  ) throws(ReceiptDecodingError) {
    guard let productID = receipt.productID else { throw Self.missing("a product id", "product-id") }
    guard let purchaseDate = receipt.purchaseDate else {
      throw Self.missing("a purchase date", "purchase-date-ms")
    }
    self.init(
      environment: receipt.environment, transactionID: receipt.transactionID,
      originalTransactionID: receipt.originalTransactionID, productID: productID, quantity: receipt.quantity,
      purchasedAt: Timestamp(milliseconds: purchaseDate), accountToken: nil,
      proof: Payload(kind: ProofKind.transactionReceipt.rawValue, bytes: bytes), isVerified: isVerified)
    subscriptionGroupID = receipt.subscriptionGroupID
    webOrderLineItemID = receipt.webOrderLineItemID
    originalPurchasedAt = receipt.originalPurchaseDate.map(Timestamp.init(milliseconds:))
    expiresAt = receipt.expiresDate.map(Timestamp.init(milliseconds:))
    revokedAt = receipt.cancellationDate.map(Timestamp.init(milliseconds:))
    ownership = receipt.ownership
    if receipt.isInIntroOfferPeriod == true || receipt.isTrialPeriod == true { offerType = .introductory }
  }

  private static func missing(_ what: String, _ key: String) -> ReceiptDecodingError {
    ReceiptDecodingError(expected: what, location: "purchase-info, \(key)", reason: .missing)
  }

  /// Maps attribute 1707. Its value 4, a free Newsstand subscription, is none of today's kinds.
  private static func productKind(_ number: Int64) -> ProductKind? {
    switch number {
    case 0: .nonConsumable
    case 1: .consumable
    case 2: .nonRenewing
    case 3: .autoRenewable
    default: nil
    }
  }

  /// Attribute 1722 seems to mark a purchase as family shared (StoreFacts b.3).
  private static var sharedAttribute: Int64 { 1_722 }
  private static var integerOne: [UInt8] { [0x02, 0x01, 0x01] }
}
