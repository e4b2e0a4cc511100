import PurchaseQueue
import PurchaseSync

/// A bug that somebody could write, planted where it would be: in a policy, in the transport, in the driver, in the
/// storage, in the backend. None of them is in the products; exploration has to find each.
package enum Plant: String, CaseIterable, Sendable {
  // MARK: The policy's numbers
  case jitterWithoutCap, noBudget, horizonForgotten, poisonBlocksForEver
  // MARK: The transport
  case wrongAccountAfterSwitch, retryAfterIgnored, captivePageIsGranted, anyErrorIsFinal,
    unknownVerdictIsGranted
  case verdictsByPosition, pendingIsSettled, refundedIsPending, rejectedIsSettled, otherOwnerIsRejected
  case epochIgnored
  // MARK: The driver
  case leaseIgnored, doubleSend, timerLost, timerForEver, outcomeNotTold, logsProof, ghostRow
  case finishBeforeAcknowledgement, finishFailedEnqueue, finishCalledOnce
  // MARK: The storage
  case capIgnored, tombstonesUnbounded, evictsOldest, enqueueNotDurable, attemptNotStored,
    attemptsResetAtLaunch
  case acknowledgeInTwoCommits, finishOwedForgotten, unseenForgotten, newestFirst, matchByProduct
  case dedupByProduct, redeliveryGoesLast, budgetNotStored, postponeNotStored, quarantineDeletes,
    clampForgotten
  case releasedNeverAgain, claimNotStored, bindsWhatItIsTold, retryStateReadOnce
  // MARK: The backend
  case backendForgetsTransactions, keysByInstallation, answersBeforeCommit

  /// The story behind it.
  package var summary: String {
    switch self {
    case .jitterWithoutCap: "full jitter, and nobody thought of a cap"
    case .noBudget: "the hourly budget is a number that nobody reaches"
    case .horizonForgotten: "a Retry-After is taken at its word, years ahead"
    case .poisonBlocksForEver: "an entry that always fails is never set aside"
    case .wrongAccountAfterSwitch: "whoever is signed in now is whoever it was"
    case .retryAfterIgnored: "the header is read by another layer"
    case .captivePageIsGranted: "status 200 is success"
    case .anyErrorIsFinal: "a 400 will never get better, so it is dropped"
    case .unknownVerdictIsGranted: "a newer word counts as the default case"
    case .verdictsByPosition: "the n-th verdict is the n-th claim's"
    case .pendingIsSettled: "the backend has it, that is enough"
    case .refundedIsPending: "a refund is looked at again tomorrow"
    case .rejectedIsSettled: "rejected is final, so it goes"
    case .otherOwnerIsRejected: "another's purchase is an error"
    case .epochIgnored: "the ledger's epoch is not read"
    case .leaseIgnored: "two processes send one lane"
    case .doubleSend: "every request is sent again when the first is slow"
    case .timerLost: "one timer is enough"
    case .timerForEver: "the timer is always set again"
    case .outcomeNotTold: "what was told before is not told again"
    case .logsProof: "the request is logged for support"
    case .ghostRow: "a purchase that waits for approval is queued"
    case .finishBeforeAcknowledgement: "finished as soon as it is here"
    case .finishFailedEnqueue: "finished in a defer, whatever happened"
    case .finishCalledOnce: "finish is called once, and worked"
    case .capIgnored: "the cap is checked elsewhere"
    case .tombstonesUnbounded: "tombstones are small, so they stay"
    case .evictsOldest: "a full queue drops its oldest"
    case .enqueueNotDurable: "the commit comes with the next one"
    case .attemptNotStored: "attempts are counted in memory"
    case .attemptsResetAtLaunch: "a launch begins with a clean slate"
    case .acknowledgeInTwoCommits: "the entry goes in one commit, its tombstone comes in the next"
    case .finishOwedForgotten: "what is finished next need not be stored"
    case .unseenForgotten: "the outcome is told at once, why store it"
    case .newestFirst: "the newest purchase is the most important"
    case .matchByProduct: "a token is compared by its product"
    case .dedupByProduct: "the same product twice is a redelivery"
    case .redeliveryGoesLast: "a redelivery is queued anew"
    case .budgetNotStored: "the budget lives in memory"
    case .postponeNotStored: "postponing lives in memory"
    case .quarantineDeletes: "what cannot be delivered is deleted"
    case .clampForgotten: "nobody sets a clock back by a year"
    case .claimNotStored: "a claim is sent at once, why store it"
    case .bindsWhatItIsTold: "what a verdict says of an order is so"
    case .retryStateReadOnce: "what was spent is read at launch, and nobody else sends"
    case .releasedNeverAgain: "quarantine is for ever"
    case .backendForgetsTransactions: "the backend grants what it is shown"
    case .keysByInstallation: "the backend's idempotence key is the installation's"
    case .answersBeforeCommit: "the backend answers, then commits, then dies in between"
    }
  }

  /// Bugs of this kind that this level cannot show: they are found in disk images.
  package static let elsewhere = [
    "WAL with synchronous NORMAL", "rollback journal with FULL", "checksums not verified",
  ]

  /// The retry policy with the bug in it; nil for the right one.
  var policy: RetryPolicy? {
    var policy = RetryPolicy()
    switch self {
    case .jitterWithoutCap:
      policy.capMilliseconds = 400 * 86_400_000
      policy.horizonMilliseconds = 400 * 86_400_000
    case .noBudget:
      policy.budgetPerWindow = 200
      policy.budgetReserved = 0
      policy.capMilliseconds = 20_000
    case .horizonForgotten: policy.horizonMilliseconds = 400 * 86_400_000
    case .poisonBlocksForEver:
      policy.poisonRounds = .max
      policy.poisonBlockingMilliseconds = .max
    default: return nil
    }
    return policy
  }

  // MARK: The transport

  /// What the device makes of an answer's verdicts.
  func distort(_ verdicts: inout [ClaimVerdict]) {
    switch self {
    case .unknownVerdictIsGranted:
      for index in verdicts.indices where verdicts[index].verdict.rawValue == "of a newer protocol" {
        verdicts[index].verdict = .granted
      }
    case .verdictsByPosition:
      let ids = verdicts.map(\.transactionID)
      let sorted = ids.sorted { ($0.count, $0) < ($1.count, $1) }
      for index in verdicts.indices { verdicts[index].transactionID = sorted[index] }
    case .pendingIsSettled:
      for index in verdicts.indices where verdicts[index].verdict == .pending {
        verdicts[index].verdict = .granted
      }
    case .refundedIsPending:
      for index in verdicts.indices where verdicts[index].verdict == .refunded {
        verdicts[index].verdict = .pending
      }
    case .rejectedIsSettled:
      for index in verdicts.indices where verdicts[index].verdict == .rejected {
        verdicts[index].verdict = .lapsed
      }
    case .otherOwnerIsRejected:
      for index in verdicts.indices where verdicts[index].verdict == .otherOwner {
        verdicts[index].verdict = .rejected
      }
    default: break
    }
  }

  /// An answer that it makes of none.
  func reply(to upload: Upload, _ failure: UploadFailure) -> UploadReply? {
    let isTaken: Bool
    switch (self, failure) {
    case (.captivePageIsGranted, .retry(let reason, _)): isTaken = reason.hasPrefix("HTTP 200")
    case (.anyErrorIsFinal, .backendFault): isTaken = true
    default: isTaken = false
    }
    guard isTaken else { return nil }
    return UploadReply(
      ledgerEpoch: "epoch-0",
      verdicts: upload.claims.map {
        ClaimVerdict(environment: Names.environment, transactionID: Names.id($0.sale), verdict: .granted)
      })
  }

  /// What it hears of a failure.
  func heard(_ failure: UploadFailure) -> UploadFailure {
    guard self == .retryAfterIgnored else { return failure }
    return switch failure {
    case .retry(let reason, _): .retry(reason: reason, retryAfterMilliseconds: nil)
    case .backendBusy(let reason, _): .backendBusy(reason: reason, retryAfterMilliseconds: nil)
    default: failure
    }
  }
}
