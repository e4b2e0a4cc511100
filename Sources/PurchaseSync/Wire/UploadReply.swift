/// The answer to `POST /v1/receipts`: a verdict per claim.
public struct UploadReply: Codable, Sendable, Hashable {
  /// Changes when the backend was restored from a backup.
  public var ledgerEpoch: String
  /// One for each claim; a claim without one is unanswered.
  public var verdicts: [ClaimVerdict]

  /// A whole answer.
  public init(ledgerEpoch: String, verdicts: [ClaimVerdict]) {
    self.ledgerEpoch = ledgerEpoch
    self.verdicts = verdicts
  }
}

/// The backend's answer about one claim.
public struct ClaimVerdict: Codable, Sendable, Hashable {
  /// The claim's environment, echoed.
  public var environment: String
  /// The claim's transaction, echoed.
  public var transactionID: String
  /// The answer.
  public var verdict: Verdict
  /// The order that the transaction is bound to, if any.
  public var orderNumber: String?
  /// Why, for people and logs; of `rejected` always.
  public var reason: String?
  /// Seconds to wait before asking again; of `pending`.
  public var retryAfter: Double?
  /// The store's own status, for support.
  public var storeStatus: Int?

  /// An answer; what does not apply is nil.
  public init(
    environment: String, transactionID: String, verdict: Verdict, orderNumber: String? = nil,
    reason: String? = nil, retryAfter: Double? = nil, storeStatus: Int? = nil
  ) {
    self.environment = environment
    self.transactionID = transactionID
    self.verdict = verdict
    self.orderNumber = orderNumber
    self.reason = reason
    self.retryAfter = retryAfter
    self.storeStatus = storeStatus
  }
}

/// What the backend says of a claim. An open set: an unknown word counts as `pending`.
public struct Verdict: RawRepresentable, Hashable, Sendable, Codable {
  /// The word on the wire.
  public var rawValue: String

  /// Any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Fulfilled now.
  public static let granted = Verdict(rawValue: "granted")
  /// Fulfilled before.
  public static let duplicate = Verdict(rawValue: "duplicate")
  /// Genuine, a subscription period that is over: nothing to grant.
  public static let lapsed = Verdict(rawValue: "lapsed")
  /// Genuine, refunded or revoked: nothing to grant.
  public static let refunded = Verdict(rawValue: "refunded")
  /// It belongs to another account, and is granted to that one.
  public static let otherOwner = Verdict(rawValue: "otherOwner")
  /// The backend has it, the store has not answered yet.
  public static let pending = Verdict(rawValue: "pending")
  /// A genuine proof, which does not hold this transaction.
  public static let unknownTransaction = Verdict(rawValue: "unknownTransaction")
  /// Forged, malformed, of another bundle or another product.
  public static let rejected = Verdict(rawValue: "rejected")

  /// Whether this ends the matter: the entry can go and the transaction be finished.
  public var isSettled: Bool {
    self == .granted || self == .duplicate || self == .lapsed || self == .refunded || self == .otherOwner
  }
}
