import AppStoreReceipts
public import PurchaseQueue
public import PurchaseSync

/// A subscription that the job has to ask about (R3.9).
public struct DueSubscription: Sendable, Hashable {
  /// Why.
  public enum Reason: Sendable, Hashable {
    /// A trial has ended, was to renew, and no paid period is known.
    case endedTrial
    /// A charged period ends within a day, or has ended, and the store may yet renew it.
    case ending
  }

  /// Which.
  public var chain: ChainKey
  /// Why.
  public var reason: Reason

  /// A subscription and why it is due.
  public init(chain: ChainKey, reason: Reason) {
    self.chain = chain
    self.reason = reason
  }
}

/// One question of the job.
public struct JobQuestion: Sendable, Hashable {
  /// Which subscription it is about.
  public var due: DueSubscription
  /// The newest receipt, which is sent; nil where there is none, or a signed transaction, which tells nothing new.
  public var proof: ProofDocument?

  /// The newest proof by original transaction id, if the store can be asked about it, else the subscription by its id.
  public init(_ due: DueSubscription, newest proof: ProofDocument?) {
    self.due = due
    self.proof = proof?.kind == .signedTransaction ? nil : proof
  }

  /// What to ask the store.
  public var query: VerificationQuery {
    if let proof { return .proof(proof) }
    return .subscription(
      environment: due.chain.environment.rawValue, originalTransactionID: due.chain.originalTransactionID)
  }
}

/// The job that polls every 12 hours (R3.1, R3.9). What is due is a pure function; somebody else asks the store in
/// between, so that nothing waits for it.
extension BackendModel {
  /// How often the job runs, in milliseconds.
  public static let jobInterval: Int64 = 12 * 3_600_000
  /// How far ahead the job looks, in milliseconds.
  static let jobHorizon: Int64 = 24 * 3_600_000
  /// How long the store tries to charge (R2.6), in milliseconds.
  static let billingRetry: Int64 = 60 * 24 * 3_600_000

  /// Whether it is time for the job.
  public func isJobDue(at now: Timestamp) -> Bool {
    lastJob.map { $0.at.adding(milliseconds: Self.jobInterval) <= now } ?? true
  }

  /// The subscriptions to ask about now, by their keys.
  ///
  /// Trials that ended with renewal on, of which no later period is known; and charged periods that end within 24 hours.
  /// A period renews at its end, which is after the last run that saw it coming: so one that has ended stays due, unless
  /// its renewal is off, for as long as the store may try to charge.
  public func dueSubscriptions(at now: Timestamp) -> [DueSubscription] {
    chains.sorted().compactMap { chain in
      guard !chain.environment.reusesTransactionIDs, let last = periods(of: chain).last else { return nil }
      return reason(last, now.milliseconds).map { DueSubscription(chain: chain, reason: $0) }
    }
  }

  private func reason(_ last: Purchase, _ now: Int64) -> DueSubscription.Reason? {
    guard last.facts.revocationDate == nil, let end = last.facts.expiresDate,
      end > now - Self.billingRetry
    else { return nil }
    if last.facts.isTrial == true {
      return end <= now && last.willAutoRenew != false ? .endedTrial : nil
    }
    if end > now { return end <= now + Self.jobHorizon ? .ending : nil }
    return last.willAutoRenew != false ? .ending : nil
  }

  /// Takes in what the store said to the job's questions, and that the job ran.
  public mutating func finishJob(
    _ answers: [(question: JobQuestion, answer: StoreAnswer)], now: Timestamp
  ) -> [BackendWrite] {
    var log = WriteLog()
    learn(
      answers.map { Lesson(proof: $0.question.proof, answer: $0.answer) }, source: .job, into: &log, now: now)
    let unanswered = answers.count { $0.answer.report == nil }
    make(.job(JobRun(at: now, due: answers.count, unanswered: unanswered)), into: &log)
    return log.writes
  }
}

extension BackendStore {
  /// The questions of the job at a moment; each goes to the store, and what comes of them to
  /// ``BackendModel/finishJob(_:now:)``.
  package func jobQuestions(at now: Timestamp) throws(BackendStoreError) -> [JobQuestion] {
    var questions: [JobQuestion] = []
    for due in try model().dueSubscriptions(at: now) {
      questions.append(JobQuestion(due, newest: try newestProof(of: due.chain)))
    }
    return questions
  }
}
