import AppStoreDocuments
import AppStoreReceipts
import Foundation
package import PurchaseQueue
package import PurchaseSync

extension BackendModel {
  /// The answer to an upload, and the changes to make durable before it is sent.
  package struct Judgement: Sendable {
    /// One verdict per claim, in the claims' order.
    package var verdicts: [ClaimVerdict]
    package var writes: [BackendWrite]
  }

  /// The device of what the store reports and no device has sent. The recorded verdict then has the reason
  /// ``toldByStore``.
  static let noDevice = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  static let toldByStore = "the store's notification told of it"

  /// The questions of an upload to the store, each once: about each proof that a claim rests on, and about each
  /// transaction without a proof by id. A caller can ask them before it takes a lock.
  package static func queries(of request: UploadRequest) -> [VerificationQuery] {
    var asked: Set<VerificationQuery> = []
    return request.claims.map { query($0, request.proof(of: $0)) }.filter { asked.insert($0).inserted }
  }

  /// The questions that an upload makes necessary after the answers to these: about each claimed transaction that is in a
  /// genuine receipt, by its id.
  package static func queries(of request: UploadRequest, after answers: StoreAnswers) -> [VerificationQuery] {
    var asked: Set<VerificationQuery> = []
    return request.claims.compactMap { claim in
      let proof = request.proof(of: claim)
      return answers[query(claim, proof)].flatMap { told(claim, by: $0) }.flatMap { byID($0, in: proof) }
    }.filter { asked.insert($0).inserted }
  }

  /// The question about a transaction that is in a receipt, which names no account token: its order may be another
  /// account's. Nil for a transaction in another proof.
  private static func byID(_ told: VerifiedTransaction, in proof: ProofDocument?) -> VerificationQuery? {
    guard let proof, proof.kind != .signedTransaction, !proof.isTooLongForStore else { return nil }
    return .transaction(environment: told.environment.rawValue, id: told.transactionID)
  }

  /// A receipt that the store takes in no request proves nothing, and would stay `pending` for ever: the store is asked
  /// for the transaction by its id, as without a proof.
  package static func query(_ claim: Claim, _ proof: ProofDocument?) -> VerificationQuery {
    if let proof, !proof.isTooLongForStore { return .proof(proof) }
    return .transaction(environment: claim.environment, id: claim.transactionID)
  }

  /// Judges each claim of an upload and grants what is to be granted. `verify` is a store in process.
  package mutating func judge(
    _ request: UploadRequest, from uploader: Uploader, signedIn: String? = nil, now: Timestamp,
    verify: (VerificationQuery) -> StoreVerification
  ) -> Judgement {
    judge(
      request, from: uploader, signedIn: signedIn, now: now,
      answers: { StoreAnswer(verify($0), at: now.milliseconds) })
  }

  /// Judges each claim of an upload and grants what is to be granted.
  ///
  /// `answers` gives the store's answers to the upload's ``queries(of:)``. `signedIn` is the account that is signed in on
  /// the device of a device's upload, and has proved it: it learns what is its own, and gets nothing.
  package mutating func judge(
    _ request: UploadRequest, from uploader: Uploader, signedIn: String? = nil, now: Timestamp,
    answers: (VerificationQuery) -> StoreAnswer
  ) -> Judgement {
    var log = WriteLog()
    let device = request.device == Self.noDevice ? nil : request.device
    var verdicts: [ClaimVerdict] = []
    var touched: Set<ChainKey> = []
    // The proofs, each with its first claim.
    var used: [(ProofDocument, Claim, StoreAnswer)] = []
    var said: StoreAnswers = [:]
    for claim in request.claims {
      let proof = request.proof(of: claim)
      let query = Self.query(claim, proof)
      var answer = said[query] ?? answers(query)
      if said.updateValue(answer, forKey: query) == nil {
        if let report = answer.report { touched.formUnion(absorb(report, into: &log, now: now)) }
        if let proof { used.append((proof, claim, answer)) }
      }
      let isProven = answer.isProof && proof.map { !$0.isTooLongForStore } ?? false
      if let told = Self.told(claim, by: answer), told.bundleID == bundleID,
        let query = Self.byID(told, in: proof)
      {
        let record = said[query] ?? answers(query)
        if said.updateValue(record, forKey: query) == nil, let report = record.report {
          touched.formUnion(absorb(report, into: &log, now: now))
        }
        answer.outcome = record.outcome
      }
      var claim = claim
      let refusal = register(&claim, from: uploader, into: &log, now: now)
      var ruling = rule(on: claim, answer, isProven: isProven, from: uploader, refusal, now: now)
      for write in ruling.writes { make(write, into: &log) }
      if let transaction = ruling.transaction {
        let owner = credits(for: transaction.grantKey).first.map(owner(of:))
        assign(TransactionKey(transaction), to: owner, device: device, into: &log)
      }
      tellOwner(in: &ruling, of: claim, to: uploader, signedIn: signedIn)
      var record = record(of: ruling, from: uploader, now: now)
      if device == nil { record.reason = record.reason ?? Self.toldByStore }
      make(.verdict(record), into: &log)
      verdicts.append(ruling.verdict)
    }
    creditRenewals(of: touched, into: &log, now: now)
    for (proof, claim, answer) in used {
      keep(
        proof, about: (claim.transactionID, claim.originalTransactionID), answer, from: uploader,
        device: device, source: .upload, into: &log, now: now)
    }
    return Judgement(verdicts: verdicts, writes: log.writes)
  }

