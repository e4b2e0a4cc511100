/// Something that the model of the store sells.
public struct StoreProduct: Sendable, Hashable {
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
  /// The subscription group, of which a store account has one product at a time. Nil: every purchase is a
  /// subscription of its own, and there are no plans to change to.
  public var groupID: String?
  /// The rank in its group; 1 is the highest.
  public var level = 1
  /// How long access goes on when a renewal cannot be charged, in milliseconds; 0 for no grace period.
  public var gracePeriodMilliseconds: Int64 = 0
  /// The length of the free trial of whoever had nothing of the group before, in milliseconds; nil for none.
  public var trialMilliseconds: Int64?
  /// Thousandths of the currency's unit; nil where no document names a price.
  public var price: Int64?
  /// Whether the family of the store account that paid has it, too.
  public var isFamilyShareable = false

  /// A product; a period only for an auto-renewable subscription.
  public init(id: String, kind: Kind, periodMilliseconds: Int64? = nil) {
    self.id = id
    self.kind = kind
    self.periodMilliseconds = periodMilliseconds
  }

  /// An auto-renewable subscription of a group.
  public init(
    subscription id: String, groupID: String, level: Int = 1, periodMilliseconds: Int64, price: Int64? = nil,
    gracePeriodMilliseconds: Int64 = 0, trialMilliseconds: Int64? = nil
  ) {
    self.init(id: id, kind: .autoRenewable, periodMilliseconds: periodMilliseconds)
    self.groupID = groupID
    self.level = level
    self.price = price
    self.gracePeriodMilliseconds = gracePeriodMilliseconds
    self.trialMilliseconds = trialMilliseconds
  }
}

extension StoreProduct: Codable {
  private enum Key: String, CodingKey {
    case id, kind, periodMilliseconds, groupID, level, gracePeriodMilliseconds, trialMilliseconds, price
    case isFamilyShareable
  }

  /// Only `id` and `kind` have to be there.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    id = try fields.decode(String.self, forKey: .id)
    kind = try fields.decode(Kind.self, forKey: .kind)
    periodMilliseconds = try fields.decodeIfPresent(Int64.self, forKey: .periodMilliseconds)
    groupID = try fields.decodeIfPresent(String.self, forKey: .groupID)
    level = try fields.decodeIfPresent(Int.self, forKey: .level) ?? 1
    gracePeriodMilliseconds = try fields.decodeIfPresent(Int64.self, forKey: .gracePeriodMilliseconds) ?? 0
    trialMilliseconds = try fields.decodeIfPresent(Int64.self, forKey: .trialMilliseconds)
    price = try fields.decodeIfPresent(Int64.self, forKey: .price)
    isFamilyShareable = try fields.decodeIfPresent(Bool.self, forKey: .isFamilyShareable) ?? false
  }

  /// What says nothing is left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(kind, forKey: .kind)
    try fields.encodeIfPresent(periodMilliseconds, forKey: .periodMilliseconds)
    try fields.encodeIfPresent(groupID, forKey: .groupID)
    if groupID != nil { try fields.encode(level, forKey: .level) }
    if gracePeriodMilliseconds != 0 {
      try fields.encode(gracePeriodMilliseconds, forKey: .gracePeriodMilliseconds)
    }
    try fields.encodeIfPresent(trialMilliseconds, forKey: .trialMilliseconds)
    try fields.encodeIfPresent(price, forKey: .price)
    if isFamilyShareable { try fields.encode(true, forKey: .isFamilyShareable) }
  }
}
