public import Foundation
public import PurchaseQueue

/// `POST /v1/receipts`: a proof and what is asked for by it.
public struct UploadRequest: Codable, Sendable {
  /// The installation's device.
  public var device: UUID
  /// Nil where the backend is to ask the store by id.
  public var proof: ProofDocument?
  /// 1…100 claims, all of one lane.
  public var claims: [Claim]

  /// One upload.
  public init(device: UUID, proof: ProofDocument?, claims: [Claim]) {
    self.device = device
    self.proof = proof
    self.claims = claims
  }
}

/// A proof on the wire. Its data never appears in a description.
public struct ProofDocument: Codable, Sendable, Hashable, CustomStringConvertible {
  /// What kind of proof the data is.
  public var kind: ProofKind
  /// Base64; a signed transaction (JWS) verbatim.
  public var data: String

  /// A proof of the given kind.
  public init(kind: ProofKind, data: String) {
    self.kind = kind
    self.data = data
  }

  /// The kind and the size, never the data.
  public var description: String { "\(kind.rawValue), \(data.utf8.count) bytes" }
}

/// What kind of proof an upload holds. An open set.
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

extension ProofReference {
  /// Whether it is about whatever was bought until it was written, and not about one transaction.
  var isAppReceipt: Bool { kind == ProofKind.appReceipt.rawValue }
}

/// What an upload asks for: this transaction, for this order or for none.
public struct Claim: Codable, Sendable, Hashable {
  /// How the claim came to its order.
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
  /// The store it is from, as the proof says.
  public var environment: String
  /// The product, as the proof says.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// When the store charged.
  public var purchasedAt: Timestamp
  /// How the claim came to its order.
  public var match: Match
  /// The order, when bound.
  public var orderNumber: String?
  /// Possible orders, when proposed.
  public var candidates: [String]?
  /// Why it is matched so, in words (`MatchEvidence`).
  public var evidence: String?
  /// True if the device could not verify the transaction's signature.
  public var unverified: Bool?

  /// A claim; what does not apply is nil.
  public init(
    transactionID: String, originalTransactionID: String? = nil, environment: String, productID: String,
    quantity: Int, purchasedAt: Timestamp, match: Match, orderNumber: String? = nil,
    candidates: [String]? = nil, evidence: String? = nil, unverified: Bool? = nil
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
  }
}
