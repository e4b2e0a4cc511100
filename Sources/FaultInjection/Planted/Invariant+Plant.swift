extension Invariant {
  /// The planted bug that is made to break it; others break it too.
  package var plant: Plant {
    switch self {
    case .conservation: .answersBeforeCommit
    case .oneCredit: .backendForgetsTransactions
    case .finishAfterAcknowledgement: .finishBeforeAcknowledgement
    case .sendAfterEnqueue: .claimNotStored
    case .firstInFirstOut: .newestFirst
    case .ownName: .wrongAccountAfterSwitch
    case .cap: .capIgnored
    case .attempts: .attemptNotStored
    case .binding: .bindsWhatItIsTold
    case .noGhosts: .ghostRow
    case .leavesSettled: .anyErrorIsFinal
    case .prefix: .acknowledgeInTwoCommits
    case .failedEnqueue: .finishFailedEnqueue
    case .oneInFlight: .leaseIgnored
    case .timers: .jitterWithoutCap
    case .budget: .noBudget
    case .retryAfter: .retryAfterIgnored
    case .collapse: .redeliveryGoesLast
    case .secrets: .logsProof
    case .bounded: .tombstonesUnbounded
    case .oldImage: .keysByInstallation
    case .refunds: .refundedIsPending
    case .finished: .finishOwedForgotten
    case .delivered: .otherOwnerIsRejected
    case .poison: .poisonBlocksForEver
    case .quiet: .timerForEver
    }
  }
}
