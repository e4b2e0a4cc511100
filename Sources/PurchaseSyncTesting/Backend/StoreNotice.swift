import AppStoreDocuments
import AppStoreReceipts
package import Foundation
package import PurchaseQueue
import PurchaseSync

/// A decoded server notification: lessons, or questions to the store.
package struct StoreNotice {
  /// `notification_type` or `notificationType`, with its subtype.
  package var type: String
  /// The facts of a signed notification, each with its proof.
  package var lessons: [Lesson] = []
  /// The questions of an unsigned notification to the store (R3.10): every client can post one.
  var queries: [VerificationQuery] = []

  /// The reason of a refusal.
  package enum Refusal: Error, Equatable {
    /// It cannot be read.
    case malformed(String)
    /// It can be read, but is not from the store.
    case untrue(String)
  }

  /// The store sends at most 100 transactions in version 1 (StoreFacts d.1); a body with ten times as many is refused.
  static let maximumItems = 1_000

  /// Decodes a body of either version. `isSigned` returns whether the store signed a JWS.
  package init(json: Data, bundleID: String, isSigned: (String) -> Bool, now: Timestamp) throws(Refusal) {
    let body: Body
    do {
      body = try JSONDecoder().decode(Body.self, from: json)
    } catch {
      throw .malformed("the body is no notification")
    }
    if let signed = body.signedPayload {
      try self.init(signed: signed, bundleID: bundleID, isSigned: isSigned, now: now)
    } else if let type = body.notification_type {
      try self.init(type: type, body)
    } else {
      throw .untrue("neither signedPayload nor notification_type")
    }
  }

  // MARK: Version 1

  /// Asks the store about the newest receipt in `unified_receipt` and about each transaction.
  private init(type: String, _ body: Body) throws(Refusal) {
    self.type = type
    let receipt = body.unified_receipt
    let items = receipt?.latest_receipt_info?.items ?? []
    guard items.count <= Self.maximumItems else {
      throw .untrue("unified_receipt.latest_receipt_info: more than \(Self.maximumItems) transactions")
    }
    let word = receipt?.environment ?? body.environment ?? StoreEnvironment.production.rawValue
    let environment = word == "PROD" ? StoreEnvironment.production.rawValue : word
    if let latest = receipt?.latest_receipt, !latest.isEmpty {
      queries.append(.proof(ProofDocument(kind: BackendModel.kind(of: latest), data: latest)))
    }
    var asked: Set<String> = []
    for item in items {
      guard let id = item.transaction_id?.text, asked.insert(id).inserted else { continue }
      queries.append(.transaction(environment: environment, id: id))
    }
  }

  // MARK: Version 2

  private init(
    signed: String, bundleID: String, isSigned: (String) -> Bool, now: Timestamp
  ) throws(Refusal) {
    let notification: ServerNotificationV2
    do throws(ReceiptDecodingError) {
      notification = try ServerNotificationV2(jws: signed)
    } catch {
      throw .malformed("signedPayload: not a signed notification")
    }
    guard isSigned(signed) else { throw .untrue("signedPayload: the store did not sign it") }
    if let named = notification.bundleID, named != bundleID {
      throw .untrue("data.bundleId: another app's")
    }
    type = ([notification.kind.rawValue] + (notification.subtype.map { [$0.rawValue] } ?? []))
      .joined(separator: "/")
    let takesBack = notification.kind == .refund || notification.kind == .revoke
    guard let details = notification.details, let jws = details.signedTransaction else {
      if takesBack { throw .untrue("signedTransactionInfo: missing") }
      return
    }
    guard isSigned(jws) else { throw .untrue("signedTransactionInfo: the store did not sign it") }
    let toldAt = notification.signedDate ?? now.milliseconds
    do throws(ReceiptDecodingError) {
      // Only the signed date says that it was taken back: REFUND/SEATS returns some seats, and the purchase stays.
      let told = VerifiedTransaction(try SignedTransaction(jws: jws), askedAt: toldAt)
      let renewal = try Self.renewal(details, of: told, isSigned: isSigned, toldAt: toldAt)
      lessons = [
        Lesson(
          proof: ProofDocument(kind: .signedTransaction, data: jws),
          answer: StoreAnswer(.genuine(StoreReport([told], renewals: renewal.map { [$0] } ?? []))))
      ]
    } catch {
      throw .malformed("signedTransactionInfo or signedRenewalInfo: not the store's payload")
    }
  }

  /// Nil without a renewal or with an unsigned one; the transaction counts anyway.
  private static func renewal(
    _ details: ServerNotificationV2.Details, of transaction: VerifiedTransaction,
    isSigned: (String) -> Bool, toldAt: Int64
  ) throws(ReceiptDecodingError) -> ChainRenewal? {
    guard let jws = details.signedRenewalInfo, isSigned(jws), let info = try details.renewalInfo() else {
      return nil
    }
    return ChainRenewal(
      chain: ChainKey(transaction),
      renewal: SubscriptionRenewal(info, state: details.subscriptionState), toldAt: info.signedDate ?? toldAt)
  }
}

/// Both versions of a body, with the store's names. Decoded leniently: of version 1 only ids count, and the store is
/// asked about them.
private struct Body: Decodable {
  struct Receipt: Decodable {
    var environment: String?
    var latest_receipt: String?
    var latest_receipt_info: Items?
  }

  /// A list, or in anonymised and old bodies one object (StoreFacts d.1).
  struct Items: Decodable {
    var items: [Item]

    init(from decoder: any Decoder) throws {
      do {
        items = try [Item](from: decoder)
      } catch DecodingError.typeMismatch {
        items = [try Item(from: decoder)]
      }
    }
  }

  struct Item: Decodable { var transaction_id: Identifier? }

  /// Text or a number (R4.3).
  struct Identifier: Decodable {
    var text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      do {
        text = try container.decode(String.self)
      } catch DecodingError.typeMismatch {
        text = String(try container.decode(Int64.self))
      }
    }
  }

  var signedPayload: String?
  var notification_type: String?
  var environment: String?
  var unified_receipt: Receipt?
}
