/// One transaction of an app receipt, attribute 17. **Decoded, not verified**: it proves nothing on the device.
///
/// Numbers in brackets are the types of the attributes (receipt-facts, b.3; Apple's *Receipt Fields*,
/// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html).
/// Dates are milliseconds since 1970; an empty date in the receipt is nil here.
public struct InAppPurchase: Sendable, Hashable {
  /// `transaction_id` (1703): digits; "0", "1" … in Xcode, where they start again with each run.
  public var transactionID: String
  /// `original_transaction_id` (1705); the transaction's own id where the receipt has none, as in Xcode.
  public var originalTransactionID: String
  /// `product_id` (1702).
  public var productID: String
  /// `quantity` (1701); 1 where the receipt has none.
  public var quantity = 1
  /// `purchase_date` (1704), milliseconds since 1970.
  public var purchaseDate: Int64?
  /// `original_purchase_date` (1706), milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// `expires_date` (1708), milliseconds since 1970; of subscriptions only.
  public var expiresDate: Int64?
  /// `cancellation_date` (1712), milliseconds since 1970; of refunded or revoked purchases only.
  public var cancellationDate: Int64?
  /// `web_order_line_item_id` (1711): one period of a subscription. Beyond 2^53; the receipt's 0, for none, is nil.
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
  /// Everything else, such as 1722, which seems to say that a purchase is family shared.
  public var unknownAttributes = ReceiptAttributes()

  /// A first purchase of one piece; the other properties can be set.
  public init(transactionID: String, productID: String) {
    self.transactionID = transactionID
    self.originalTransactionID = transactionID
    self.productID = productID
  }
}
