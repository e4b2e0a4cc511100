package import PurchaseQueue

/// Whether one entry fails by itself and must not hold up the others. No entry is dropped for having failed often.
///
/// Only answers of the backend about the request count (`UploadFailure.Blame`): without a network, behind a captive portal
/// and while the backend is too busy, no entry fails. A storage keeps its four numbers with the entry.
package struct PoisonWatch: Hashable, Sendable, Codable {
  /// What to do with an entry after a failed round.
  package enum Judgement: Hashable, Sendable {
    /// It stays where it is.
    case keep
    /// Others of its lane pass it.
    case postponed(Wait)
    /// To quarantine, where it is tried daily. If the quarantine is full, it is postponed for as long.
    case quarantine
  }

  /// Uploads that held it and were answered without a verdict about it, in a row.
  package private(set) var failedRounds: Int
  /// When the first of them failed, or the first verdict `unknownTransaction` came.
  package private(set) var failingSince: Timestamp?
  /// Verdicts `unknownTransaction`, in a row.
  package private(set) var unknownAnswers: Int
  /// The most claims of an upload with this entry: half as many as in the last one that failed, since one of them may be
  /// what fails, and in the end the entry alone. Without an answer, the lane has a limit of its own (`LaneState.mostClaims`).
  package private(set) var claimsPerUpload: Int

  /// An entry that has not failed.
  package init() { self.init(failedRounds: 0, failingSince: nil, unknownAnswers: 0) }

  /// As it was stored.
  package init(
    failedRounds: Int, failingSince: Timestamp?, unknownAnswers: Int,
    claimsPerUpload: Int = UploadRequest.mostClaims
  ) {
    self.failedRounds = failedRounds
    self.failingSince = failingSince
    self.unknownAnswers = unknownAnswers
    self.claimsPerUpload = min(max(claimsPerUpload, 1), UploadRequest.mostClaims)
  }

  /// An upload of so many claims that held it brought no verdict about it.
  package mutating func failed(among claims: Int = 1, now: Timestamp) {
    failedRounds = failedRounds < .max ? failedRounds + 1 : failedRounds
    claimsPerUpload = max(1, min(claimsPerUpload, claims) / 2)
    begin(now)
  }

  /// An upload that held nothing else got no answer. That is no failure of the entry, but it does not take others with it.
  package mutating func goesAlone() { claimsPerUpload = 1 }

  /// The backend said something about it, `pending` too: it does not fail.
  package mutating func answered() { self = PoisonWatch() }

  /// The backend did not find it in its proof. True if that was the last try: to quarantine. Tries that wakes and taps
  /// brought together within minutes are not enough.
  package mutating func wasUnknown(now: Timestamp, policy: RetryPolicy) -> Bool {
    let answers = unknownAnswers < .max ? unknownAnswers + 1 : unknownAnswers
    let since = unknownAnswers > 0 ? failingSince : nil
    self = PoisonWatch(failedRounds: 0, failingSince: since, unknownAnswers: answers)
    begin(now)
    return answers >= policy.unknownTransactionTries && hasFailed(for: policy.unknownForMilliseconds, now)
  }

  /// A new proof came: verdicts about the old one no longer count.
  package mutating func gotNewProof() { unknownAnswers = 0 }

  /// Decides after `failed` what to do with the entry.
  ///
  /// - Parameters:
  ///   - isRefused: Whether the backend refused what is in the request.
  ///   - hasOthers: Whether others are behind it in its lane. They pass at once: the next try will most likely fail too.
  ///   - backend: Whether an upload of others worked since, and whether the backend was unwell.
  package func judge(
    isRefused: Bool = false, hasOthers: Bool, backend: BackendPace, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) -> Judgement {
    guard let failingSince, failedRounds > 0 else { return .keep }
    let othersSucceed = othersSucceed(backend.succeededAt, failingSince, now, policy)
    if failedRounds >= policy.poisonRounds {
      // Failed rounds count as well as time: after a clock jump, a day has passed that never was.
      if othersSucceed, hasFailed(for: policy.quarantineAfterMilliseconds, now) { return .quarantine }
      // Only lately: it may have been unwell once while the entry went on failing.
      let isWell = backend.unwellAt.map { unwellAt in
        unwellAt < failingSince || now.milliseconds(since: unwellAt) >= policy.ceilingMilliseconds
      }
      if isRefused || othersSucceed || !hasOthers && isWell ?? true {
        let wait = policy.ceilingPaceMilliseconds(using: &random)
        return .postponed(Wait(.poison, began: now, milliseconds: wait))
      }
    }
    guard hasOthers else { return .keep }
    let wait = policy.delayMilliseconds(afterFailures: failedRounds, using: &random)
    return .postponed(Wait(.backoff, began: now, milliseconds: max(wait, 1)))
  }

  private mutating func begin(_ now: Timestamp) {
    // A clock that went back makes the first failure one of the future: it counts as one of now.
    failingSince = min(failingSince ?? now, now)
  }

  private func hasFailed(for milliseconds: Int64, _ now: Timestamp) -> Bool {
    failingSince.map { now.milliseconds(since: $0) >= milliseconds } ?? false
  }

  /// A success just before a long outage says nothing about the time after it.
  private func othersSucceed(
    _ succeededAt: Timestamp?, _ failingSince: Timestamp, _ now: Timestamp, _ policy: RetryPolicy
  ) -> Bool {
    guard let succeededAt = succeededAt.map({ min($0, now) }) else { return false }
    return succeededAt >= failingSince
      && now.milliseconds(since: succeededAt) <= policy.quarantineAfterMilliseconds
  }
}
