#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The payload of a signed transaction (JWS). **Decoded, not verified**: it proves nothing; see
/// ``CompactJWS``.
///
/// Names on the wire: JWSTransactionDecodedPayload (StoreFacts c.2). Dates are milliseconds since 1970; Xcode
/// writes them with a fraction, which is cut off. Prices are in thousandths of the currency's unit.
public struct SignedTransaction: Sendable, Hashable {
  /// `transactionId`; restarts at "0" in Xcode.
  public var transactionID: String
  /// `originalTransactionId`; the transaction's own id for a first purchase, and if the field is absent.
  public var originalTransactionID: String
  /// `webOrderLineItemId`: identifies the purchase of one period across devices. Only subscriptions have it.
  public var webOrderLineItemID: String?
  /// `bundleId`
  public var bundleID: String?
  /// `productId`
  public var productID: String
  /// `subscriptionGroupIdentifier`
  public var subscriptionGroupID: String?
  /// `quantity`; 1 if it is absent.
  public var quantity: Int
  /// `type`
  public var kind: ProductKind?
  /// `inAppOwnershipType`
  public var ownership: OwnershipType?
  /// `purchaseDate`, milliseconds since 1970.
  public var purchaseDate: Int64
  /// `originalPurchaseDate`, milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// `expiresDate`, milliseconds since 1970. Only subscriptions have it.
  public var expiresDate: Int64?
  /// `signedDate`, milliseconds since 1970. Of two payloads about one transaction, the later one is right.
  public var signedDate: Int64?
  /// `revocationDate`, milliseconds since 1970. Only refunded or revoked transactions have it.
  public var revocationDate: Int64?
  /// `revocationReason`
  public var revocationReason: RevocationReason?
  /// `revocationType`, since 2025-12.
  public var revocationType: RevocationType?
  /// `revocationPercentage`: the share of a prorated refund in thousandths of a percent (100,000 is the whole
  /// price).
  public var revocationPercentage: Int64?
  /// `isUpgraded`: another plan of the group replaced this one; false if it is absent.
  public var isUpgraded: Bool
  /// The purchase of a bundle that it is part of; nil if the customer paid for this subscription alone.
  public var bundle: BundlePurchase?
  /// `offerType`
  public var offerType: OfferType?
  /// `offerIdentifier`
  public var offerIdentifier: String?
  /// `offerDiscountType`
  public var offerDiscountType: OfferDiscountType?
  /// `offerPeriod`, an ISO 8601 duration such as `P1M`.
  public var offerPeriod: String?
  /// `appAccountToken`, unchanged: a UUID. Compare it without regard to case.
  public var appAccountToken: String?
  /// `appTransactionId`
  public var appTransactionID: String?
  /// `previousOriginalTransactionId`, after a migration.
  public var previousOriginalTransactionID: String?
  /// `environment`; production if it is absent, see ``isEnvironmentStated``.
  public var environment: StoreEnvironment
  /// Whether the payload names its environment. Payloads signed before February 2022 do not. Then
  /// ``environment`` is a guess, and a backend asks the store.
  public var isEnvironmentStated: Bool
  /// `transactionReason`
  public var reason: TransactionReason?
  /// `storefront`: three letters of ISO 3166-1.
  public var storefront: String?
  /// `storefrontId`
  public var storefrontID: String?
  /// `price`, thousandths of ``currency``; nil if it is absent, or no whole number.
  public var price: Int64?
  /// `currency`: three letters of ISO 4217.
  public var currency: String?
  /// `billingPlanType`
  public var billingPlanType: BillingPlanType?
  /// `commitmentInfo`
  public var commitment: Commitment?
  /// `multiSeatInfo`: the seats, if the subscription was bought for several.
  public var multiSeatInfo: SeatInfo?
  /// `additionalTransactionReason`: why other transactions pay for the same period, if some do.
  public var additionalReason: AdditionalTransactionReason?
  /// `advancedCommerceInfo`, undecoded.
  public var advancedCommerceInfo: JSONValue?
  /// `deviceVerification`, base64. Only a device's own store sends it, and only that device can use it.
  public var deviceVerification: String?
  /// `deviceVerificationNonce`, a UUID.
  public var deviceVerificationNonce: String?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Decodes the payload of a JWS.
  ///
  /// Throws if it is no JWS or no JSON object, if `transactionId`, `productId` or `purchaseDate` is absent,
  /// or if a known field has an invalid value, such as a date beyond 64 bits. The error names the field. A field
  /// that decides nothing about the purchase, such as ``price``, is nil instead, and its value is in
  /// ``unknownFields``: a genuine purchase is not refused for it.
  public init(jws: String) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.payloadFields(of: jws))
  }

  /// Decodes a payload that was taken out of its JWS. Throws like ``init(jws:)``.
  public init(payload: Data) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.fields(ofPayload: payload))
  }

  package init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    fields.optional = Self.optional
    transactionID = try fields.required(fields.string("transactionId"), "transactionId")
    originalTransactionID = try fields.string("originalTransactionId") ?? transactionID
    webOrderLineItemID = try fields.string("webOrderLineItemId")
    bundleID = try fields.string("bundleId")
    productID = try fields.required(fields.string("productId"), "productId")
    subscriptionGroupID = try fields.string("subscriptionGroupIdentifier")
    quantity = try fields.quantity("quantity") ?? 1
    kind = try fields.word("type", as: ProductKind.self)
    ownership = try fields.word("inAppOwnershipType", as: OwnershipType.self)
    purchaseDate = try fields.required(fields.milliseconds("purchaseDate"), "purchaseDate")
    originalPurchaseDate = try fields.milliseconds("originalPurchaseDate")
    expiresDate = try fields.milliseconds("expiresDate")
    signedDate = try fields.milliseconds("signedDate")
    revocationDate = try fields.milliseconds("revocationDate")
    revocationReason = try fields.code("revocationReason", as: RevocationReason.self)
    revocationType = try fields.word("revocationType", as: RevocationType.self)
    revocationPercentage = try fields.share("revocationPercentage")
    isUpgraded = try fields.flag("isUpgraded") ?? false
    bundle = try BundlePurchase(&fields)
    offerType = try fields.code("offerType", as: OfferType.self)
    offerIdentifier = try fields.string("offerIdentifier")
    offerDiscountType = try fields.word("offerDiscountType", as: OfferDiscountType.self)
    offerPeriod = try fields.string("offerPeriod")
    appAccountToken = try fields.string("appAccountToken")
    appTransactionID = try fields.string("appTransactionId")
    previousOriginalTransactionID = try fields.string("previousOriginalTransactionId")
    let environment = try fields.word("environment", as: StoreEnvironment.self)
    self.environment = environment ?? .production
    isEnvironmentStated = environment != nil
    reason = try fields.word("transactionReason", as: TransactionReason.self)
    storefront = try fields.string("storefront")
    storefrontID = try fields.string("storefrontId")
    price = try fields.integer("price")
    currency = try fields.string("currency")
    billingPlanType = try fields.word("billingPlanType", as: BillingPlanType.self)
    commitment = try fields.object("commitmentInfo").map(Commitment.init)
    multiSeatInfo = try fields.object("multiSeatInfo", SeatInfo.init)
    additionalReason = try fields.word(
      "additionalTransactionReason", as: AdditionalTransactionReason.self)
    advancedCommerceInfo = try fields.value("advancedCommerceInfo")
    deviceVerification = try fields.string("deviceVerification")
    deviceVerificationNonce = try fields.string("deviceVerificationNonce")
    unknownFields = try fields.unknown()
  }
}

