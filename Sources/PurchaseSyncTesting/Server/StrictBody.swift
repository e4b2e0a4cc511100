import AppStoreDocuments
import AppStoreReceipts
import LoopbackHTTP

/// A body of the store's and the admin's routes: a member that it does not have is refused with its name, because a
/// misspelt wish that is ignored looks like a fault of the store. The wire protocol of backends ignores such members.
protocol StrictBody: Decodable {
  associatedtype Member: CodingKey & CaseIterable
  /// The members of members that are objects, or lists of objects.
  static var nested: [String: Set<String>] { get }
}

extension StrictBody {
  static var nested: [String: Set<String>] { [:] }

  static func check(_ json: JSONValue) throws {
    let known = Set(Member.allCases.map(\.stringValue))
    try check(json, known, "the body")
    for (name, members) in nested {
      guard let value = json[name] else { continue }
      try check(value, members, name)
      for (index, item) in (value.array ?? []).enumerated() {
        try check(item, members, "\(name).\(index)")
      }
    }
    for (name, value) in json.object ?? [:] {
      if let text = value.string { try IDLimits.check(text, IDLimits.name, name) }
      for (index, item) in (value.array ?? []).enumerated() {
        if let text = item.string { try IDLimits.check(text, IDLimits.name, "\(name).\(index)") }
      }
    }
  }

  private static func check(_ json: JSONValue, _ known: Set<String>, _ place: String) throws {
    let unknown = Set((json.object ?? [:]).keys).subtracting(known)
    guard let first = unknown.min() else { return }
    let names = known.isEmpty ? "none" : known.sorted().joined(separator: ", ")
    throw HTTPProblem.malformed(
      "\(place): there is no member \"\(first.prefix(64))\"; there are \(names)")
  }
}

extension HTTPRequest {
  /// Throws 400 for a name in the query that the route does not have.
  func allow(query known: Set<String>) throws {
    guard let first = Set(query.keys).subtracting(known).min() else { return }
    throw HTTPProblem.malformed(
      "the query: there is no \"\(first.prefix(64))\"; there are \(known.sorted().joined(separator: ", "))")
  }
}

extension FaultPlan: StrictBody {
  enum Member: CodingKey, CaseIterable { case rules }

  static let nested: [String: Set<String>] = ["rules": Rule.members]
}

extension APILimitDocument: StrictBody {
  enum Member: CodingKey, CaseIterable { case requests, milliseconds }
}

extension VerifyReceiptScript: StrictBody {
  enum Member: CodingKey, CaseIterable { case answers }

  static let nested: [String: Set<String>] = ["answers": ["status", "isRetryable", "isHyphenated"]]
}

/// The body of a request that needs none.
struct NoMembers: StrictBody {
  enum Member: CodingKey, CaseIterable {
    static var allCases: [Member] { [] }
  }
}

extension PromotionRequest: StrictBody {
  enum Member: CodingKey, CaseIterable { case productID, storeAccount, device }
}

extension StoreCaller: StrictBody {
  enum Member: CodingKey, CaseIterable { case storeAccount, device }
}

extension PaymentRequest: StrictBody {
  enum Member: CodingKey, CaseIterable {
    case storeAccount, device, launch, productID, quantity, accountToken, delivery
  }

  static let nested: [String: Set<String>] = [
    "delivery": ["proofs", "forgetsToken", "isUnverified"]
  ]
}

extension FinishRequest: StrictBody {
  enum Member: CodingKey, CaseIterable { case transactionIDs, storeAccount, device }
}

extension SignInRequest: StrictBody {
  enum Member: CodingKey, CaseIterable { case device, storeAccount }
}

extension RequestDecision: StrictBody {
  enum Member: CodingKey, CaseIterable { case requestID, accountToken }
}

extension OfferRedemption: StrictBody {
  enum Member: CodingKey, CaseIterable { case offerCode, productID, storeAccount, device }
}

extension AccountSettings: StrictBody {
  enum Member: CodingKey, CaseIterable {
    case storeAccount, asksToBuy, billingWorks, interruptedPurchases, family
  }
}

extension TransactionReference: StrictBody {
  enum Member: CodingKey, CaseIterable { case transactionID }
}

extension PlanChange: StrictBody {
  enum Member: CodingKey, CaseIterable { case transactionID, productID }
}

extension RenewalWish: StrictBody {
  enum Member: CodingKey, CaseIterable { case transactionID, willRenew }
}

extension PriceChange: StrictBody {
  enum Member: CodingKey, CaseIterable { case productID, price, needsConsent }
}

extension RefundWish: StrictBody {
  enum Member: CodingKey, CaseIterable { case transactionID, units, share, timeLeft }
}

extension PriceAnswer: StrictBody {
  enum Member: CodingKey, CaseIterable { case transactionID, consents }
}

extension ClockStep: StrictBody {
  enum Member: CodingKey, CaseIterable { case milliseconds }
}

extension NotificationSettings: StrictBody {
  enum Member: CodingKey, CaseIterable { case url, versions }
}
