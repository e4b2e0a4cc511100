import AppStoreReceipts
public import Foundation
public import PurchaseQueue
public import PurchaseSync

/// The older form of `POST /v1/receipts` (R3.2): a receipt, the device, and the user if there is one. No claims: clients
/// that know no orders, and send what they find.
///
/// What is unambiguous is granted: a transaction whose order is known by its account token, and the later periods of a
/// granted subscription. Everything else is recorded without an owner, and has no verdict in the answer.
public struct ReceiptUpload: Sendable, Hashable {
  /// `receipt-data`: base64 of an app receipt or an old transaction receipt, or a signed transaction.
  public var proof: ProofDocument
  /// `uuid`: the device.
  public var device: UUID
  /// `uid`: the user; nil before sign-in.
  public var account: String?
  /// One for each transaction in the receipt, as it is decoded here: none of them names an order.
  public var claims: [Claim]

  /// Reads the receipt, and believes nothing yet. Nil if it is none.
  public init?(receiptData: String, device: UUID, account: String?) {
    let kind = BackendModel.kind(of: receiptData)
    proof = ProofDocument(kind: kind, data: receiptData)
    self.device = device
    self.account = account
    do throws(ReceiptDecodingError) {
      claims = try Self.claims(kind, receiptData)
    } catch {
      return nil
    }
  }

  private static func claims(_ kind: ProofKind, _ data: String) throws(ReceiptDecodingError) -> [Claim] {
    if kind == .signedTransaction {
      let signed = try SignedTransaction(jws: data)
      return [
        claim(
          signed.transactionID, signed.originalTransactionID, signed.environment, signed.productID,
          signed.quantity, signed.purchaseDate)
      ]
    }
    let bytes = Data(base64Encoded: data).map(Array.init) ?? []
    if kind == .transactionReceipt {
      let receipt = try TransactionReceipt(decoding: bytes)
      return [
        claim(
          receipt.transactionID, receipt.originalTransactionID, receipt.environment,
          receipt.productID ?? "", receipt.quantity, receipt.purchaseDate)
      ]
    }
    let receipt = try AppReceipt(decoding: bytes)
    return receipt.inApp.map {
      claim(
        $0.transactionID, $0.originalTransactionID, receipt.environment ?? .production, $0.productID,
        $0.quantity, $0.purchaseDate)
    }
  }

  private static func claim(
    _ id: String, _ original: String, _ environment: StoreEnvironment, _ product: String, _ quantity: Int,
    _ purchasedAt: Int64?
  ) -> Claim {
    Claim(
      transactionID: id, originalTransactionID: original, environment: environment.rawValue,
      productID: product, quantity: quantity, purchasedAt: Timestamp(milliseconds: purchasedAt ?? 0),
      match: .none)
  }

  /// What it makes the backend ask: about the proof and, since a receipt tells no account tokens, about each
  /// transaction by id.
  public var queries: [VerificationQuery] {
    let byID = claims.map {
      VerificationQuery.transaction(environment: $0.environment, id: $0.transactionID)
    }
    return [.proof(proof)] + (proof.kind == .signedTransaction ? [] : byID)
  }
}

extension BackendModel {
  /// Judges the older form of an upload. `answers` is what the store said to its queries.
  public mutating func judge(
    _ upload: ReceiptUpload, from uploader: Uploader, now: Timestamp,
    answers: (VerificationQuery) -> StoreAnswer
  ) -> Judgement {
    var log = WriteLog()
    var claims = upload.claims
    let answer = answers(.proof(upload.proof))
    if let report = answer.report {
      // Only what the proof holds is looked for by id: a forged one teaches nothing.
      _ = absorb(report, into: &log, now: now)
      for query in upload.queries.dropFirst() {
        if let known = answers(query).report { _ = absorb(known, into: &log, now: now) }
      }
      let told = Dictionary(
        report.transactions.map { ($0.transactionID, $0) }, uniquingKeysWith: { first, _ in first })
      claims = claims.filter { claim in told[claim.transactionID].map(isNamed) ?? false }
    }
    let request = UploadRequest(device: upload.device, proof: upload.proof, claims: claims)
    var judgement = judge(
      request, from: uploader, now: now, answers: { $0 == .proof(upload.proof) ? answer : answers($0) })
    judgement.writes = log.writes + judgement.writes
    return judgement
  }

  /// Whether it is certain whose a transaction is, without anybody's claim.
  private func isNamed(_ told: VerifiedTransaction) -> Bool {
    guard told.bundleID == bundleID else { return false }
    let facts = purchase(TransactionKey(told))?.facts ?? told
    if !credits(for: facts.grantKey).isEmpty || isReversed(facts.grantKey) { return true }
    if let token = facts.appAccountToken.flatMap({ UUID(uuidString: $0) }), order(accountToken: token) != nil
    {
      return true
    }
    return inheritedOwner(facts) != nil
  }
}
