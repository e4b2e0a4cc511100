/// Whether a purchase is the customer's own or shared (StoreFacts a.5, c.2). An open set: an unknown word is
/// kept.
public struct OwnershipType: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer's own purchase.
  public static let purchased = OwnershipType(rawValue: "PURCHASED")
  /// A purchase that a family member shares.
  public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
  /// A seat of an organisation's or another person's purchase, with that purchase's quantity and price.
  public static let assigned = OwnershipType(rawValue: "ASSIGNED")
}

/// The kind of a product (StoreFacts c.2, `type`). An open set.
public struct ProductKind: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Renews until the customer turns renewal off.
  public static let autoRenewable = ProductKind(rawValue: "Auto-Renewable Subscription")
  /// Bought once and kept permanently.
  public static let nonConsumable = ProductKind(rawValue: "Non-Consumable")
  /// Used up, and can be bought again.
  public static let consumable = ProductKind(rawValue: "Consumable")
  /// Lasts for a time that the app defines; the store states no end.
  public static let nonRenewing = ProductKind(rawValue: "Non-Renewing Subscription")
}

/// The kind of an offer (StoreFacts c.2, `offerType`). An open set.
public struct OfferType: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An introductory offer.
  public static let introductory = OfferType(rawValue: 1)
  /// A promotional offer.
  public static let promotional = OfferType(rawValue: 2)
  /// An offer code.
  public static let code = OfferType(rawValue: 3)
  /// A win-back offer.
  public static let winBack = OfferType(rawValue: 4)
  /// An offer of a retention message, to a customer who is about to cancel.
  public static let retention = OfferType(rawValue: 5)
}

/// How an offer is paid (StoreFacts c.2, `offerDiscountType`). An open set.
public struct OfferDiscountType: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Free for its period.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// A reduced price for each of some periods.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// Paid once for several periods.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// A discount on one purchase.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")
}

/// Why a transaction was made (StoreFacts c.2, `transactionReason`). An open set.
public struct TransactionReason: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer bought.
  public static let purchase = TransactionReason(rawValue: "PURCHASE")
  /// The store renewed.
  public static let renewal = TransactionReason(rawValue: "RENEWAL")
}

/// Why the store took a purchase back: `revocationReason`, `cancellation_reason` (StoreFacts a.5, c.2).
/// An open set.
public struct RevocationReason: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Another reason, such as a purchase by accident.
  public static let other = RevocationReason(rawValue: 0)
  /// A problem with the app, real or perceived.
  public static let problemWithApp = RevocationReason(rawValue: 1)
}

/// How the store took a purchase back (StoreFacts c.2, since 2025-12). An open set: StoreKit knows that an assigned seat was
/// taken back, and no source has the word for it on the wire.
public struct RevocationType: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// All of the money was returned.
  public static let fullRefund = RevocationType(rawValue: "REFUND_FULL")
  /// A part of the money was returned.
  public static let proratedRefund = RevocationType(rawValue: "REFUND_PRORATED")
  /// A family member stopped sharing.
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")
}

/// How a subscription's commitment is paid (StoreFacts c.2, since 2026-04). An open set.
public struct BillingPlanType: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// In one payment at the start.
  public static let upfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
  /// Monthly.
  public static let monthly = BillingPlanType(rawValue: "MONTHLY")
}
