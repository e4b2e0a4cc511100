import AppStoreReceipts
import Foundation
public import PurchaseQueue
public import PurchaseSync

extension BackendModel {
  /// The answer to an upload, and what a store has to make durable before it is sent.
  public struct Judgement: Sendable {
    /// One verdict per claim, in the claims' order.
    public var verdicts: [ClaimVerdict]
    /// Everything that changed, in order.
    public var writes: [BackendWrite]
  }

  /// Judges each claim of an upload and grants what is to be granted.
  ///
  /// `verify` asks the store: once about the proof or, without one, about each transaction by id.
  public mutating func judge(
    _ request: UploadRequest, from uploader: Uploader, now: Timestamp,
    verify: (VerificationQuery) -> StoreVerification
  ) -> Judgement {
    var judgement = Judgement(verdicts: [], writes: [])
    let answer = request.proof.map { verify(.proof($0)) }
    for claim in request.claims {
      let verification =
        answer ?? verify(.transaction(environment: claim.environment, id: claim.transactionID))
      let ruling = rule(on: claim, verification, from: uploader, now: now)
      for write in ruling.writes { apply(write) }
      judgement.verdicts.append(ruling.verdict)
      judgement.writes += ruling.writes
    }
    if case .genuine(let transactions) = answer {
      judgement.writes += sight(transactions, besides: request.claims, now: now)
    }
    return judgement
  }

  /// Everything else in the proof is recorded without an owner: whoever paid for it has not asked yet.
  private mutating func sight(
    _ transactions: [SignedTransaction], besides claims: [Claim], now: Timestamp
  ) -> [BackendWrite] {
    let claimed = Set(claims.map(\.transactionID))
    var writes: [BackendWrite] = []
    for facts in transactions where !claimed.contains(facts.transactionID) {
      let key = TransactionKey(facts)
      guard !isSighted(key), credits(for: key).isEmpty else { continue }
      let sighting = Sighting(transaction: key, productID: facts.productID, quantity: facts.quantity, at: now)
      apply(.sighting(sighting))
      writes.append(.sighting(sighting))
    }
    return writes
  }

  private func rule(
    on claim: Claim, _ verification: StoreVerification, from uploader: Uploader, now: Timestamp
  ) -> Ruling {
    var ruling: Ruling
    var environment = claim.environment
    switch verification {
    case .forged: ruling = .rejected("forged: the store did not sign this proof")
    case .malformed: ruling = .rejected("malformed: this is no proof that the store can read")
    case .unavailable: ruling = Ruling(.pending, retryAfter: Self.storeRetrySeconds)
    case .notFound: ruling = Ruling(.unknownTransaction)
    case .genuine(let transactions):
      if let facts = Self.facts(for: claim, in: transactions) {
        ruling = decide(claim, facts, from: uploader, now: now)
        environment = facts.environment.rawValue
      } else {
        ruling = Ruling(.unknownTransaction)
      }
    }
    ruling.verdict.environment = claim.environment
    ruling.verdict.transactionID = claim.transactionID
    ruling.writes.append(
      .verdict(
        RecordedVerdict(
          environment: environment, transactionID: claim.transactionID, verdict: ruling.verdict.verdict,
          orderNumber: ruling.verdict.orderNumber, reason: ruling.verdict.reason, uploader: uploader, at: now)
      ))
    return ruling
  }

  /// What a `pending` claim waits for while the store does not answer, in seconds.
  static let storeRetrySeconds = 30.0

  /// The claimed transaction in the proof. The claim's environment is only a hint: the verified one counts.
  private static func facts(for claim: Claim, in transactions: [SignedTransaction]) -> SignedTransaction? {
    let sameID = transactions.filter { $0.transactionID == claim.transactionID }
    return sameID.first {
      $0.environment.rawValue == claim.environment && $0.purchaseDate == claim.purchasedAt.milliseconds
    } ?? sameID.first { $0.environment.rawValue == claim.environment } ?? sameID.first
  }
}
