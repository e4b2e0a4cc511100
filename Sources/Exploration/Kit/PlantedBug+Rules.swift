package import Specification

/// Which planted bugs the specification of the protocol has to refuse, and by which rules. The others break no rule of it:
/// they concern the pace, the capacity, the matching of orders, or what the app and support staff see.
extension MachineBug {
  package var rules: Set<ProtocolRule> {
    switch self {
    case .finishBeforeAcknowledgement, .finishFailedEnqueue: [.finishesSettled]
    case .captivePageIsGranted, .anyErrorIsFinal, .unknownVerdictIsGranted, .verdictsByPosition,
      .pendingIsSettled, .rejectedIsSettled:
      [.settlesHeard]
    case .wrongAccountAfterSwitch: [.sendsInItsName]
    case .leaseIgnored: [.oneInFlight]
    case .ghostRow: [.queuesDelivered]
    // Their entries are gone without a verdict: a later delivery of the store finds them settled.
    case .evictsOldest, .quarantineDeletes: [.launchKeeps, .finishesSettled]
    case .enqueueNotDurable, .arrivalSoon: [.launchKeeps]
    case .acknowledgeInTwoCommits: [.launchKeeps, .tellsSettled]
    case .verdictSoon: [.launchInvents, .launchKeeps, .tellsSettled]
    case .backendForgetsTransactions, .keysByInstallation: [.creditsOnce]
    case .answersBeforeCommit: [.answersDurable]
    case .finishesBeforeCommit: [.finishAfterCredit]
    case .inheritsDespiteToken, .creditsWhoIsSignedIn, .idsBelieved, .seatsByToken: [.creditsOwner]
    default: []
    }
  }
}

extension EngineBug {
  package var rules: Set<ProtocolRule> {
    switch self {
    // The second request may go out when the answer to the first has settled its entries.
    case .sentTwice: [.oneInFlight, .sendsDurable]
    case .leaseFreedEarly: [.oneInFlight]
    case .answeredFromCache: [.settlesHeard]
    case .finishBeforeTheReply, .finishInADefer, .cancelledIsUnpaid: [.finishesSettled]
    case .wrongAccountAfterAwait: [.sendsInItsName]
    case .outcomeToldEarly: [.tellsSettled]
    case .idsBelieved, .seatsByToken: [.creditsOwner]
    default: []
    }
  }
}
