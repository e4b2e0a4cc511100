import AppStoreReceipts
import Foundation
public import PurchaseQueue

/// Mints signed transactions and notifications that look like the App Store's (JWS in compact form).
///
/// **None of it is a secret.** The default signature is a keyed checksum, which only lets a model of the backend
/// distinguish this forge's work from altered or foreign proofs. With ``ForgeSigning/certificates(responder:)`` the
/// signatures are real and the keys are in this repository: <doc:Signatures>.
/// A pure value: the same arguments give the same text.
public struct ReceiptForge: Sendable, Hashable {
  /// The key of the checksum. Forges with different keys reject each other's proofs.
  public var key: UInt64
  /// The `bundleId` of everything that is minted.
  public var bundleID: String
  /// The `appAppleId` of notifications and app transactions. The sandbox has none.
  public var appAppleID = ServerAPIKey.appAppleID
  /// Characters of each of the three stand-ins for certificates in the header of a checksum; about 1,000 in the real store.
  public var certificateLength: Int {
    didSet { header = Self.header(certificateLength, broken, chain) }
  }
  /// How it signs. A change signs new certificates, which takes some milliseconds in a debug build.
  public var signing: ForgeSigning {
    didSet { identity = Self.identity(signing, broken, chain) }
  }
  /// The defect of everything that is signed from now on; nil for none. ``verify(_:)`` does not depend on it.
  public var broken: BrokenProof? {
    didSet { change() }
  }
  /// Whether the chain of signed transactions from now on is valid now. It has no effect on app receipts.
  public var chain = ChainAge.current {
    didSet { change() }
  }
  /// What it says of transactions in place of the store's record, by their ids: fields with Apple's names. Null is none.
  var statements: [String: [String: JSONValue]] = [:]
  /// Nil for checksums.
  private(set) var identity: SigningIdentity?
  /// The header of a checksum in base64url: every text begins with it.
  private var header: String

  /// A forge for one app.
  public init(
    bundleID: String, key: UInt64 = 0x5EED_0F57_0E5E_ED00, certificateLength: Int = 24,
    signing: ForgeSigning = .checksum
  ) {
    self.key = key
    self.bundleID = bundleID
    self.certificateLength = certificateLength
    self.signing = signing
    header = Self.header(certificateLength, nil, .current)
    identity = Self.identity(signing, nil, .current)
  }

  private mutating func change() {
    header = Self.header(certificateLength, broken, chain)
    identity = Self.identity(signing, broken, chain)
  }

  private static func identity(
    _ signing: ForgeSigning, _ broken: BrokenProof?, _ chain: ChainAge
  ) -> SigningIdentity? {
    guard case .certificates(let responder) = signing else { return nil }
    return SigningIdentity(responder: responder?.absoluteString, broken: broken, age: chain)
  }

  /// The same forge for another app, whose proofs a backend of this one has to refuse.
  public func forApp(_ bundleID: String?) -> ReceiptForge {
    guard let bundleID else { return self }
    var forge = self
    forge.bundleID = bundleID
    return forge
  }

  /// The same forge, whose proofs have a defect.
  public func breaking(_ defect: BrokenProof?) -> ReceiptForge {
    guard defect != broken else { return self }
    var forge = self
    forge.broken = defect
    return forge
  }

  /// A signed transaction with Apple's key names; `signedAt` becomes its `signedDate`.
  public func signedTransaction(_ record: StoreTransactionRecord, signedAt: Timestamp) -> String {
    sign(payload: payload(of: record, signedAt: signedAt).text)
  }

  /// Any JSON text as a payload under this forge's signature.
  public func sign(payload: String) -> String {
    if let identity { return identity.sign(payload: payload) }
    let head = header + "." + Base64URL.encode(Data(payload.utf8))
    // A checksum has no certificates: each defect is the checksum of another key.
    let key = broken == nil ? key : ~key
    return head + "." + Base64URL.encode(Data(KeyedChecksum.bytes(of: head, key: key)))
  }

  /// Whether a forge of this kind made the text and it was not altered since. With certificates: whether the signature is
  /// right and the certificates are the test root's, each of them valid when the text was signed.
  public func verify(_ jws: String) -> Bool {
    if identity != nil { return refusal(of: jws) == nil }
    guard let dot = jws.lastIndex(of: ".") else { return false }
    let signature = Base64URL.encode(Data(KeyedChecksum.bytes(of: String(jws[..<dot]), key: key)))
    // Compared as text: base64url of 64 bytes has spare bits, and a changed one is an altered text as well.
    return jws[jws.index(after: dot)...] == signature
  }

  /// What a backend finds out about the signature of a text.
  enum Signature: Sendable, Hashable {
    case genuine
    /// Right when it was made, but the leaf was revoked since.
    case revoked
    case forged
  }

  /// What ``verify(_:)`` finds, and whether only the leaf's revocation is against the text.
  func signature(of jws: String) -> Signature {
    if verify(jws) { return .genuine }
    guard ProofLeaf(jws: jws)?.isRevoked == true else { return .forged }
    if identity != nil { return refusal(of: jws) == .revoked ? .revoked : .forged }
    var issuer = self
    // The key of each defect of a checksum.
    issuer.key = ~key
    return issuer.verify(jws) ? .revoked : .forged
  }

  /// Why a forge with certificates refuses a text; nil if it accepts it.
  func refusal(of jws: String) -> ProofRefusal? {
    guard let identity else { return verify(jws) ? nil : .signature }
    do throws(ProofRefusal) {
      try identity.check(jws)
      return nil
    } catch {
      return error
    }
  }

