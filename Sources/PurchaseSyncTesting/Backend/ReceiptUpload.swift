import AppStoreReceipts
package import Foundation
package import PurchaseQueue
package import PurchaseSync

/// The older form of `POST /v1/receipts` (R3.2): a receipt, the device and perhaps the user, without claims. It is for
/// clients that do not know orders.
///
/// Unambiguous transactions are granted: those whose account token names an order, and later periods of a granted
/// subscription. Everything else is recorded with user and device, without an owner, and gets no verdict.
package struct ReceiptUpload: Sendable, Hashable {
  /// `receipt-data`: base64 of an app receipt or an old transaction receipt, or a signed transaction.
  package var proof: ProofDocument
  /// `uuid`: the device.
  package var device: UUID
  /// `uid`: the user; nil before sign-in.
  package var account: String?
  /// One claim without an order for each transaction in the receipt.
  package var claims: [Claim]

  /// Reads the receipt without verifying it. Nil for an unreadable one.
  package init?(receiptData: String, device: UUID, account: String?) {
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

  /// Its questions to the store: about the proof and, because a receipt has no account tokens, about each transaction
  /// by id.
  package var queries: [VerificationQuery] {
    let byID = claims.map {
      VerificationQuery.transaction(environment: $0.environment, id: $0.transactionID)
    }
    return [.proof(proof)] + (proof.kind == .signedTransaction ? [] : byID)
  }
}

extension BackendModel {
  /// Judges the older form of an upload. `answers` gives the store's answers to its queries.
  package mutating func judge(
    _ upload: ReceiptUpload, from uploader: Uploader, now: Timestamp,
    answers: (VerificationQuery) -> StoreAnswer
  ) -> Judgement {
    var log = WriteLog()
    var claims = upload.claims
    var said: StoreAnswers = [:]
    let answer = answers(.proof(upload.proof))
    said[.proof(upload.proof)] = answer
    if let report = answer.report {
      // Asks by id only for a genuine proof: a forged one proves no ids.
      _ = absorb(report, into: &log, now: now)
      for query in upload.queries.dropFirst() {
        let record = answers(query)
        said[query] = record
        if let known = record.report { _ = absorb(known, into: &log, now: now) }
      }
      let told = Dictionary(
        report.transactions.map { ($0.transactionID, $0) }, uniquingKeysWith: { first, _ in first })
      claims = claims.filter { claim in told[claim.transactionID].map(isNamed) ?? false }
      for transaction in report.transactions where answer.isProof && transaction.bundleID == bundleID {
        noteUploader(
          of: TransactionKey(transaction), account: upload.account, device: upload.device, into: &log)
      }
    }
    let request = UploadRequest(device: upload.device, proof: upload.proof, claims: claims)
    var judgement = judge(request, from: uploader, now: now, answers: { said[$0] ?? answers($0) })
    judgement.writes = log.writes + judgement.writes
    return judgement
  }

  /// Whether the owner of a transaction is certain without a claim.
  private func isNamed(_ told: VerifiedTransaction) -> Bool {
    guard told.bundleID == bundleID else { return false }
    let facts = purchase(TransactionKey(told))?.facts ?? told
    if !credits(for: facts.grantKey).isEmpty || isReversed(facts.grantKey) { return true }
    if let token = facts.ownToken, !orders(accountToken: token).isEmpty { return true }
    return inheritedOwner(facts) != nil
  }
}
