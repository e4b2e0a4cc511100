package import PurchaseQueue
package import PurchaseSync

/// An answer of the store that is not about a claim, with its proof.
package struct Lesson: Sendable, Hashable {
  /// The proof; nil for a question by id.
  package var proof: ProofDocument?
  package var answer: StoreAnswer
  /// The subscription that the question was about; nil for a notification, which is about its first transaction.
  package var chain: ChainKey?
}

extension BackendModel {
  /// Learns from a notification or the job: refunds, renewals, changes of plan. Only later periods of granted
  /// subscriptions are credited; everything else waits for its claim.
  ///
  /// The end state is the same for any order and number of the lessons.
  package mutating func learn(_ lessons: [Lesson], source: KnowledgeSource, now: Timestamp) -> [BackendWrite]
  {
    var log = WriteLog()
    learn(lessons, source: source, into: &log, now: now)
    return log.writes
  }

  mutating func learn(
    _ lessons: [Lesson], source: KnowledgeSource, into log: inout WriteLog, now: Timestamp
  ) {
    var touched: Set<ChainKey> = []
    for lesson in lessons {
      if let report = lesson.answer.report { touched.formUnion(absorb(report, into: &log, now: now)) }
    }
    creditRenewals(of: touched, into: &log, now: now)
    // The newest known period, after the lessons were learnt.
    func subject(_ chain: ChainKey) -> (id: String, original: String?)? {
      periods(of: chain).last.map { ($0.facts.transactionID, chain.originalTransactionID) }
    }
    for lesson in lessons {
      guard let proof = lesson.proof else { continue }
      keep(
        proof, about: lesson.chain.flatMap(subject), lesson.answer, from: nil, device: nil,
        source: source, into: &log, now: now)
    }
  }
}
