/// A purchase in an app receipt to be written (StoreFacts b.3); dates as the receipt has them, `""` for none.
public struct ForgedPurchase: Sendable, Hashable {
  /// 1703
  public var transactionID: String
  /// 1705; nil leaves the attribute out, as Xcode does.
  public var originalTransactionID: String?
  /// 1702
  public var productID: String
  /// 1701
  public var quantity: Int64 = 1
  /// 1704
  public var purchaseDate = "2024-01-02T03:04:05Z"
  /// 1706
  public var originalPurchaseDate = "2024-01-02T03:04:05Z"
  /// 1708
  public var expiresDate = ""
  /// 1712
  public var cancellationDate = ""
  /// 1711; 0 for none.
  public var webOrderLineItemID: Int64 = 0
  /// 1707: 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable.
  public var productType: Int64 = 1
  /// 1713
  public var isTrialPeriod = false
  /// 1719
  public var isInIntroOfferPeriod = false
  /// 1721; nil leaves the attribute out.
  public var promotionalOfferID: String?

  /// A consumable, bought once.
  public init(transactionID: String, originalTransactionID: String? = nil, productID: String) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
  }

  /// Documented and undocumented ones, in the order of their types.
  public var attributes: [ForgedAppReceipt.Attribute] {
    typealias Attribute = ForgedAppReceipt.Attribute
    var attributes = [
      Attribute(1701, .integer(quantity)), Attribute(1702, .utf8(productID)),
      Attribute(1703, .utf8(transactionID)), Attribute(1704, .ia5(purchaseDate)),
    ]
    if let originalTransactionID { attributes.append(Attribute(1705, .utf8(originalTransactionID))) }
    attributes += [
      Attribute(1706, .ia5(originalPurchaseDate)), Attribute(1707, .integer(productType)),
      Attribute(1708, .ia5(expiresDate)), Attribute(1709, .utf8("")), Attribute(1710, .integer(0)),
      Attribute(1711, .integer(webOrderLineItemID)), Attribute(1712, .ia5(cancellationDate)),
      Attribute(1713, .integer(isTrialPeriod ? 1 : 0)), Attribute(1714, .utf8("")),
      Attribute(1719, .integer(isInIntroOfferPeriod ? 1 : 0)),
    ]
    if let promotionalOfferID { attributes.append(Attribute(1721, .utf8(promotionalOfferID))) }
    return attributes
  }
}
