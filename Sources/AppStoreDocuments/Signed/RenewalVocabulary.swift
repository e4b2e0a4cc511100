import AppStoreReceipts

/// Why a subscription ended (StoreFacts a.6, c.2). An open set.
public struct ExpirationIntent: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer turned renewal off.
  public static let cancelled = ExpirationIntent(rawValue: 1)
  /// The charge failed.
  public static let billingError = ExpirationIntent(rawValue: 2)
  /// The customer did not consent to a higher price.
  public static let priceIncreaseDeclined = ExpirationIntent(rawValue: 3)
  /// The product was not for sale at the renewal.
  public static let productUnavailable = ExpirationIntent(rawValue: 4)
  /// The store gives no reason.
  public static let unknown = ExpirationIntent(rawValue: 5)
  /// The customer left the bundle of which it was a part. Apple has published the reason and not its number: 6 follows the
  /// known ones.
  public static let unbundled = ExpirationIntent(rawValue: 6)
}

/// The customer's answer to a higher price (StoreFacts a.6, c.2). An open set.
public struct PriceIncreaseStatus: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer was asked and has not answered.
  public static let pending = PriceIncreaseStatus(rawValue: 0)
  /// The customer consented, or only had to be informed.
  public static let consented = PriceIncreaseStatus(rawValue: 1)
}

/// The platform on which the app was first bought (StoreFacts c.2, `originalPlatform`). An open set.
public struct OriginalPlatform: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// iPhone and iPad.
  public static let iOS = OriginalPlatform(rawValue: "iOS")
  /// Mac.
  public static let macOS = OriginalPlatform(rawValue: "macOS")
  /// Apple TV.
  public static let tvOS = OriginalPlatform(rawValue: "tvOS")
  /// Apple Vision.
  public static let visionOS = OriginalPlatform(rawValue: "visionOS")
  /// An organization manages the app.
  public static let managed = OriginalPlatform(rawValue: "managed")
}

/// The store's own summary of a subscription: `status` in notifications and in the App Store Server API
/// (StoreFacts d.2). An open set.
public struct SubscriptionState: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Paid.
  public static let active = SubscriptionState(rawValue: 1)
  /// Ended.
  public static let expired = SubscriptionState(rawValue: 2)
  /// Ended; the store still tries to charge.
  public static let billingRetry = SubscriptionState(rawValue: 3)
  /// The charge failed; access continues during the grace period.
  public static let gracePeriod = SubscriptionState(rawValue: 4)
  /// Refunded, or no longer shared.
  public static let revoked = SubscriptionState(rawValue: 5)
}

/// Whether a subscription will renew: `autoRenewStatus`, `auto_renew_status` (StoreFacts a.6, c.2). An
/// open set.
public struct AutoRenewStatus: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer turned renewal off.
  public static let off = AutoRenewStatus(rawValue: 0)
  /// The subscription will renew.
  public static let on = AutoRenewStatus(rawValue: 1)

  /// Whether the subscription will renew; nil for a number that this module does not know.
  public var willAutoRenew: Bool? {
    switch self {
    case .on: true
    case .off: false
    default: nil
    }
  }
}
