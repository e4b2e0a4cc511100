public import AppStoreReceipts

/// An answer of the App Store Server API, or an item of one: the parts with signed payloads (StoreFacts c.3).
///
/// Its JWS are kept undecoded; ``StoreDocument`` decodes them. Nothing is verified.
public struct ServerAPIResponse: Sendable, Hashable {
  /// One JWS of the answer.
  public struct SignedField: Sendable, Hashable {
    /// The place of the JWS: "data[0].lastTransactions[1].signedTransactionInfo".
    public var path: String
    /// The JWS, unchanged.
    public var jws: String
    /// The `status` in the same object. Only subscriptions have it.
    public var subscriptionState: SubscriptionState?
  }

  /// `environment`
  public var environment: StoreEnvironment?
  /// `bundleId`
  public var bundleID: String?
  /// `appAppleId`
  public var appID: Int64?
  /// `hasMore`: there are further pages.
  public var hasMore: Bool?
  /// `revision`: the value with which the next page is requested.
  public var revision: String?
  /// Every JWS, in the answer's order.
  public var signedFields: [SignedField] = []
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue] = [:]

  /// The names that may hold a JWS.
  static let names = [
    "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo", "signedPayload",
  ]
  /// The names of lists: of JWS, or of objects with a JWS.
  static let lists = ["signedTransactions", "data", "lastTransactions", "notificationHistory"]

  /// The other names of a list's items, which have no property here.
  private static let itemNames = [
    "status", "originalTransactionId", "subscriptionGroupIdentifier", "sendAttempts",
    "firstSendAttemptResult",
  ]

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    environment = try fields.word("environment", as: StoreEnvironment.self)
    bundleID = try fields.string("bundleId")
    appID = try fields.integer("appAppleId")
    hasMore = try fields.flag("hasMore")
    revision = try fields.string("revision")
    try takeSigned(&fields)
    var rest = fields
    for name in Self.itemNames { _ = rest.offset(name) }
    try rest.nameUnknown()
    unknownFields = try fields.unknown(areNamed: true)
  }

  /// An answer has three levels: its own, a list's items, and the items of a list inside of those.
  private mutating func takeSigned(_ fields: inout JSONFields, level: Int = 1) throws(ReceiptDecodingError) {
    let hasSigned = Self.names.contains { fields.has($0) }
    let state = hasSigned ? try fields.code("status", as: SubscriptionState.self) : nil
    for name in Self.names {
      guard let jws = try fields.string(name) else { continue }
      signedFields.append(SignedField(path: fields.path(of: name), jws: jws, subscriptionState: state))
    }
    let isLenient = fields.isLenient
    for name in Self.lists where level < 4 {
      guard fields.isArray(name) else { continue }
      _ = try fields.items(name, "an array") { (item) throws(ReceiptDecodingError) in
        if let jws = try item.string() {
          // The list grows, and each entry has a path. For one of the store's JWS this is very little.
          try item.charge(3 * MemoryLayout<SignedField>.stride + JSONBudget.text(item.path.utf8.count))
          signedFields.append(SignedField(path: item.path, jws: jws))
        } else {
          var inner = try item.fields(isLenient: isLenient)
          try takeSigned(&inner, level: level + 1)
          for name in Self.itemNames { _ = inner.offset(name) }
          try inner.nameUnknown()
        }
      }
    }
  }
}

extension ServerAPIResponse: CustomStringConvertible, CustomReflectable {
  /// A count, without the JWS.
  public var description: String { "answer of the Server API, \(signedFields.count) signed payloads" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
