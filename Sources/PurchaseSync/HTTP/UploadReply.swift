/// The answer to `POST /v1/receipts`: a verdict for each claim.
public struct UploadReply: Codable, Sendable, Hashable {
  /// Changes when the backend is restored from a backup.
  public var ledgerEpoch: String
  /// One verdict for each claim. A claim without a verdict is unanswered.
  public var verdicts: [ClaimVerdict]
  /// How long the backend wants no further request, from the answer's `Retry-After`; nil if it asks for no pause.
  package var pauseMilliseconds: Int64?

  private enum CodingKeys: String, CodingKey { case ledgerEpoch, verdicts }

  /// Creates an answer.
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
  /// The order that the transaction is bound to, if any. Not of another account's purchase, unless the claim named it.
  public var orderNumber: String?
  /// The reason, for people and logs. Always set for `rejected`.
  public var reason: String?
  /// For `pending`: seconds to wait before the next upload.
  public var retryAfter: Double?
  /// The store's own status, for support.
  public var storeStatus: Int?
  /// Whose purchase it is, for this device; set with a verdict that settles.
  public var owner: PurchaseOwner?
  /// For `refunded`: how much of the price the store gave back, in thousandths of a percent of the whole quantity. Omitted,
  /// it is what the proof says.
  public var refundedShare: Int?
  /// For `refunded`: how many units of the quantity are taken back. The others stay credited. It counts without a share,
  /// too.
  public var refundedUnits: Int?

  /// Creates an answer; omit the values that do not apply.
  public init(
    environment: String, transactionID: String, verdict: Verdict, orderNumber: String? = nil,
    reason: String? = nil, retryAfter: Double? = nil, storeStatus: Int? = nil, owner: PurchaseOwner? = nil,
    refundedShare: Int? = nil, refundedUnits: Int? = nil
  ) {
    self.environment = environment
    self.transactionID = transactionID
    self.verdict = verdict
    self.orderNumber = orderNumber
    self.reason = reason
    self.retryAfter = retryAfter
    self.storeStatus = storeStatus
    self.owner = owner
    self.refundedShare = refundedShare
    self.refundedUnits = refundedUnits
  }
}

/// The backend's decision about a claim. An open set: an unknown word counts as `pending`.
public struct Verdict: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
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
  /// Genuine, refunded or revoked: nothing to grant. After a refund of a part, the other units are credited.
  public static let refunded = Verdict(rawValue: "refunded")
  /// The purchase belongs to another account than the one that asks, and that account has it.
  public static let otherOwner = Verdict(rawValue: "otherOwner")
  /// The backend has the claim; the store has not answered yet.
  public static let pending = Verdict(rawValue: "pending")
  /// The proof is genuine but does not contain this transaction.
  public static let unknownTransaction = Verdict(rawValue: "unknownTransaction")
  /// Forged, malformed, or for another bundle or another product.
  public static let rejected = Verdict(rawValue: "rejected")

  /// The word.
  public var description: String { rawValue }

  /// Whether the verdict is final: the entry can be removed and the transaction finished.
  public var isSettled: Bool {
    self == .granted || self == .duplicate || self == .lapsed || self == .refunded || self == .otherOwner
  }
}
