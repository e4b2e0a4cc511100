/// Something that the model of the store sells.
public struct StoreProduct: Sendable, Hashable, Codable {
  /// The four kinds, with the names that signed transactions give them.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Used up; can be bought again and again, several at once.
    case consumable = "Consumable"
    /// Owned for ever.
    case nonConsumable = "Non-Consumable"
    /// Renewed by the store until cancelled.
    case autoRenewable = "Auto-Renewable Subscription"
    /// For a time that only the app knows.
    case nonRenewing = "Non-Renewing Subscription"
  }

  /// The product id.
  public var id: String
  /// Which of the four kinds it is.
  public var kind: Kind
  /// How long one period of a subscription lasts, in milliseconds; nil of the other kinds.
  public var periodMilliseconds: Int64?

  /// A product; a period only for an auto-renewable subscription.
  public init(id: String, kind: Kind, periodMilliseconds: Int64? = nil) {
    self.id = id
    self.kind = kind
    self.periodMilliseconds = periodMilliseconds
  }
}
