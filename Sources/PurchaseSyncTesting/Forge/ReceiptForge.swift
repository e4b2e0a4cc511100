import AppStoreReceipts
import Foundation
public import PurchaseQueue

/// Mints signed transactions and notifications that look like the App Store's (JWS in compact form).
///
/// **This is not cryptography.** The signature is a keyed checksum, and every reader of the source can forge it. It only lets a
/// model of the backend distinguish this forge's work from altered or foreign proofs.
/// A pure value: the same arguments give the same text.
public struct ReceiptForge: Sendable, Hashable {
  /// The key of the checksum. Forges with different keys reject each other's proofs.
  public var key: UInt64
  /// The `bundleId` of everything that is minted.
  public var bundleID: String
  /// Characters of each of the three stand-ins for certificates in the header; about 1,000 in the real store.
  public var certificateLength: Int {
    didSet { header = Self.header(certificateLength) }
  }
  /// The header in base64url: every text begins with it.
  private var header: String

  /// A forge for one app.
  public init(bundleID: String, key: UInt64 = 0x5EED_0F57_0E5E_ED00, certificateLength: Int = 24) {
    self.key = key
    self.bundleID = bundleID
    self.certificateLength = certificateLength
    header = Self.header(certificateLength)
  }

  /// A signed transaction with Apple's key names; `signedAt` becomes its `signedDate`.
  public func signedTransaction(_ record: StoreTransactionRecord, signedAt: Timestamp) -> String {
    sign(payload: payload(of: record, signedAt: signedAt).text)
  }

  /// Any JSON text as a payload under this forge's checksum.
  public func sign(payload: String) -> String {
    let head = header + "." + Base64URL.encode(Data(payload.utf8))
    return head + "." + Base64URL.encode(Data(KeyedChecksum.bytes(of: head, key: key)))
  }

  /// Whether this forge made the text and it was not altered since.
  public func verify(_ jws: String) -> Bool {
    guard let dot = jws.lastIndex(of: ".") else { return false }
    let signature = Base64URL.encode(Data(KeyedChecksum.bytes(of: String(jws[..<dot]), key: key)))
    // Compared as text: base64url of 64 bytes has spare bits, and a changed one is an altered text as well.
    return jws[jws.index(after: dot)...] == signature
  }

  private static func header(_ certificateLength: Int) -> String {
    let certificates = ["leaf", "intermediate", "root"].map { name in
      let padding = String(repeating: "A", count: max(0, certificateLength - name.utf8.count))
      return JSONValue.string("forged/" + name + padding)
    }
    let header: JSONValue = ["alg": "ES256", "x5c": .array(certificates)]
    return Base64URL.encode(Data(header.text.utf8))
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
    members["webOrderLineItemId"] = record.webOrderLineItemID.map(JSONValue.string)
    // A code is an offer of its own; a trial is an introductory offer.
    if record.offerCode != nil || record.isTrial {
      let type = record.offerCode == nil ? OfferType.introductory : .code
      members["offerType"] = .integer(Int64(type.rawValue))
      members["offerIdentifier"] = record.offerCode.map(JSONValue.string)
      members["offerDiscountType"] = .string(OfferDiscountType.freeTrial.rawValue)
    }
    if let price = record.price {
      members["price"] = .integer(price)
      members["currency"] = "EUR"
    }
    // "The App Store omits false" (StoreFacts c.2).
    if record.isUpgraded { members["isUpgraded"] = true }
    if let revoked = record.revokedAt {
      let type: RevocationType = record.cause == .familyShare ? .familyRevoke : .fullRefund
      members["revocationDate"] = .integer(revoked.milliseconds)
      members["revocationReason"] = .integer(Int64(record.revocationReason.rawValue))
      members["revocationType"] = .string(type.rawValue)
    }
    return .object(members)
  }
}
