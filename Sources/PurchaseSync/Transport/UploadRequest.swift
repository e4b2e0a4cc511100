public import Foundation
public import PurchaseQueue

/// Body of `POST /v1/receipts`: a proof and the claims based on it.
public struct UploadRequest: Codable, Sendable {
  /// The installation's device.
  public var device: UUID
  /// The proof; nil if the backend should ask the store by transaction id.
  public var proof: ProofDocument?
  /// 1…100 claims, all of one lane.
  public var claims: [Claim]

  /// Creates an upload.
  public init(device: UUID, proof: ProofDocument?, claims: [Claim]) {
    self.device = device
    self.proof = proof
    self.claims = claims
  }
}

/// A proof on the wire. Its data never appears in a description.
public struct ProofDocument: Codable, Sendable, Hashable, CustomStringConvertible {
  /// The kind of proof.
  public var kind: ProofKind
  /// Base64; a signed transaction (JWS) verbatim.
  public var data: String

  /// Creates a proof.
  public init(kind: ProofKind, data: String) {
    self.kind = kind
    self.data = data
  }

  /// The kind and the size, never the data.
  public var description: String { "\(kind.rawValue), \(data.utf8.count) bytes" }
}

/// The kind of a proof. An open set.
public struct ProofKind: RawRepresentable, Hashable, Sendable, Codable {
  /// The word on the wire.
  public var rawValue: String

  /// Any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The app receipt (PKCS#7).
  public static let appReceipt = ProofKind(rawValue: "appReceipt")
  /// The receipt of one transaction, iOS 6 style.
  public static let transactionReceipt = ProofKind(rawValue: "transactionReceipt")
  /// A signed transaction (JWS).
  public static let signedTransaction = ProofKind(rawValue: "signedTransaction")
}

extension PayloadReference {
  /// Whether the proof is an app receipt, which covers all purchases up to its creation, and not one
  /// transaction.
  package var isAppReceipt: Bool { kind == ProofKind.appReceipt.rawValue }
}

/// One transaction in an upload, claimed for one order or for none.
public struct Claim: Codable, Sendable, Hashable {
  /// How the transaction was matched to its order.
  public struct Match: RawRepresentable, Hashable, Sendable, Codable {
    /// The word on the wire.
    public var rawValue: String
    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The order is certain; `orderNumber` holds it.
    public static let bound = Match(rawValue: "bound")
    /// The order is one of `candidates`; the backend decides.
    public static let proposed = Match(rawValue: "proposed")
    /// There is no order.
    public static let none = Match(rawValue: "none")
  }

  /// The store's id of the transaction.
  public var transactionID: String
  /// The id of the first transaction of its chain.
  public var originalTransactionID: String?
  /// The store environment, as in the proof.
  public var environment: String
  /// The product, as in the proof.
  public var productID: String
  /// How many units.
  public var quantity: Int
  /// When the store charged.
  public var purchasedAt: Timestamp
  /// How the transaction was matched to its order.
  public var match: Match
  /// The order, if `match` is `bound`.
  public var orderNumber: String?
  /// The possible orders, if `match` is `proposed`.
  public var candidates: [String]?
  /// The reasons for the match, as words (`MatchEvidence`).
  public var evidence: String?
  /// True if the device could not verify the transaction's signature.
  public var unverified: Bool?
  /// The order itself, if this device made it: the backend registers it if it does not know it yet.
  public var order: DeviceOrder?

  /// Creates a claim; omit the values that do not apply.
  public init(
    transactionID: String, originalTransactionID: String? = nil, environment: String, productID: String,
    quantity: Int, purchasedAt: Timestamp, match: Match, orderNumber: String? = nil,
    candidates: [String]? = nil, evidence: String? = nil, unverified: Bool? = nil, order: DeviceOrder? = nil
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.environment = environment
    self.productID = productID
    self.quantity = quantity
    self.purchasedAt = purchasedAt
    self.match = match
    self.orderNumber = orderNumber
    self.candidates = candidates
    self.evidence = evidence
    self.unverified = unverified
    self.order = order
  }
}
