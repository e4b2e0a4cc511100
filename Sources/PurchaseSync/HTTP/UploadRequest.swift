public import Foundation
public import PurchaseQueue

/// Body of `POST /v1/receipts`: claims, and the proofs they rest on.
public struct UploadRequest: Codable, Sendable {
  /// The most claims of one upload.
  package static let mostClaims = 100

  /// The installation's device.
  public var device: UUID
  /// The proofs, each once. Several claims can rest on one proof, such as an app receipt.
  public var proofs: [ProofDocument]
  /// 1…100 claims, all of one lane. `Claim.proof` says on which proof a claim rests.
  public var claims: [Claim]

  /// Creates an upload.
  public init(device: UUID, proofs: [ProofDocument], claims: [Claim]) {
    self.device = device
    self.proofs = proofs
    self.claims = claims
  }

  /// An upload whose claims all rest on one proof; without a proof, the backend asks the store by transaction id.
  package init(device: UUID, proof: ProofDocument?, claims: [Claim]) {
    let rested = claims.map { claim in
      var claim = claim
      claim.proof = proof == nil ? nil : 0
      return claim
    }
    self.init(device: device, proofs: proof.map { [$0] } ?? [], claims: rested)
  }

  /// An absent list of proofs is an empty one.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    device = try fields.decode(UUID.self, forKey: .device)
    proofs = try fields.decodeIfPresent([ProofDocument].self, forKey: .proofs) ?? []
    claims = try fields.decode([Claim].self, forKey: .claims)
  }

  /// The proof that the claim rests on; nil for a claim without one, and for an index that is not in the list.
  package func proof(of claim: Claim) -> ProofDocument? {
    claim.proof.flatMap { proofs.indices.contains($0) ? proofs[$0] : nil }
  }
}

/// A proof on the wire. Its data never appears in a description.
public struct ProofDocument: Codable, Sendable, Hashable, CustomStringConvertible, CustomReflectable {
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
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["proof": description]) }
}

extension ProofDocument {
  /// A signed transaction goes verbatim, everything else as base64.
  init(_ proof: Payload) {
    let kind = ProofKind(rawValue: proof.kind)
    let isText = kind == .signedTransaction
    self.init(
      kind: kind,
      data: isText ? String(decoding: proof.bytes, as: UTF8.self) : Data(proof.bytes).base64EncodedString())
  }
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
  /// The index of its proof in the upload's list; nil if the backend should ask the store by transaction id.
  public var proof: Int?

  /// Creates a claim; omit the values that do not apply.
  public init(
    transactionID: String, originalTransactionID: String? = nil, environment: String, productID: String,
    quantity: Int, purchasedAt: Timestamp, match: Match, orderNumber: String? = nil,
    candidates: [String]? = nil, evidence: String? = nil, unverified: Bool? = nil, order: DeviceOrder? = nil,
    proof: Int? = nil
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
    self.proof = proof
  }
}
