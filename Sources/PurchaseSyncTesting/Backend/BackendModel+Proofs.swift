import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// Stores a proof: always in table A, and in table B for each of its subscriptions if it is genuine and the newest.
  mutating func keep(
    _ proof: ProofDocument, about subject: (id: String, original: String?)?, _ answer: StoreAnswer,
    from uploader: Uploader?, device: UUID?, source: KnowledgeSource, into log: inout WriteLog, now: Timestamp
  ) {
    let told = answer.report?.transactions.filter { $0.bundleID == bundleID } ?? []
    let named = subject.flatMap { subject in told.first { $0.transactionID == subject.id } } ?? told.first
    let id = subject?.id ?? named?.transactionID ?? ""
    var account: String?
    if case .account(let name) = uploader { account = name }
    make(
      .proof(
        SeenProof(
          transactionID: id, originalTransactionID: named?.originalTransactionID ?? subject?.original ?? id,
          proof: proof, at: now, device: device, account: account,
          summary: Self.summary(of: answer, proof), source: source)),
      into: &log)
    // The store's newer receipt replaces the sent one (R2.5).
    let newest =
      answer.report?.latestReceipt.map { ProofDocument(kind: Self.kind(of: $0), data: $0) } ?? proof
    // One that the store takes in no request, or not any more, is no proof to ask with.
    guard answer.isProof, !newest.isTooLongForStore else { return }
    for (chain, periods) in Dictionary(
      grouping: told.filter { $0.expiresDate != nil }, by: { ChainKey($0) }
    ).sorted(by: { $0.key < $1.key }) {
      guard
        let last = periods.max(by: {
          ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID)
        }),
        newestProof(of: chain).map({ $0 < last.toldAt }) ?? true
      else { continue }
      make(
        .newestProof(
          NewestProof(
            chain: chain, transactionID: last.transactionID, proof: newest, toldAt: last.toldAt,
            createdAt: now, updatedAt: now)),
        into: &log)
    }
  }

  /// The kind of a receipt in base64: a property list begins with a brace, an app receipt is DER (StoreFacts section
  /// 0).
  static func kind(of receipt: String) -> ProofKind {
    if receipt.contains(".") { return .signedTransaction }
    guard let first = Data(base64Encoded: String(receipt.prefix(4)))?.first else { return .appReceipt }
    return first == UInt8(ascii: "{") ? .transactionReceipt : .appReceipt
  }

  /// The text for `data` of table A: the store's answer, without the proof.
  private static func summary(of answer: StoreAnswer, _ proof: ProofDocument) -> String {
    let words: (String, String?)
    switch answer.outcome {
    case .genuine(let report):
      words = (
        "genuine, \(report.transactions.count) transactions", report.transactions.first?.environment.rawValue
      )
    case .forged: words = ("forged", nil)
    case .malformed: words = ("malformed", nil)
    case .doubtful: words = ("doubtful", nil)
    case .unavailable: words = ("unavailable", nil)
    case .unsigned: words = ("an answer that the store did not sign", nil)
    case .misconfigured: words = ("misconfigured", nil)
    case .refused: words = ("refused", nil)
    case .notFound: words = ("not found", nil)
    }
    return [
      proof.kind.rawValue, words.0, words.1, answer.status.map { "status \($0.rawValue)" },
    ].compactMap(\.self).joined(separator: "; ")
  }
}
