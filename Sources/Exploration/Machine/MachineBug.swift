import PurchaseQueue
import PurchaseSync

/// A bug planted where an engineer would write it: in the policy, the transport, the driver, the storage or the backend.
package enum MachineBug: String, PlantedBug {
  // MARK: The policy's numbers
  case jitterWithoutCeiling, noBudget, horizonForgotten, poisonBlocksForEver, ceilingOfAShift
  // MARK: The transport
  case wrongAccountAfterSwitch, retryAfterIgnored, captivePageIsGranted, anyErrorIsFinal,
    unknownVerdictIsGranted
  case verdictsByPosition, pendingIsSettled, refundedIsPending, rejectedIsSettled, otherOwnerIsRejected
  case epochIgnored, failureIsCancelled
  // MARK: The driver
  case leaseIgnored, doubleSend, timerLost, timerForEver, outcomeNotTold, logsProof, ghostRow
  case finishBeforeAcknowledgement, finishFailedEnqueue, finishCalledOnce
  case wakeForgotten, listsWithoutEnd, listingGivenUp, fulfilsAtOnce
  // MARK: The storage
  case limitIgnored, tombstonesUnbounded, evictsOldest, enqueueNotDurable, attemptNotStored,
    attemptsResetAtLaunch
  case acknowledgeInTwoCommits, pendingFinishForgotten, unconfirmedForgotten, newestFirst, matchByProduct
  case dedupByProduct, redeliveryGoesLast, budgetNotStored, postponeNotStored, quarantineDeletes,
    clampForgotten
  case releasedNeverAgain, adoptionNotStored, bindsWhatItIsTold, retryStateReadOnce, newerProofForgotten
  case firstProofForAll, refusedForEver
  case unconfirmedBlock, reservationsBlock, refundKnownByDate, arrivalSoon, verdictSoon, grantedStaysUnknown
  // MARK: The backend
  case backendForgetsTransactions, keysByInstallation, answersBeforeCommit, finishesBeforeCommit
  // MARK: Ownership
  case inheritsDespiteToken, signedInIgnored, otherOwnerNamed, creditsWhoIsSignedIn, ownerNotStored
  case idsBelieved, firstOrderOfToken, refundsAddUp, bundleCountsOnce, seatsByToken, seatsPaid

  package var summary: String {
    switch self {
    case .jitterWithoutCeiling: "full jitter without a ceiling"
    case .noBudget: "the hourly budget is too large to limit anything"
    case .horizonForgotten: "a Retry-After of years is obeyed"
    case .ceilingOfAShift: "the longest wait between two attempts is eight hours"
    case .failureIsCancelled: "a request without an answer counts as one that the app cancelled"
    case .wakeForgotten: "the app does not say that the network is back, or that it comes to the front"
    case .listsWithoutEnd: "each list of the store is followed by another one"
    case .fulfilsAtOnce: "the app gets an outcome again as soon as it has failed to fulfil it"
    case .listingGivenUp: "a list of the store that fails is not asked for again"
    case .poisonBlocksForEver: "an entry that always fails is never postponed"
    case .wrongAccountAfterSwitch: "a request uses the account that is signed in now"
    case .retryAfterIgnored: "the transport drops Retry-After"
    case .captivePageIsGranted: "every status 200 counts as success"
    case .anyErrorIsFinal: "a 400 counts as final, so the entry is dropped"
    case .unknownVerdictIsGranted: "an unknown verdict counts as granted"
    case .verdictsByPosition: "the n-th verdict is taken for the n-th claim"
    case .pendingIsSettled: "a pending verdict counts as settled"
    case .refundedIsPending: "a refunded verdict counts as pending"
    case .rejectedIsSettled: "a rejected verdict settles its entry"
    case .otherOwnerIsRejected: "another account's purchase counts as rejected"
    case .epochIgnored: "the ledger's epoch is not read"
    case .leaseIgnored: "two processes send one lane"
    case .doubleSend: "every slow request is sent again"
    case .timerLost: "a second timer is not set while one is running"
    case .timerForEver: "the timer is always set again"
    case .outcomeNotTold: "some outcomes are not delivered again after a restart"
    case .logsProof: "the request is logged for support"
    case .ghostRow: "a purchase that waits for approval is queued"
    case .finishBeforeAcknowledgement: "a transaction is finished when it arrives"
    case .finishFailedEnqueue: "a transaction is finished although its enqueue failed"
    case .finishCalledOnce: "finish is called once and assumed to succeed"
    case .limitIgnored: "the limit of entries is not checked"
    case .tombstonesUnbounded: "old tombstones are never removed"
    case .evictsOldest: "a full queue drops its oldest entry"
    case .enqueueNotDurable: "an enqueue is committed with the next write"
    case .attemptNotStored: "attempts are counted in memory"
    case .attemptsResetAtLaunch: "a launch resets the attempts"
    case .arrivalSoon: "an arrival is promised soon, and its purchase is finished"
    case .verdictSoon: "a verdict is promised soon, and its purchase is finished"
    case .acknowledgeInTwoCommits: "one commit removes the entry, the next one adds its tombstone"
    case .pendingFinishForgotten: "an pending finish is not stored"
    case .unconfirmedForgotten: "an unconfirmed outcome is not stored"
    case .newestFirst: "the newest purchase is sent first"
    case .matchByProduct: "an order is matched by its product, not by its token"
    case .dedupByProduct: "a second purchase of a product counts as a redelivery"
    case .redeliveryGoesLast: "a redelivery moves its entry to the end"
    case .budgetNotStored: "the budget is kept in memory"
    case .postponeNotStored: "the postponement is kept in memory"
    case .quarantineDeletes: "quarantine deletes the entry"
    case .clampForgotten: "a clock that was set back is not handled"
    case .adoptionNotStored: "an adoption is sent without being stored"
    case .bindsWhatItIsTold: "a verdict's order is bound without a check"
    case .retryStateReadOnce:
      "the retry state is read at launch only, so other processes' requests are not counted"
    case .newerProofForgotten:
      "an acknowledgement does not say which proofs were sent, so a newer one goes with it"
    case .refusedForEver: "after a refused token, its lane waits until the app wakes it"
    case .firstProofForAll: "every claim of an upload rests on the first one's proof"
    case .unconfirmedBlock: "an outcome that the app has not confirmed takes capacity"
    case .refundKnownByDate: "a refund with a known date is no news, whatever its share is"
    case .reservationsBlock: "an order that was not paid keeps its capacity"
    case .grantedStaysUnknown: "an update that the backend refuses is dropped, also of what was granted"
    case .releasedNeverAgain: "quarantine is permanent"
    case .backendForgetsTransactions: "the backend grants a transaction again"
    case .keysByInstallation: "the backend's idempotency key belongs to the installation"
    case .inheritsDespiteToken: "the owner of the original gets what another account bought again"
    case .signedInIgnored: "an owner's purchase on a second device counts as another account's"
    case .otherOwnerNamed: "the verdict about another account's purchase names its order"
    case .creditsWhoIsSignedIn: "a purchase without an owner goes to the account that is signed in"
    case .idsBelieved: "a claim without a proof is granted by its id"
    case .bundleCountsOnce: "the payment of a bundle counts as one purchase, which its first subscription is"
    case .seatsByToken: "the backend takes the token of an assigned seat for that of who has it"
    case .seatsPaid:
      "the device takes an assigned seat for a purchase, so its token binds an order of its purchaser"
    case .refundsAddUp: "a later share of a refund is taken in addition to the earlier one"
    case .firstOrderOfToken: "the token of an account is taken for that of its first order"
    case .ownerNotStored: "the owner in a verdict is not stored with the outcome"
    case .finishesBeforeCommit: "the backend finishes at the store before it commits, and then crashes"
    case .answersBeforeCommit: "the backend replies before it commits, and then crashes"
    }
  }

  /// Bugs that this simulation cannot show. crash-images finds them.
  static let elsewhere = [
    "WAL with synchronous NORMAL", "rollback journal with FULL", "checksums not verified",
  ]

  /// The flaw of the backend; nil for none.
  var flaw: LeanBackend.Flaw? {
    switch self {
    case .inheritsDespiteToken: .inheritsDespiteToken
    case .signedInIgnored: .ignoresSignedIn
    case .otherOwnerNamed: .namesOrders
    case .creditsWhoIsSignedIn: .creditsSignedIn
    case .idsBelieved: .believesIDs
    case .firstOrderOfToken: .takesFirstOfToken
    case .refundsAddUp: .addsRefunds
    case .bundleCountsOnce: .creditsBundleOnce
    case .seatsByToken: .takesTokensOfSeats
    default: nil
    }
  }

  /// The retry policy with the bug in it; nil for the right one.
  var policy: RetryPolicy? {
    var policy = RetryPolicy()
    switch self {
    case .jitterWithoutCeiling:
      policy.ceilingMilliseconds = 400 * 86_400_000
      policy.horizonMilliseconds = 400 * 86_400_000
    case .noBudget:
      policy.budgetPerWindow = 2_000
      policy.budgetBurst = 2_000
      policy.ceilingMilliseconds = 20_000
    case .ceilingOfAShift: policy.ceilingMilliseconds = 8 * 3_600_000
    case .horizonForgotten: policy.horizonMilliseconds = 400 * 86_400_000
    case .poisonBlocksForEver:
      policy.poisonRounds = .max
    default: return nil
    }
    return policy
  }

  // MARK: The transport

  /// Changes the verdicts of a reply, as the device then sees them.
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

  /// The reply that the bug makes of a failure; nil for none.
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

  /// The failure as the device then sees it.
  func heard(_ failure: UploadFailure) -> UploadFailure {
    if self == .failureIsCancelled, case .retry = failure { return .interrupted }
    guard self == .retryAfterIgnored else { return failure }
    return switch failure {
    case .retry(let reason, _): .retry(reason: reason, retryAfterMilliseconds: nil)
    case .requestFailed(let reason, _): .requestFailed(reason: reason, retryAfterMilliseconds: nil)
    case .backendBusy(let reason, _): .backendBusy(reason: reason, retryAfterMilliseconds: nil)
    default: failure
    }
  }
}
