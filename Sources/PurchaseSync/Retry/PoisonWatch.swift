package import PurchaseQueue

/// Whether one entry fails by itself and must not hold up the others. No entry is dropped for having failed often.
///
/// A storage keeps its three numbers with the entry: failed rounds, since when, and how often the backend did not find
/// the transaction in the proof.
package struct PoisonWatch: Hashable, Sendable, Codable {
  /// What to do with an entry after a failed round.
  package enum Judgement: Hashable, Sendable {
    /// It stays where it is.
    case keep
    /// Others of its lane pass it until then.
    case postponed(until: Timestamp)
    /// To quarantine, where it is tried daily. If the quarantine is full, it is postponed for as long.
    case quarantine
  }

  /// Uploads that held it and brought no verdict, in a row.
  package private(set) var failedRounds: Int
  /// When the first of them failed.
  package private(set) var failingSince: Timestamp?
  /// Verdicts `unknownTransaction`, in a row.
  package private(set) var unknownAnswers: Int

  /// An entry that has not failed.
  package init() { self.init(failedRounds: 0, failingSince: nil, unknownAnswers: 0) }

  /// As it was stored.
  package init(failedRounds: Int, failingSince: Timestamp?, unknownAnswers: Int) {
    self.failedRounds = failedRounds
    self.failingSince = failingSince
    self.unknownAnswers = unknownAnswers
  }

  /// An upload that held it brought no verdict.
  package mutating func failed(now: Timestamp) {
    failedRounds = failedRounds < .max ? failedRounds + 1 : failedRounds
    // A clock that went back makes the first failure one of the future: it counts as one of now.
    failingSince = min(failingSince ?? now, now)
  }

  /// The backend said something about it, `pending` too: it does not fail.
  package mutating func answered() { self = PoisonWatch() }

  /// The backend did not find it in its proof. True if that was the last try: to quarantine.
  package mutating func wasUnknown(policy: RetryPolicy) -> Bool {
    let answers = unknownAnswers < .max ? unknownAnswers + 1 : unknownAnswers
    self = PoisonWatch(failedRounds: 0, failingSince: nil, unknownAnswers: answers)
    return answers >= policy.unknownTransactionTries
  }

  /// A new proof came: verdicts about the old one no longer count.
  package mutating func gotNewProof() { unknownAnswers = 0 }

  /// The most claims of an upload with this entry: half as many after each failure, since one of them may be what fails,
  /// and in the end the entry alone. After an outage a backlog of 100 entries takes about ten uploads.
  package var claimsPerUpload: Int { max(1, UploadRequest.mostClaims >> min(max(failedRounds, 0), 31)) }

  /// Decides after `failed` what to do with the entry.
  ///
  /// - Parameters:
  ///   - isRefused: Whether the backend refused what is in the request. The others behind it pass at once: the next try
  ///     will most likely be refused too. The entry waits as long as the usual delay, since a wrong deployment of the
  ///     backend refuses everything for a while.
  ///   - behindSince: When the first entry behind it in its lane was queued; nil if there is none.
  ///   - othersSucceededAt: When an upload of others last worked (`BackendPace.succeededAt`).
  package func judge(
    isRefused: Bool = false, behindSince: Timestamp?, othersSucceededAt: Timestamp?, now: Timestamp,
    policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) -> Judgement {
    guard let failingSince, failedRounds > 0 else { return .keep }
    let hasOftenFailed = failedRounds >= policy.poisonRounds
    // Failed rounds count as well as time: after a clock jump, a day has passed that never was.
    if hasOftenFailed, now.milliseconds(since: failingSince) >= policy.quarantineAfterMilliseconds,
      othersSucceed(othersSucceededAt, failingSince, now, policy)
    {
      return .quarantine
    }
    if hasOftenFailed || blocksTooLong(behindSince, failingSince, now, policy) {
      return .postponed(until: now.adding(milliseconds: policy.ceilingPaceMilliseconds(using: &random)))
    }
    guard isRefused, behindSince != nil else { return .keep }
    let wait = policy.delayMilliseconds(afterFailures: failedRounds, using: &random)
    return .postponed(until: now.adding(milliseconds: max(wait, 1)))
  }

  /// A success just before a long outage says nothing about the time after it.
  private func othersSucceed(
    _ succeededAt: Timestamp?, _ failingSince: Timestamp, _ now: Timestamp, _ policy: RetryPolicy
  ) -> Bool {
    guard let succeededAt = succeededAt.map({ min($0, now) }) else { return false }
    return succeededAt >= failingSince
      && now.milliseconds(since: succeededAt) <= policy.quarantineAfterMilliseconds
  }

  /// An entry blocks others from its first failure on, or from the moment when the first other one was queued.
  private func blocksTooLong(
    _ behindSince: Timestamp?, _ failingSince: Timestamp, _ now: Timestamp, _ policy: RetryPolicy
  ) -> Bool {
    guard let behindSince else { return false }
    return now.milliseconds(since: max(failingSince, behindSince)) >= policy.poisonBlockingMilliseconds
  }
}
