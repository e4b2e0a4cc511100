import AppStoreReceipts
package import PurchaseQueue
package import PurchaseSync

/// A subscription that is due for a question of the job (R3.9).
package struct DueSubscription: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// A renewing trial has ended, and no paid period is known.
    case endedTrial
    /// A charged period ends within a day, or has ended and may still renew.
    case ending
  }

  package var chain: ChainKey
  package var reason: Reason
}

package struct JobQuestion: Sendable, Hashable {
  package var due: DueSubscription
  /// The newest receipt, to send; nil without one, and for a signed transaction, which has no news.
  package var proof: ProofDocument?

  /// A question about the newest proof, or about the subscription by its id if the proof has no news.
  package init(_ due: DueSubscription, newest proof: ProofDocument?) {
    self.due = due
    self.proof = proof?.kind == .signedTransaction ? nil : proof
  }

  package var query: VerificationQuery {
    if let proof { return .proof(proof) }
    return .subscription(
      environment: due.chain.environment.rawValue, originalTransactionID: due.chain.originalTransactionID)
  }
}

/// The job that polls every 12 hours (R3.1, R3.9). The model computes the due questions and learns the answers. The
/// caller asks the store in between, so that no request waits.
extension BackendModel {
  /// How often the job runs, in milliseconds.
  package static let jobInterval: Int64 = 12 * 3_600_000
  /// How far ahead the job looks, in milliseconds.
  static let jobHorizon: Int64 = 24 * 3_600_000
  /// How long the store tries to charge (R2.6), in milliseconds.
  static let billingRetry: Int64 = 60 * 24 * 3_600_000

  package func isJobDue(at now: Timestamp) -> Bool {
    lastJob.map { $0.at.adding(milliseconds: Self.jobInterval) <= now } ?? true
  }

  /// The due subscriptions, ordered by key.
  ///
  /// Trials that ended with renewal on and without a known later period, and charged periods that end within 24 hours.
  /// A period renews at its end, after the last run that found it due. So an ended period stays due while the store may
  /// try to charge, unless its renewal is off.
  package func dueSubscriptions(at now: Timestamp) -> [DueSubscription] {
    chains.sorted().compactMap { chain in
      let rows = periods(of: chain)
      // A period of several transactions is refunded when all of them are.
      guard !chain.environment.reusesTransactionIDs, let last = rows.last,
        rows.contains(where: {
          $0.facts.expiresDate == last.facts.expiresDate && $0.facts.revocationDate == nil
        })
      else { return nil }
      return reason(last, now.milliseconds).map { DueSubscription(chain: chain, reason: $0) }
    }
  }

  private func reason(_ last: Purchase, _ now: Int64) -> DueSubscription.Reason? {
    guard let end = last.facts.expiresDate, end > now - Self.billingRetry else { return nil }
    if last.facts.isTrial == true {
      return end <= now && last.willAutoRenew != false ? .endedTrial : nil
    }
    if end > now { return end <= now + Self.jobHorizon ? .ending : nil }
    return last.willAutoRenew != false ? .ending : nil
  }

  /// Learns the store's answers to the job's questions, and records the run.
  package mutating func finishJob(
    _ answers: [(question: JobQuestion, answer: StoreAnswer)], now: Timestamp
  ) -> [BackendWrite] {
    var log = WriteLog()
    learn(
      answers.map {
        Lesson(proof: $0.question.proof, answer: $0.answer, chain: $0.question.due.chain)
      }, source: .job, into: &log, now: now)
    let unanswered = answers.count { $0.answer.report == nil }
    make(.job(JobRun(at: now, due: answers.count, unanswered: unanswered)), into: &log)
    return log.writes
  }
}

extension BackendStore {
  /// The questions of the job at a moment. ``BackendModel/finishJob(_:now:)`` takes the answers.
  package func jobQuestions(at now: Timestamp) throws(BackendStoreError) -> [JobQuestion] {
    var questions: [JobQuestion] = []
    for due in try model().dueSubscriptions(at: now) {
      questions.append(JobQuestion(due, newest: try newestProof(of: due.chain)))
    }
    return questions
  }
}
