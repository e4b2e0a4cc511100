public import PurchaseQueue
public import PurchaseSync

/// What the store said without anybody having asked for a grant, and the proof that it was about.
public struct Lesson: Sendable, Hashable {
  /// The proof, if the question was about one.
  public var proof: ProofDocument?
  /// What the store said.
  public var answer: StoreAnswer

  /// An answer about a proof, or by id.
  public init(proof: ProofDocument?, answer: StoreAnswer) {
    self.proof = proof
    self.answer = answer
  }
}

extension BackendModel {
  /// Takes in what a notification, or the job's question, taught: refunds, renewals, plan changes. Only the later periods
  /// of subscriptions that are granted already are credited; everything else waits for its claim.
  ///
  /// The end state is the same in whatever order, and however often, the lessons come.
  public mutating func learn(_ lessons: [Lesson], source: KnowledgeSource, now: Timestamp) -> [BackendWrite] {
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
    for lesson in lessons {
      guard let proof = lesson.proof else { continue }
      keep(
        proof, about: nil, lesson.answer, from: nil, device: nil, source: source, into: &log, now: now)
    }
  }
}
