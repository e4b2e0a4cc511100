import AppStoreReceipts
import Foundation
public import PurchaseQueue

/// Mints signed transactions and notifications that look like the App Store's (JWS in compact form).
///
/// **This is not cryptography.** The signature is a keyed checksum, and anyone with the source can forge it. It
/// lets a model of the backend tell what this forge made from what was altered or made elsewhere; nothing more.
/// A pure value: the same arguments give the same text.
public struct ReceiptForge: Sendable, Hashable {
  /// What the checksum depends on. Forges with different keys reject each other's work.
  public var key: UInt64
  /// The `bundleId` of everything that is minted.
  public var bundleID: String
  /// Characters of each of the three stand-ins for certificates in the header; about 1,000 in the real store.
  public var certificateLength: Int

  /// A forge for one app.
  public init(bundleID: String, key: UInt64 = 0x5EED_0F57_0E5E_ED00, certificateLength: Int = 24) {
    self.key = key
    self.bundleID = bundleID
    self.certificateLength = certificateLength
  }

  /// A signed transaction with Apple's key names; `signedAt` becomes its `signedDate`.
  public func signedTransaction(_ record: StoreTransactionRecord, signedAt: Timestamp) -> String {
    sign(payload: payload(of: record, signedAt: signedAt).text)
  }

  /// The `signedPayload` of a server notification, version 2, about one transaction.
  ///
  /// `identifier` is its `notificationUUID`; `type` a word such as `REFUND`.
  public func signedNotification(
    type: String, identifier: String, about record: StoreTransactionRecord, signedAt: Timestamp
  ) -> String {
    let data = JSONText.object([
      ("bundleId", .string(bundleID)),
      ("environment", .string(record.environment.rawValue)),
      ("signedTransactionInfo", .string(signedTransaction(record, signedAt: signedAt))),
    ])
    let payload = JSONText.object([
      ("notificationType", .string(type)),
      ("notificationUUID", .string(identifier)),
      ("version", .string("2.0")),
      ("signedDate", .integer(signedAt.milliseconds)),
      ("data", data),
    ])
    return sign(payload: payload.text)
  }

  /// Any JSON text as a payload under this forge's checksum.
  public func sign(payload: String) -> String {
    let head = Base64URL.encode(Data(header.text.utf8)) + "." + Base64URL.encode(Data(payload.utf8))
    return head + "." + Base64URL.encode(Data(KeyedChecksum.bytes(of: head, key: key)))
  }

  /// Whether this forge made the text, and nobody altered it since.
  public func verify(_ jws: String) -> Bool {
    guard let dot = jws.lastIndex(of: ".") else { return false }
    let signature = Base64URL.encode(Data(KeyedChecksum.bytes(of: String(jws[..<dot]), key: key)))
    // Compared as text: base64url of 64 bytes has spare bits, and a changed one is an altered text as well.
    return jws[jws.index(after: dot)...] == signature
  }

  private var header: JSONText {
    let certificates = ["leaf", "intermediate", "root"].map { name in
      let padding = String(repeating: "A", count: max(0, certificateLength - name.utf8.count))
      return JSONText.string("forged/" + name + padding)
    }
    return .object([("alg", .string("ES256")), ("x5c", .array(certificates))])
  }

  private func payload(of record: StoreTransactionRecord, signedAt: Timestamp) -> JSONText {
    var members: [(String, JSONText)] = [
      ("transactionId", .string(record.transactionID)),
      ("originalTransactionId", .string(record.originalTransactionID)),
      ("bundleId", .string(bundleID)),
      ("productId", .string(record.productID)),
      ("purchaseDate", .integer(record.purchasedAt.milliseconds)),
      ("originalPurchaseDate", .integer(record.originalPurchasedAt.milliseconds)),
      ("quantity", .integer(Int64(record.quantity))),
      ("type", .string(record.kind.rawValue)),
    ]
    if let expires = record.expiresAt {
      members.append(("expiresDate", .integer(expires.milliseconds)))
    }
    if let token = record.accountToken {
      members.append(("appAccountToken", .string(token.uuidString.lowercased())))
    }
    if let group = record.groupID { members.append(("subscriptionGroupIdentifier", .string(group))) }
    if let item = record.webOrderLineItemID { members.append(("webOrderLineItemId", .string(item))) }
    members.append(("inAppOwnershipType", .string(record.ownership.rawValue)))
    members += offer(of: record)
    members.append(
      (
        "transactionReason",
        .string((record.cause == .renewal ? TransactionReason.renewal : .purchase).rawValue)
      ))
    if let price = record.price { members += [("price", .integer(price)), ("currency", .string("EUR"))] }
    // "The App Store omits false" (receipt-facts, c.2).
    if record.isUpgraded { members.append(("isUpgraded", .boolean(true))) }
    members.append(("signedDate", .integer(signedAt.milliseconds)))
    members.append(("environment", .string(record.environment.rawValue)))
    if let revoked = record.revokedAt {
      members.append(("revocationDate", .integer(revoked.milliseconds)))
      members.append(("revocationReason", .integer(Int64(record.revocationReason.rawValue))))
      let type: RevocationType = record.cause == .familyShare ? .familyRevoke : .fullRefund
      members.append(("revocationType", .string(type.rawValue)))
    }
    return .object(members)
  }

  /// A trial is an introductory offer; a code is one of its own.
  private func offer(of record: StoreTransactionRecord) -> [(String, JSONText)] {
    if let code = record.offerCode {
      return [
        ("offerType", .integer(Int64(OfferType.code.rawValue))), ("offerIdentifier", .string(code)),
        ("offerDiscountType", .string(OfferDiscountType.freeTrial.rawValue)),
      ]
    }
    guard record.isTrial else { return [] }
    return [
      ("offerType", .integer(Int64(OfferType.introductory.rawValue))),
      ("offerDiscountType", .string(OfferDiscountType.freeTrial.rawValue)),
    ]
  }
}
