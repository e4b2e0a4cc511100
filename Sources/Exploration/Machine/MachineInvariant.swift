typealias MachineChecker = Checker<MachineInvariant, MachineMark>

/// The invariants that the machine's simulation checks. The raw value is the number in the documentation.
package enum MachineInvariant: Int, Invariant {
  case conservation = 1, oneCredit, finishAfterAcknowledgement, sendAfterEnqueue, firstInFirstOut
  case ownName, limit, attempts, binding, noGhosts, leavesSettled, prefix, failedEnqueue, oneInFlight
  case timers, budget, retryAfter, collapse, secrets, bounded, oldImage, refunds, finished, delivered
  case poison, quiet
  case newerProof = 31
  case ownerTold, othersUnnamed
  case neverBlocked = 37
  case refusal
  case idAlone = 39
  case promptAfterWake, promptAlone, paced, exactUnits, bundleWhole, seatIsMembers

  package var number: InvariantNumber { InvariantNumber(integerLiteral: rawValue) }
  package var place: Int {
    switch self {
    case .newerProof, .ownerTold, .othersUnnamed: rawValue - 5
    case .neverBlocked, .refusal, .idAlone, .promptAfterWake, .promptAlone, .paced, .exactUnits, .bundleWhole,
      .seatIsMembers:
      rawValue - 8
    default: rawValue - 1
    }
  }

  package var sentence: String {
    switch self {
    case .conservation: "a paid purchase is unfinished in the store, durable on a phone, or settled on record"
    case .oneCredit: "at most one credit per transaction and order, each with its cause"
    case .finishAfterAcknowledgement: "a transaction is finished only after its acknowledgement is durable"
    case .sendAfterEnqueue: "nothing is sent before its enqueue is durable"
    case .firstInFirstOut: "first attempts in a lane are first in, first out"
    case .ownName:
      "claims are sent in the name of their lane and credited to the account of their order"
    case .limit: "the limit of entries is never exceeded"
    case .attempts: "attempts are durable before the send, and never decrease"
    case .binding: "an order has one transaction and a transaction has one order, permanently"
    case .noGhosts: "every entry belongs to a purchase"
    case .leavesSettled: "an entry leaves only by a settling verdict"
    case .prefix: "a reopened storage holds what was committed"
    case .failedEnqueue: "a failed enqueue never finishes a transaction"
    case .oneInFlight: "one request in flight per lane and installation"
    case .timers: "no timer is longer than a day, whatever the clock does"
    case .budget: "the budget limits the requests that follow a failure, and no person asked for"
    case .retryAfter: "nothing is sent before its Retry-After"
    case .collapse: "redeliveries collapse into one entry, which keeps its place"
    case .secrets: "events and logs hold no proof"
    case .bounded: "tombstones and memory are bounded"
    case .oldImage: "a restored old backup never causes a second grant"
    case .refunds: "a refund never blocks its lane"
    case .finished: "a settled entry is finished, and its outcome is delivered, also after a crash"
    case .delivered: "after the faults, everything deliverable is delivered in time"
    case .poison: "an entry that always fails is postponed or quarantined in time"
    case .newerProof:
      "a newer proof that comes during an upload is pending or queued when its entry is settled"
    case .ownerTold: "an owner is told on each device that a purchase is its own, and only then"
    case .othersUnnamed: "what a person is told about another account's purchase names no order"
    case .refusal: "after a refused token, its lane is tried again by itself, within a day"
    case .idAlone: "a claim without a proof credits only the owner whom the store's record names"
    case .promptAfterWake: "what can be delivered is delivered within a minute of a wake"
    case .promptAlone: "what can be delivered is delivered within the policy's bound, without a wake"
    case .paced: "uploads, requests and calls of the store have a pace, whatever backend and app do"
    case .exactUnits: "what is credited is what is paid and not refunded, to the unit"
    case .bundleWhole: "the payment of a bundle credits every subscription of it once, to one owner"
    case .seatIsMembers:
      "an assigned seat is its member's, fulfils no order and counts once, whosever token it has"
    case .quiet: "when no work is left, no timer is set and nothing is sent"
    case .neverBlocked: "neither unpaid sheets nor unconfirmed outcomes keep a purchase out of the queue"
    }
  }

  package var minimum: Int {
    switch self {
    case .newerProof: 5
    case .refusal, .idAlone, .bundleWhole, .seatIsMembers: 50
    case .othersUnnamed, .neverBlocked: 100
    case .oldImage, .poison, .failedEnqueue: 100
    case .secrets, .refunds, .budget, .retryAfter: 200
    default: 1_000
    }
  }

  /// The invariants that this simulation cannot see, and what checks them.
  static let elsewhere = [
    "12 of disk images: crash-images", "19 of case files and errors: the engine's tests",
    "20 of database and WAL: the queue's tests, bench queue", "27: the fleet",
    "28-30: this command as a whole",
  ]
}

/// The rare paths of the machine's simulation.
package enum MachineMark: Int, Mark {
  case queueFull, listedForCapacity, updateQueued, updatePending, quarantined, released, postponed, otherOwner
  case adoptionTaken, redeliveredSettled, epochChanged, leaseDenied, storageFailed, killedInWrite,
    killedInActions
  case imageRestored, reinstalled, appleIDSwitched, signInNeeded, clockBack, clockForward, captive, replyLost
  case requestTwice, proposed, boundByVerdict, backendFault, duplicateVerdict, refundedVerdict, lapsedVerdict
  case unknownTransaction, proofFound, pendingVerdict, finishLost, finishNotListed, askedToBuy, sharedRun
  case deviceLane, vaultRestored, budgetSpent, busy, powerLost, commitsLost, suspended, extensionRan,
    poisonQuarantined,
    openFailed
  case renewed, upgraded, refundUndone, enqueueFailed, backendRestored, keptForSupport
  case severalProofs, smallerUpload, refusedTwice, otherProtocol
  case sheetsDismissed, chargedAfterCancel, neverConfirmed
  case tapped, cameOnline, clockJumpedOffline, twoServers, receiptsAnew, signedInAgain
  case restored, boughtAgain, heardElsewhere, unclaimedSignedIn, idGuessed, finishedByBackend
  case accountTokens, fulfilFailed, partRefunded, bundleWithTokens, bundleWithOneToken
  case seatWithToken, seatWithoutToken, seatOfPurchasersChain, seatRenewed, seatRevoked, seatRestored
}
