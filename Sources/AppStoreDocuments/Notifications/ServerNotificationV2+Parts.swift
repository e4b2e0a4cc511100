public import AppStoreReceipts

extension ServerNotificationV2 {
  /// `data`: the event of one transaction (StoreFacts d.2).
  public struct Details: Sendable, Hashable {
    /// `appAppleId`; may be absent in the sandbox.
    public var appID: Int64?
    /// `bundleId`
    public var bundleID: String?
    /// `bundleVersion`
    public var bundleVersion: String?
    /// `environment`
    public var environment: StoreEnvironment?
    /// `signedTransactionInfo`, a JWS. It is a proof: do not log it.
    public var signedTransaction: String?
    /// `signedRenewalInfo`, a JWS. Only subscriptions have it.
    public var signedRenewalInfo: String?
    /// `status`. Only subscriptions have it.
    public var subscriptionState: SubscriptionState?
    /// `consumptionRequestReason`. Only `CONSUMPTION_REQUEST` has it.
    public var consumptionRequestReason: ConsumptionRequestReason?
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      appID = try fields.integer("appAppleId")
      bundleID = try fields.string("bundleId")
      bundleVersion = try fields.text("bundleVersion")
      environment = try fields.word("environment", as: StoreEnvironment.self)
      signedTransaction = try fields.string("signedTransactionInfo")
      signedRenewalInfo = try fields.string("signedRenewalInfo")
      subscriptionState = try fields.code("status", as: SubscriptionState.self)
      consumptionRequestReason = try fields.word(
        "consumptionRequestReason", as: ConsumptionRequestReason.self)
      unknownFields = try fields.unknown()
    }

    /// The transaction, decoded and not verified; nil if there is none. Throws like
    /// `SignedTransaction.init(jws:)`.
    public func transaction() throws(ReceiptDecodingError) -> SignedTransaction? {
      guard let signedTransaction else { return nil }
      return try SignedTransaction(jws: signedTransaction)
    }

    /// The renewal info, decoded and not verified; nil if there is none. Throws like
    /// ``SignedRenewalInfo/init(jws:)``.
    public func renewalInfo() throws(ReceiptDecodingError) -> SignedRenewalInfo? {
      guard let signedRenewalInfo else { return nil }
      return try SignedRenewalInfo(jws: signedRenewalInfo)
    }
  }

  /// `summary`: the result of extending many subscriptions (StoreFacts d.2).
  public struct Summary: Sendable, Hashable {
    /// `environment`
    public var environment: StoreEnvironment?
    /// `appAppleId`
    public var appID: Int64?
    /// `bundleId`
    public var bundleID: String?
    /// `productId`
    public var productID: String?
    /// `requestIdentifier`
    public var requestID: String?
    /// `storefrontCountryCodes`: three-letter codes of ISO 3166-1.
    public var storefronts: [String]
    /// `succeededCount`
    public var succeededCount: Int64?
    /// `failedCount`
    public var failedCount: Int64?
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      environment = try fields.word("environment", as: StoreEnvironment.self)
      appID = try fields.integer("appAppleId")
      bundleID = try fields.string("bundleId")
      productID = try fields.string("productId")
      requestID = try fields.string("requestIdentifier")
      storefronts = try fields.strings("storefrontCountryCodes")
      succeededCount = try fields.integer("succeededCount")
      failedCount = try fields.integer("failedCount")
      unknownFields = try fields.unknown()
    }
  }

  /// `externalPurchaseToken` (StoreFacts d.2).
  public struct ExternalPurchaseToken: Sendable, Hashable {
    /// `externalPurchaseId`
    public var id: String?
    /// `tokenCreationDate`
    public var creationDate: Int64?
    /// `appAppleId`
    public var appID: Int64?
    /// `bundleId`
    public var bundleID: String?
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      id = try fields.string("externalPurchaseId")
      creationDate = try fields.milliseconds("tokenCreationDate")
      appID = try fields.integer("appAppleId")
      bundleID = try fields.string("bundleId")
      unknownFields = try fields.unknown()
    }

    /// The environment. No field states it; an id that begins with `SANDBOX` does, as in Apple's own library.
    public var environment: StoreEnvironment? {
      id.map { $0.hasPrefix("SANDBOX") ? .sandbox : .production }
    }
  }

  /// `appData` (StoreFacts d.2).
  public struct AppData: Sendable, Hashable {
    /// `appAppleId`
    public var appID: Int64?
    /// `bundleId`
    public var bundleID: String?
    /// `environment`
    public var environment: StoreEnvironment?
    /// `signedAppTransactionInfo`, a JWS.
    public var signedAppTransaction: String?
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      appID = try fields.integer("appAppleId")
      bundleID = try fields.string("bundleId")
      environment = try fields.word("environment", as: StoreEnvironment.self)
      signedAppTransaction = try fields.string("signedAppTransactionInfo")
      unknownFields = try fields.unknown()
    }

    /// The app transaction, decoded and not verified; nil if there is none. Throws like
    /// ``SignedAppTransaction/init(jws:)``.
    public func appTransaction() throws(ReceiptDecodingError) -> SignedAppTransaction? {
      guard let signedAppTransaction else { return nil }
      return try SignedAppTransaction(jws: signedAppTransaction)
    }
  }

  /// `unclaimInfo`: the seats that the store took back, of a subscription whose invitations the app hosts (StoreFacts d.2).
  public struct UnclaimInfo: Sendable, Hashable {
    /// `appAppleId`
    public var appID: Int64?
    /// `bundleId`
    public var bundleID: String?
    /// `environment`
    public var environment: StoreEnvironment?
    /// `unclaimSeatIds`: the names of the claims, as *Claim Seat* gave them. The access of these members ends, and of no
    /// others.
    public var seatClaimIDs: [String]
    /// Fields that this module does not know.
    public var unknownFields: [String: JSONValue]

    init(_ input: JSONFields) throws(ReceiptDecodingError) {
      var fields = input
      appID = try fields.integer("appAppleId")
      bundleID = try fields.string("bundleId")
      environment = try fields.word("environment", as: StoreEnvironment.self)
      seatClaimIDs = try fields.strings("unclaimSeatIds")
      unknownFields = try fields.unknown()
    }
  }
}
