/// One transaction of an app receipt, attribute 17. **Decoded, not verified**: it proves nothing on the device.
///
/// Numbers in brackets are the types of the attributes (StoreFacts b.3; Apple's *Receipt Fields*,
/// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html).
/// Dates are milliseconds since 1970; an empty date in the receipt becomes nil.
public struct InAppPurchase: Sendable, Hashable {
  /// `transaction_id` (1703): digits. In Xcode "0", "1" …, which restart with each run.
  public var transactionID: String
  /// `original_transaction_id` (1705); the transaction's own id if the receipt has none, as in Xcode.
  public var originalTransactionID: String
  /// `product_id` (1702).
  public var productID: String
  /// `quantity` (1701); 1 if the receipt has none.
  public var quantity = 1
  /// `purchase_date` (1704), milliseconds since 1970.
  public var purchaseDate: Int64?
  /// `original_purchase_date` (1706), milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// `expires_date` (1708), milliseconds since 1970. Only subscriptions have it.
  public var expiresDate: Int64?
  /// `cancellation_date` (1712), milliseconds since 1970. Only refunded or revoked purchases have it.
  public var cancellationDate: Int64?
  /// `web_order_line_item_id` (1711): identifies one period of a subscription. Values exceed 2^53; the
  /// receipt's 0 means none and becomes nil.
  public var webOrderLineItemID: Int64?
  /// The kind of product (1707), undocumented: 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable,
  /// 4 free subscription.
  public var productType: Int64?
  /// `is_in_intro_offer_period` (1719); absent from older receipts.
  public var isInIntroOfferPeriod: Bool?
  /// `is_trial_period` (1713), undocumented; missing in Xcode.
  public var isTrialPeriod: Bool?
  /// `promotional_offer_id` (1721), undocumented.
  public var promotionalOfferID: String?
  /// All other attributes, such as 1722, which seems to mark a purchase as family shared.
  public var unknownAttributes = ReceiptAttributes()

  /// Creates a first purchase with quantity 1. Set the other properties afterwards.
  package init(transactionID: String, productID: String) {
    self.transactionID = transactionID
    self.originalTransactionID = transactionID
    self.productID = productID
  }
}