extension SignedTransaction {
  /// What decides neither who bought what, nor whether it is still paid.
  private static let optional: Set = BundlePurchase.fields.union([
    "originalPurchaseDate", "revocationReason", "offerType", "offerIdentifier", "offerDiscountType",
    "offerPeriod", "appTransactionId", "storefront", "storefrontId", "price", "currency", "billingPlanType",
    "commitmentInfo", "multiSeatInfo", "additionalTransactionReason", "deviceVerification",
    "deviceVerificationNonce",
  ])

  /// A subscription that is paid in instalments (StoreFacts c.2, since 2026-04).
  public struct Commitment: Sendable, Hashable {
    /// `billingPeriodNumber`
    public var billingPeriod: Int?
    /// `totalBillingPeriods`
    public var billingPeriods: Int?
    /// `commitmentExpiresDate`, milliseconds since 1970.
    public var expiresDate: Int64?
    /// `commitmentPrice`, thousandths of the currency's unit.
    public var price: Int64?
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      fields.optional = [
        "billingPeriodNumber", "totalBillingPeriods", "commitmentExpiresDate", "commitmentPrice",
      ]
      billingPeriod = try fields.count("billingPeriodNumber")
      billingPeriods = try fields.count("totalBillingPeriods")
      expiresDate = try fields.milliseconds("commitmentExpiresDate")
      price = try fields.integer("commitmentPrice")
      unknownFields = try fields.unknown()
    }
  }
}
