public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The payload of a signed renewal info (JWS): the next renewal of a subscription. **Decoded, not verified**;
/// see `CompactJWS`.
///
/// Names on the wire: JWSRenewalInfoDecodedPayload (StoreFacts c.2). Dates are milliseconds since 1970,
/// prices thousandths of the currency's unit. Every field can be absent.
public struct SignedRenewalInfo: Sendable, Hashable {
  /// `originalTransactionId`
  public var originalTransactionID: String?
  /// `productId`: the product of the current period.
  public var productID: String?
  /// `autoRenewProductId`: the product of the next period.
  public var autoRenewProductID: String?
  /// `autoRenewStatus`.
  public var autoRenewStatus: AutoRenewStatus?
  /// `expirationIntent`. Only ended subscriptions have it.
  public var expirationIntent: ExpirationIntent?
  /// `isInBillingRetryPeriod`. Only ended subscriptions have it.
  public var isInBillingRetryPeriod: Bool?
  /// `gracePeriodExpiresDate`
  public var gracePeriodExpiresDate: Int64?
  /// `priceIncreaseStatus`
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// `offerType` of the next period.
  public var offerType: OfferType?
  /// `offerIdentifier`
  public var offerIdentifier: String?
  /// `offerDiscountType`
  public var offerDiscountType: OfferDiscountType?
  /// `offerPeriod`, an ISO 8601 duration.
  public var offerPeriod: String?
  /// `eligibleWinBackOfferIds`
  public var eligibleWinBackOfferIDs: [String]
  /// `recentSubscriptionStartDate`: the start of the latest run without a gap of more than 60 days.
  public var recentSubscriptionStartDate: Int64?
  /// `renewalDate`
  public var renewalDate: Int64?
  /// `renewalPrice`; nil if it is absent, or no whole number.
  public var renewalPrice: Int64?
  /// `currency`
  public var currency: String?
  /// `renewalBillingPlanType`
  public var renewalBillingPlanType: BillingPlanType?
  /// The bundle that the next renewal is part of; nil if it is of this subscription alone.
  public var bundle: BundlePurchase?
  /// `willUnbundle`: whether the subscription leaves its bundle at the next renewal, and renews alone.
  public var willUnbundle: Bool?
  /// `signedDate`
  public var signedDate: Int64?
  /// `environment`; absent in payloads signed before February 2022.
  public var environment: StoreEnvironment?
  /// `appAccountToken`, unchanged.
  public var appAccountToken: String?
  /// `appTransactionId`
  public var appTransactionID: String?
  /// `deviceVerification`, base64. Xcode writes it here too.
  public var deviceVerification: String?
  /// `deviceVerificationNonce`, a UUID.
  public var deviceVerificationNonce: String?
  /// `commitmentInfo`
  public var commitment: Commitment?
  /// `renewalQuantity`: the seats of the next period, with what was added and reduced so far.
  public var renewalSeats: Int?
  /// `multiSeatInfo`, `renewalPriceTiers`: how many seats renew at which price. In no certain order.
  public var renewalPriceTiers: [SeatPriceTier]
  /// `advancedCommerceInfo`, undecoded.
  public var advancedCommerceInfo: JSONValue?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Whether the subscription will renew; nil if the field is absent or has an unknown number.
  public var willAutoRenew: Bool? { autoRenewStatus?.willAutoRenew }

