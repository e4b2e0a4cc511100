/// The purchase or renewal of a subscription bundle, or of a suite, that a transaction of one of its subscriptions is part
/// of: the customer paid for the bundle, and each subscription in it has a transaction of its own (StoreFacts c.2, since
/// 2026-09).
///
/// Apple has published these properties for StoreKit and no names on the wire. The names here follow the other fields; a
/// field of another name stays among the unknown ones.
public struct BundlePurchase: Sendable, Hashable, Codable {
  /// `bundleProductId`: the product that was paid.
  public var productID: String?
  /// `bundleSubscriptionGroupIdentifier`
  public var groupID: String?
  /// `bundleTransactionId`: the payment, which the transactions of its subscriptions have in common. A renewal info has
  /// none.
  public var transactionID: String?
  /// `bundleOriginalTransactionId`: the first payment of the bundle.
  public var originalTransactionID: String?

  /// A purchase of a bundle.
  public init(
    productID: String?, groupID: String? = nil, transactionID: String? = nil,
    originalTransactionID: String? = nil
  ) {
    self.productID = productID
    self.groupID = groupID
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
  }

  /// Nil if no field says that the subscription is part of a bundle.
  package init?(_ fields: inout JSONFields) throws(ReceiptDecodingError) {
    productID = try fields.string("bundleProductId")
    groupID = try fields.string("bundleSubscriptionGroupIdentifier")
    transactionID = try fields.string("bundleTransactionId")
    originalTransactionID = try fields.string("bundleOriginalTransactionId")
    let all = [productID, groupID, transactionID, originalTransactionID]
    guard all.contains(where: { $0 != nil }) else { return nil }
  }

  /// Its fields. A genuine purchase is not refused for one that cannot be read.
  package static let fields: Set = [
    "bundleProductId", "bundleSubscriptionGroupIdentifier", "bundleTransactionId",
    "bundleOriginalTransactionId",
  ]
}

extension SignedTransaction {
  /// Whether the store ended the subscription because the customer switched to a bundle: an upgrade, not a refund.
  public var isUpgradedToBundle: Bool { revocationDate != nil && revocationReason == .upgradedToBundle }
}

extension ProductKind {
  /// Several subscriptions for one price, also of several developers.
  public static let subscriptionBundle = ProductKind(rawValue: "Subscription Bundle")
  /// One subscription for several apps.
  public static let subscriptionSuite = ProductKind(rawValue: "Subscription Suite")

  /// Whether its transactions pay for periods that the store renews.
  package var isRenewed: Bool { [.autoRenewable, .subscriptionBundle, .subscriptionSuite].contains(self) }
}

extension RevocationReason {
  /// The customer switched to a bundle that contains the subscription. Nothing was refunded for it. Apple has published the
  /// reason and not its number: 2 follows the known ones.
  public static let upgradedToBundle = RevocationReason(rawValue: 2)
}
