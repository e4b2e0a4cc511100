extension MachineInvariant {
  /// The planted bug that is made to break it. Other bugs may break it too.
  var bug: MachineBug {
    switch self {
    case .conservation: .answersBeforeCommit
    case .oneCredit: .backendForgetsTransactions
    case .finishAfterAcknowledgement: .finishBeforeAcknowledgement
    case .sendAfterEnqueue: .adoptionNotStored
    case .firstInFirstOut: .newestFirst
    case .ownName: .wrongAccountAfterSwitch
    case .limit: .limitIgnored
    case .attempts: .attemptNotStored
    case .binding: .bindsWhatItIsTold
    case .noGhosts: .ghostRow
    case .leavesSettled: .anyErrorIsFinal
    case .prefix: .acknowledgeInTwoCommits
    case .failedEnqueue: .finishFailedEnqueue
    case .oneInFlight: .leaseIgnored
    case .timers: .jitterWithoutCeiling
    case .budget: .noBudget
    case .retryAfter: .retryAfterIgnored
    case .collapse: .redeliveryGoesLast
    case .secrets: .logsProof
    case .bounded: .tombstonesUnbounded
    case .oldImage: .keysByInstallation
    case .refunds: .refundedIsPending
    case .finished: .pendingFinishForgotten
    case .delivered: .otherOwnerIsRejected
    case .poison: .poisonBlocksForEver
    case .newerProof: .newerProofForgotten
    case .ownerTold: .signedInIgnored
    case .othersUnnamed: .otherOwnerNamed
    case .quiet: .timerForEver
    case .neverBlocked: .reservationsBlock
    case .refusal: .refusedForEver
    case .idAlone: .idsBelieved
    case .exactUnits: .refundsAddUp
    case .bundleWhole: .bundleCountsOnce
    case .seatIsMembers: .seatsByToken
    case .promptAfterWake: .wakeForgotten
    case .promptAlone: .ceilingOfAShift
    case .paced: .listsWithoutEnd
    }
  }
}
