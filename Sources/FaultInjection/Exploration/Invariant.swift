/// The invariants of the design that can be seen at this level, by their numbers there.
package enum Invariant: Int, CaseIterable, Sendable {
  case conservation = 1, oneCredit, finishAfterAcknowledgement, sendAfterEnqueue, firstInFirstOut, ownName,
    cap
  case attempts, binding, noGhosts, leavesSettled, prefix, failedEnqueue, oneInFlight, timers, budget,
    retryAfter
  case collapse, secrets, bounded, oldImage, refunds, finished, delivered, poison, quiet

  package var sentence: String {
    switch self {
    case .conservation: "what was paid is unfinished in the store, durable on a phone, or settled on record"
    case .oneCredit: "at most one credit per transaction and order, each with its cause"
    case .finishAfterAcknowledgement: "finish only after the acknowledgement is durable"
    case .sendAfterEnqueue: "no send before a durable enqueue"
    case .firstInFirstOut: "first attempts in a lane are first in, first out"
    case .ownName: "claims go up in their lane's name, and are credited to their order's account"
    case .cap: "the cap is never exceeded"
    case .attempts: "attempts are durable before the send, and only grow"
    case .binding: "an order has one transaction, a transaction one order, for ever"
    case .noGhosts: "no row without a purchase"
    case .leavesSettled: "an entry leaves only by a settling verdict"
    case .prefix: "what is opened again is what was committed"
    case .failedEnqueue: "a failed enqueue never finishes"
    case .oneInFlight: "one request in flight per lane and installation"
    case .timers: "no timer beyond a day, whatever the clock does"
    case .budget: "sixty requests an hour after a failure"
    case .retryAfter: "nothing is sent before its Retry-After"
    case .collapse: "redeliveries collapse into one entry, which keeps its place"
    case .secrets: "no proof in what is told or logged"
    case .bounded: "tombstones and memory are bounded"
    case .oldImage: "an old image, restored, never double-grants"
    case .refunds: "a refund never blocks its lane"
    case .finished: "what was settled is finished and told, also after a crash"
    case .delivered: "after the faults, everything deliverable is delivered in time"
    case .poison: "a poison entry is set aside or parked in time"
    case .quiet: "nothing left to do: no timers, nothing sent"
    }
  }

  /// How often it has to be exercised in a thousand seeds of the swarm; less is a run that shows nothing.
  package var minimum: Int {
    switch self {
    case .oldImage, .poison, .failedEnqueue: 100
    case .secrets, .refunds, .budget, .retryAfter: 200
    default: 1_000
    }
  }

  /// The design's invariants that this level does not see, and who sees them.
  package static let elsewhere = [
    "12 of disk images: crash-images", "19 of case files and errors: the engine's tests",
    "20 of database and WAL: the queue's tests, bench queue", "27: the fleet",
    "28-30: this command as a whole",
  ]
}

/// Rare paths: a run of a thousand swarm seeds that misses one of them shows less than it seems.
package enum Mark: Int, CaseIterable, Sendable {
  case queueFull, listedForRoom, updateQueued, updateOwed, quarantined, released, setAside, otherOwner
  case claimTaken, redeliveredSettled, epochChanged, leaseDenied, storageFailed, killedInWrite,
    killedInActions
  case imageRestored, reinstalled, appleIDSwitched, signInNeeded, clockBack, clockForward, captive, replyLost
  case requestTwice, proposed, boundByVerdict, backendFault, duplicateVerdict, refundedVerdict, lapsedVerdict
  case unknownTransaction, proofFound, pendingVerdict, finishLost, finishNotListed, askedToBuy, sharedRun
  case deviceLane, vaultRestored, budgetSpent, busy, powerLost, parked, extensionRan, poisonParked, openFailed
  case renewed, upgraded, refundUndone, enqueueFailed, backendRestored, keptForSomebody
}