  private static func header(_ certificateLength: Int, _ broken: BrokenProof?, _ chain: ChainAge) -> String {
    let word = ProofLeaf.StandIn(broken, chain).rawValue
    let certificates = ["leaf", "intermediate", "root"].map { name in
      let padding = String(repeating: "A", count: max(0, certificateLength - name.utf8.count))
      return JSONValue.string(word + "/" + name + padding)
    }
    var header: [String: JSONValue] = ["alg": "ES256", "x5c": .array(certificates)]
    header[BrokenProof.headerMember] = broken.map { .string($0.rawValue) }
    return Base64URL.encode(Data(JSONValue.object(header).text.utf8))
  }

  /// The fields that a signed transaction has.
  func payload(of record: StoreTransactionRecord, signedAt: Timestamp) -> JSONValue {
    let reason = record.cause == .renewal ? TransactionReason.renewal : .purchase
    var members: [String: JSONValue] = [
      "transactionId": .string(record.transactionID),
      "originalTransactionId": .string(record.originalTransactionID),
      "bundleId": .string(bundleID), "productId": .string(record.productID),
      "purchaseDate": .integer(record.purchasedAt.milliseconds),
      "originalPurchaseDate": .integer(record.originalPurchasedAt.milliseconds),
      "quantity": .integer(Int64(record.quantity)), "type": .string(record.kind.rawValue),
      "inAppOwnershipType": .string(record.ownership.rawValue),
      "transactionReason": .string(reason.rawValue), "signedDate": .integer(signedAt.milliseconds),
      "environment": .string(record.environment.rawValue),
    ]
    members["expiresDate"] = record.expiresAt.map { .integer($0.milliseconds) }
    members["appAccountToken"] = record.accountToken.map { .string($0.uuidString.lowercased()) }
    members["subscriptionGroupIdentifier"] = record.groupID.map(JSONValue.string)
    if let commitment = record.commitment {
      members["billingPlanType"] = .string(BillingPlanType.monthly.rawValue)
      members["commitmentInfo"] = commitment.json
    }
    members["webOrderLineItemId"] = record.webOrderLineItemID.map(JSONValue.string)
    // A code is an offer of its own; a trial is an introductory offer.
    if record.offerCode != nil || record.isTrial {
      let type = record.offerCode == nil ? OfferType.introductory : .code
      members["offerType"] = .integer(Int64(type.rawValue))
      members["offerIdentifier"] = record.offerCode.map(JSONValue.string)
      members["offerDiscountType"] = .string(OfferDiscountType.freeTrial.rawValue)
    }
    if let price = record.price {
      // "For a multiseat purchase, the price is the average price per seat" (StoreFacts c.2).
      members["price"] = .integer(record.invitations == nil ? price : record.seatPrice)
      members["currency"] = "EUR"
    }
    if record.invitations != nil { members["multiSeatInfo"] = Self.seatInfo(of: record) }
    if record.isOneOfSeveral {
      members["additionalTransactionReason"] = .string(AdditionalTransactionReason.seatAddition.rawValue)
    }
    // "The App Store omits false" (StoreFacts c.2).
    if record.isUpgraded { members["isUpgraded"] = true }
    members.merge(Self.members(of: record.bundle)) { $1 }
    if let revoked = record.revokedAt {
      let share = record.refundedShare
      // Of a seat no source has the word.
      let type: RevocationType? =
        switch record.cause {
        case .assignedSeat: nil
        case .familyShare: .familyRevoke
        case .purchase, .renewal, .restore: share == nil ? .fullRefund : .proratedRefund
        }
      members["revocationDate"] = .integer(revoked.milliseconds)
      members["revocationReason"] = .integer(Int64(record.revocationReason.rawValue))
      if !record.isUpgradedToBundle { members["revocationType"] = type.map { .string($0.rawValue) } }
      members["revocationPercentage"] = share.map { .integer(Int64($0.milliPercent)) }
    }
    for (name, value) in statements[record.transactionID] ?? [:] {
      members[name] = value == .null ? nil : value
    }
    return .object(members)
  }

  /// The fields of a bundle's purchase. Apple has published none on the wire: these follow its other names (StoreFacts c.2).
  static func members(of bundle: BundlePurchase?) -> [String: JSONValue] {
    guard let bundle else { return [:] }
    let fields = [
      "bundleProductId": bundle.productID, "bundleSubscriptionGroupIdentifier": bundle.groupID,
      "bundleTransactionId": bundle.transactionID,
      "bundleOriginalTransactionId": bundle.originalTransactionID,
    ]
    return fields.compactMapValues { $0.map(JSONValue.string) }
  }

  /// Of a member's transaction it is the purchaser's, without the refunded seats: "only the group purchaser's transaction
  /// contains `revokedSeatQuantity`" (StoreFacts c.2).
  private static func seatInfo(of record: StoreTransactionRecord) -> JSONValue {
    var info: [String: JSONValue] = [
      "priceTiers": .array([
        ["price": .integer(record.seatPrice), "quantity": .integer(Int64(record.quantity))]
      ])
    ]
    info["invitationManagement"] = record.invitations.map { .string($0.rawValue) }
    if record.revokedSeats > 0, record.cause != .assignedSeat {
      info["revokedSeatQuantity"] = .integer(Int64(record.revokedSeats))
    }
    return .object(info)
  }
}

extension StoreTransactionRecord {
  /// The price of one seat; 0 for unknown.
  fileprivate var seatPrice: Int64 { (price ?? 0) / Int64(max(1, quantity)) }
}
