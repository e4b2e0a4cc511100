import AppStoreReceipts
import PurchaseQueue

/// What a backend reported about the use of a purchase, after a `CONSUMPTION_REQUEST`.
struct ConsumptionReport: Hashable, Sendable, Codable {
  /// 1 or 2: which endpoint took it.
  var version: Int
  /// When it came.
  var toldAt: Timestamp
  /// The body.
  var json: String
  /// Of version 2: how much of the purchase is used, in thousandths of a percent; nil if it does not say.
  var consumedShare: Int64?
  /// Of version 2: what the backend would do.
  var preference: String?

  /// Checks the body of either version.
  init(version: Int, body: JSONValue, now: Timestamp) throws(ServerAPIError) {
    guard body.object != nil, body.text.utf8.count <= Self.longest else { throw .badRequest }
    // "If not, don't respond to the CONSUMPTION_REQUEST notification."
    guard body["customerConsented"]?.flag == true else { throw .invalidCustomerConsented }
    if version == 1 { try Self.checkVersion1(body) } else { try Self.checkVersion2(body) }
    self.version = version
    toldAt = now
    json = body.text
    guard version > 1 else { return }
    consumedShare = Self.given(body, "consumptionPercentage")?.wholeNumber
    preference = Self.given(body, "refundPreference")?.string
  }

  /// Checks version 2 against what was bought: a subscription is used by its time, and says no share; to prorate another
  /// purchase takes the share that is used, above 0 (Apple, refundPreference and consumptionPercentage).
  func check(of record: StoreTransactionRecord) throws(ServerAPIError) {
    if record.kind == .autoRenewable {
      guard consumedShare == nil else { throw .badRequest }
    } else if preference == "GRANT_PRORATED" {
      guard let consumedShare, consumedShare > 0 else { throw .badRequest }
    }
  }

  /// In bytes: several times what Apple's members take.
  private static let longest = 8 << 10

  private static let deliveries: Set<String> = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
    "UNDELIVERED_OTHER",
  ]
  private static let preferences: Set<String> = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

  private static func checkVersion2(_ body: JSONValue) throws(ServerAPIError) {
    guard body["sampleContentProvided"]?.flag != nil else { throw .invalidSampleContent }
    guard let delivery = body["deliveryStatus"]?.string, deliveries.contains(delivery) else {
      throw .invalidDeliveryStatus
    }
    // "The percentage, in milliunits."
    if let used = given(body, "consumptionPercentage") {
      guard let number = used.wholeNumber, 0...100_000 ~= number else { throw .badRequest }
    }
    if let preference = given(body, "refundPreference") {
      guard let word = preference.string, preferences.contains(word) else { throw .badRequest }
    }
  }

  private static func checkVersion1(_ body: JSONValue) throws(ServerAPIError) {
    guard body["sampleContentProvided"]?.flag != nil else { throw .invalidSampleContent }
    let numbers: [(name: String, limit: Int64, error: ServerAPIError)] = [
      ("consumptionStatus", 3, .invalidConsumptionStatus), ("platform", 2, .invalidPlatform),
      ("deliveryStatus", 5, .invalidDeliveryStatus), ("accountTenure", 7, .invalidAccountTenure),
      ("playTime", 7, .invalidPlayTime), ("lifetimeDollarsRefunded", 7, .invalidDollarsRefunded),
      ("lifetimeDollarsPurchased", 7, .invalidDollarsPurchased), ("userStatus", 4, .invalidUserStatus),
    ]
    for field in numbers {
      guard let number = body[field.name]?.wholeNumber, 0...field.limit ~= number else { throw field.error }
    }
    if let preference = given(body, "refundPreference") {
      guard let number = preference.wholeNumber, 0...3 ~= number else { throw .badRequest }
    }
    // "An empty string if there is none."
    if let token = given(body, "appAccountToken")?.string, !token.isEmpty {
      guard ServerAPIBody.uuid(token) != nil else { throw .invalidAppAccountToken }
    }
  }

  /// Null is as good as absent.
  private static func given(_ body: JSONValue, _ name: String) -> JSONValue? {
    body[name].flatMap { $0 == .null ? nil : $0 }
  }
}