  /// Registers the order that a claim brings along. If that is not possible, the claim is one without an order: the payment
  /// is real, whatever is wrong with the order. Returns the ruling on the claim if it has to wait.
  private mutating func register(
    _ claim: inout Claim, from uploader: Uploader, into log: inout WriteLog, now: Timestamp
  ) -> Ruling? {
    guard let order = claim.order else { return nil }
    guard claim.orderNumber == order.number else {
      claim.forgetOrder()
      return nil
    }
    guard case .account(let account) = uploader else {
      // Only its account may register an order. Its device does that as soon as the account is signed in.
      return self.order(number: order.number) == nil
        ? Ruling(.pending, reason: "the order is not registered", retryAfter: Self.storeRetrySeconds) : nil
    }
    do throws(BackendModelError) {
      for write in try register(order, from: account, now: now).writes { log.append(write) }
      return nil
    } catch {
      claim.forgetOrder()
      return nil
    }
  }

  private func rule(
    on claim: Claim, _ answer: StoreAnswer, isProven: Bool, from uploader: Uploader, _ refusal: Ruling?,
    now: Timestamp
  ) -> Ruling {
    var ruling = refusal ?? judge(claim, answer, isProven: isProven, from: uploader, now: now)
    ruling.verdict.environment = claim.environment
    ruling.verdict.transactionID = claim.transactionID
    ruling.verdict.storeStatus = answer.status?.rawValue
    return ruling
  }

  private func record(of ruling: Ruling, from uploader: Uploader, now: Timestamp) -> RecordedVerdict {
    let verdict = ruling.verdict
    return RecordedVerdict(
      environment: ruling.transaction?.environment.rawValue ?? verdict.environment,
      transactionID: verdict.transactionID, verdict: verdict.verdict, owner: verdict.owner,
      orderNumber: verdict.orderNumber, reason: verdict.reason, uploader: uploader, at: now,
      storeStatus: verdict.storeStatus)
  }

  /// The ruling on one claim for each answer of the store (R1.1).
  private func judge(
    _ claim: Claim, _ answer: StoreAnswer, isProven: Bool, from uploader: Uploader, now: Timestamp
  ) -> Ruling {
    switch answer.outcome {
    case .forged: return .rejected("forged: the store did not sign this proof")
    case .malformed: return .rejected("malformed: this is no proof that the store can read")
    case .refused: return .rejected("refused: the store will not answer for this proof")
    case .doubtful:
      guard doubts(about: claim.transactionID, from: uploader) + 1 < Self.doubtsBeforeRejection else {
        return .rejected("malformed: the store said so \(Self.doubtsBeforeRejection) times")
      }
      return Ruling(.pending, retryAfter: Self.storeRetrySeconds)
    case .unavailable, .unsigned: return Ruling(.pending, retryAfter: Self.storeRetrySeconds)
    case .misconfigured:
      return Ruling(
        .pending, reason: "configuration: the store refuses this backend's requests, whatever the proof",
        retryAfter: Self.repairSeconds)
    case .notFound: return Ruling(.unknownTransaction)
    case .genuine:
      guard let told = Self.told(claim, by: answer) else { return Ruling(.unknownTransaction) }
      return decide(claim, told, isProven: isProven, from: uploader, now: now)
    }
  }

  /// The `retryAfter` of a pending claim while the store does not answer, in seconds.
  static let storeRetrySeconds = 30.0
  /// The `retryAfter` while the backend's configuration needs a repair, in seconds.
  static let repairSeconds = 600.0
  /// 21002 means malformed or a temporary fault (R1.1). After this many in a row, it means malformed.
  static let doubtsBeforeRejection = 4

  /// The claimed transaction in the store's answer. The claim's environment is a hint; the verified one counts.
  private static func told(_ claim: Claim, by answer: StoreAnswer) -> VerifiedTransaction? {
    let sameID = answer.report?.transactions.filter { $0.transactionID == claim.transactionID } ?? []
    return sameID.first {
      $0.environment.rawValue == claim.environment && $0.purchaseDate == claim.purchasedAt.milliseconds
    } ?? sameID.first { $0.environment.rawValue == claim.environment } ?? sameID.first
  }
}

extension ProofDocument {
  /// Whether `/verifyReceipt` refuses a request with it: "The body limit is 3,145,728 bytes" (StoreFacts a.1), less a
  /// little for the JSON around it.
  var isTooLongForStore: Bool { kind != .signedTransaction && data.utf8.count > 3_145_728 - 1_024 }
}

extension Claim {
  /// Makes it a claim that names no order.
  fileprivate mutating func forgetOrder() { (match, orderNumber, candidates, order) = (.none, nil, nil, nil) }
}