  /// Decodes the payload of a JWS. Throws if it is no JWS or no JSON object, or if a known field has an
  /// invalid value; the error names the field.
  public init(jws: String) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.payloadFields(of: jws.utf8))
  }

  /// Decodes a payload that was taken out of its JWS. Throws like ``init(jws:)``.
  public init(payload: Data) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.fields(ofPayload: payload))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    fields.optional = Self.optional
    originalTransactionID = try fields.string("originalTransactionId")
    productID = try fields.string("productId")
    autoRenewProductID = try fields.string("autoRenewProductId")
    autoRenewStatus = try fields.renewStatus("autoRenewStatus")
    expirationIntent = try fields.code("expirationIntent", as: ExpirationIntent.self)
    isInBillingRetryPeriod = try fields.flag("isInBillingRetryPeriod")
    gracePeriodExpiresDate = try fields.milliseconds("gracePeriodExpiresDate")
    priceIncreaseStatus = try fields.code("priceIncreaseStatus", as: PriceIncreaseStatus.self)
    offerType = try fields.code("offerType", as: OfferType.self)
    offerIdentifier = try fields.string("offerIdentifier")
    offerDiscountType = try fields.word("offerDiscountType", as: OfferDiscountType.self)
    offerPeriod = try fields.string("offerPeriod")
    eligibleWinBackOfferIDs = try fields.strings("eligibleWinBackOfferIds")
    recentSubscriptionStartDate = try fields.milliseconds("recentSubscriptionStartDate")
    renewalDate = try fields.milliseconds("renewalDate")
    renewalPrice = try fields.integer("renewalPrice")
    currency = try fields.string("currency")
    renewalBillingPlanType = try fields.word("renewalBillingPlanType", as: BillingPlanType.self)
    bundle = try BundlePurchase(&fields)
    willUnbundle = try fields.flag("willUnbundle")
    signedDate = try fields.milliseconds("signedDate")
    environment = try fields.word("environment", as: StoreEnvironment.self)
    appAccountToken = try fields.string("appAccountToken")
    appTransactionID = try fields.string("appTransactionId")
    deviceVerification = try fields.string("deviceVerification")
    deviceVerificationNonce = try fields.string("deviceVerificationNonce")
    commitment = try fields.object("commitmentInfo").map(Commitment.init)
    renewalSeats = try fields.quantity("renewalQuantity")
    renewalPriceTiers = try fields.object("multiSeatInfo", Self.tiers) ?? []
    advancedCommerceInfo = try fields.value("advancedCommerceInfo")
    unknownFields = try fields.unknown()
  }
}

extension SignedRenewalInfo {
  /// What decides neither whether the subscription renews, nor when it ends.
  private static let optional: Set = BundlePurchase.fields.union([
    "willUnbundle", "offerType", "offerIdentifier", "offerDiscountType", "offerPeriod", "renewalPrice",
    "currency",
    "renewalBillingPlanType", "appTransactionId", "deviceVerification", "deviceVerificationNonce",
    "commitmentInfo", "renewalQuantity", "multiSeatInfo",
  ])

  private static func tiers(_ input: JSONFields) throws(ReceiptDecodingError) -> [SeatPriceTier] {
    var fields = input
    fields.optional = ["renewalPriceTiers"]
    return try fields.objects("renewalPriceTiers", SeatPriceTier.init)
  }

  /// The renewal after a commitment (StoreFacts c.2, since 2026-04).
  public struct Commitment: Sendable, Hashable {
    /// `commitmentAutoRenewProductId`
    public var autoRenewProductID: String?
    /// `commitmentAutoRenewStatus`
    public var autoRenewStatus: AutoRenewStatus?
    /// `commitmentRenewalBillingPlanType`
    public var renewalBillingPlanType: BillingPlanType?
    /// `commitmentRenewalDate`, milliseconds since 1970.
    public var renewalDate: Int64?
    /// `commitmentRenewalPrice`, thousandths of the currency's unit.
    public var renewalPrice: Int64?
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      fields.optional = [
        "commitmentRenewalBillingPlanType", "commitmentRenewalDate", "commitmentRenewalPrice",
      ]
      autoRenewProductID = try fields.string("commitmentAutoRenewProductId")
      autoRenewStatus = try fields.renewStatus("commitmentAutoRenewStatus")
      renewalBillingPlanType = try fields.word(
        "commitmentRenewalBillingPlanType", as: BillingPlanType.self)
      renewalDate = try fields.milliseconds("commitmentRenewalDate")
      renewalPrice = try fields.integer("commitmentRenewalPrice")
      unknownFields = try fields.unknown()
    }
  }
}
