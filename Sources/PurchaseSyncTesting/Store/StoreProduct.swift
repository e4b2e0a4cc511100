public import AppStoreReceipts

/// A product of the model store.
public struct StoreProduct: Sendable, Hashable {
  /// The kinds, with the names that signed transactions give them.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Used up; can be bought repeatedly, several at once.
    case consumable = "Consumable"
    /// Owned for ever.
    case nonConsumable = "Non-Consumable"
    /// Renewed by the store until cancelled.
    case autoRenewable = "Auto-Renewable Subscription"
    /// Valid for a time that only the app knows.
    case nonRenewing = "Non-Renewing Subscription"
    /// Several subscriptions for one price, also of other developers' apps.
    case bundle = "Subscription Bundle"
    /// One subscription for several apps.
    case suite = "Subscription Suite"

    /// Whether the store renews it.
    var isRenewed: Bool { self == .autoRenewable || isBundle }
    /// Whether a payment makes a transaction for each of its subscriptions, and none for itself.
    var isBundle: Bool { self == .bundle || self == .suite }
  }

  /// A subscription of a bundle or suite.
  public struct Member: Sendable, Hashable, Codable {
    /// The product of its transactions. It need not be for sale alone.
    public var productID: String
    /// The app that gets its transactions; nil for the store's own app.
    public var bundleID: String?

    /// A subscription of a bundle.
    public init(_ productID: String, of bundleID: String? = nil) {
      (self.productID, self.bundleID) = (productID, bundleID)
    }
  }

  /// The product id.
  public var id: String
  /// Which kind it is.
  public var kind: Kind
  /// The length of one period of a subscription; nil for the other kinds.
  public var period: Duration?
  /// The subscription group, of which a store account has one product at a time. With nil, every purchase is a separate
  /// subscription without changes of plan.
  public var groupID: String?
  /// The rank in its group; 1 is the highest.
  public var level = 1
  /// How long access continues after a failed renewal; zero for no grace period.
  public var gracePeriod = Duration.zero
  /// The length of the free trial for the first subscription of the group; nil for none.
  public var trial: Duration?
  /// To how many payments, of one period each, a customer agrees; nil for a subscription that can end with any period.
  public var commitment: Int?
  /// Thousandths of the currency's unit; nil if no document has a price.
  public var price: Int64?
  /// Whether the family of the paying store account gets it too.
  public var isFamilyShareable = false
  /// The subscriptions of a bundle or suite; empty for the other kinds.
  public var members: [Member] = []
  /// Who invites the members of a subscription that is sold for several people; nil if one person is the most.
  public var invitations: InvitationManagement?

  /// A product; a period only for an auto-renewable subscription.
  public init(id: String, kind: Kind, period: Duration? = nil) {
    self.id = id
    self.kind = kind
    self.period = period
  }

  /// An auto-renewable subscription of a group.
  public init(
    subscription id: String, groupID: String, level: Int = 1, period: Duration, price: Int64? = nil,
    gracePeriod: Duration = .zero, trial: Duration? = nil
  ) {
    self.init(id: id, kind: .autoRenewable, period: period)
    self.groupID = groupID
    self.level = level
    self.price = price
    self.gracePeriod = gracePeriod
    self.trial = trial
  }

  /// A bundle of subscriptions.
  public init(
    bundle id: String, of members: [Member], groupID: String? = nil, period: Duration, price: Int64? = nil
  ) {
    self.init(id: id, kind: .bundle, period: period)
    (self.members, self.groupID, self.price) = (members, groupID, price)
  }
}

extension StoreProduct: Codable {
  private enum Key: String, CodingKey {
    case id, kind, periodMilliseconds, groupID, level, gracePeriodMilliseconds, trialMilliseconds, price
    case isFamilyShareable, members, invitations, commitment
  }

  /// Only `id` and `kind` have to be there.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    id = try fields.decode(String.self, forKey: .id)
    kind = try fields.decode(Kind.self, forKey: .kind)
    period = try fields.decodeIfPresent(Int64.self, forKey: .periodMilliseconds).map { .milliseconds($0) }
    groupID = try fields.decodeIfPresent(String.self, forKey: .groupID)
    level = try fields.decodeIfPresent(Int.self, forKey: .level) ?? 1
    gracePeriod = .milliseconds(
      try fields.decodeIfPresent(Int64.self, forKey: .gracePeriodMilliseconds) ?? 0)
    trial = try fields.decodeIfPresent(Int64.self, forKey: .trialMilliseconds).map { .milliseconds($0) }
    price = try fields.decodeIfPresent(Int64.self, forKey: .price)
    // More than a century of payments is no commitment, and would overflow.
    commitment = try fields.decodeIfPresent(Int.self, forKey: .commitment).map { min(max(1, $0), 1_200) }
    isFamilyShareable = try fields.decodeIfPresent(Bool.self, forKey: .isFamilyShareable) ?? false
    members = try fields.decodeIfPresent([Member].self, forKey: .members) ?? []
    invitations = try fields.decodeIfPresent(InvitationManagement.self, forKey: .invitations)
  }

  /// Default values are left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(kind, forKey: .kind)
    try fields.encodeIfPresent(period?.inMilliseconds, forKey: .periodMilliseconds)
    try fields.encodeIfPresent(groupID, forKey: .groupID)
    if groupID != nil { try fields.encode(level, forKey: .level) }
    if gracePeriod != .zero {
      try fields.encode(gracePeriod.inMilliseconds, forKey: .gracePeriodMilliseconds)
    }
    try fields.encodeIfPresent(trial?.inMilliseconds, forKey: .trialMilliseconds)
    try fields.encodeIfPresent(price, forKey: .price)
    try fields.encodeIfPresent(commitment, forKey: .commitment)
    if isFamilyShareable { try fields.encode(true, forKey: .isFamilyShareable) }
    if !members.isEmpty { try fields.encode(members, forKey: .members) }
    try fields.encodeIfPresent(invitations, forKey: .invitations)
  }
}
