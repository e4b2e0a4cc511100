/// What is held against the real engine: the design's invariants that can be seen from outside of it, by their numbers
/// there, and the promises of its face.
package enum ShellInvariant: String, CaseIterable, Sendable {
  case conservation = "1"
  case oneCredit = "2"
  case finishAfterAcknowledgement = "3"
  case sendAfterEnqueue = "4"
  case ownName = "6"
  case cap = "7"
  case attempts = "8"
  case binding = "9"
  case noGhosts = "10"
  case leavesSettled = "11"
  case prefix = "12"
  case failedEnqueue = "13"
  case oneInFlight = "14"
  case retryAfter = "17"
  case collapse = "18"
  case refunds = "22"
  case finished = "23"
  case delivered = "24"
  case quiet = "26"
  case shutdownReturns = "S1"
  case nothingAfterShutdown = "S2"
  case streamsEnd = "S3"
  case nothingIsKept = "S4"
  case parkHolds = "S5"
  case cancelReturns = "S6"
  case oneThread = "S7"

  package var sentence: String {
    switch self {
    case .conservation: "what was paid is unfinished in the store, durable in the file, or settled on record"
    case .oneCredit: "at most one credit per transaction and order, each with its cause"
    case .finishAfterAcknowledgement: "finish only after the acknowledgement is durable"
    case .sendAfterEnqueue: "no send before a durable enqueue, or with another's proof"
    case .ownName: "claims go up in their lane's name, and are credited to their order's account"
    case .cap: "the cap is never exceeded"
    case .attempts: "attempts are durable before the send, and only grow"
    case .binding: "an order has one transaction, a transaction one order, for ever"
    case .noGhosts: "no row without a purchase"
    case .leavesSettled:
      "an entry leaves only by a settling verdict that came to the engine, or an audited discard"
    case .prefix: "what is opened again is what was committed"
    case .failedEnqueue: "a failed enqueue never finishes"
    case .oneInFlight: "one request in flight per lane and installation"
    case .retryAfter: "nothing is sent before its Retry-After"
    case .collapse: "redeliveries collapse into one entry, which keeps its place"
    case .refunds: "a refund never blocks its lane"
    case .finished: "what was settled is finished and told, once it is durable, also after a crash"
    case .delivered: "after the faults, everything deliverable is delivered in time"
    case .quiet: "nothing left to do: no timers, nothing sent, no job runs for ever"
    case .shutdownReturns: "shutdown returns as soon as what runs has ended"
    case .nothingAfterShutdown: "after shutdown nothing is sent, asked or timed, and no lease is held"
    case .streamsEnd: "event streams end with the engine"
    case .nothingIsKept: "no task and no continuation outlives its engine"
    case .parkHolds: "park returns in time; then no lease is held and nothing is sent until the foreground"
    case .cancelReturns: "a call whose task is cancelled returns"
    case .oneThread: "every job of the engine goes through the run queue"
    }
  }

  /// How often it has to be looked at in a thousand seeds.
  package var minimum: Int {
    switch self {
    case .failedEnqueue: 5
    case .retryAfter: 50
    case .prefix, .refunds, .parkHolds, .cancelReturns: 60
    default: 500
    }
  }
}

/// Rare meetings in the shell: a run of a thousand seeds that misses one of them shows less than it seems.
package enum ShellMark: Int, CaseIterable, Sendable {
  /// A reply, a listing or a finish came back while the engine was being shut down.
  case replyInShutdown
  case beginCancelled
  /// A lane was refused because the other engine was sending it.
  case laneContended
  /// A transaction was handed over while the start was still listing the store.
  case deliveryInOpening
  /// The timer rang while something else was ready to run.
  case timerRacedJob
  case timerRacedWake
  /// Killed between two durable steps; between two jobs.
  case killedAtBoundary
  case killedBetweenJobs
  case shutdownTwice
  case shutdownWhileParking
  case foregroundWhileParking
  case parkedWithUpload
  case parkCancelledUpload
  /// The caller of `park` was cancelled.
  case parkCancelled
  case fileReplaced
  /// What a former machine had sent was answered to the next one.
  case answerToFormerMachine
  case transportHung
  case storeHung
  case credentialsHung
  case replyLost
  case requestTwice
  case captive
  case busy
  case finishFailed
  case finishTookEffectAndFailed
  case staleListing
  case signInNeeded
  case claimTaken
  case queueFull
  case discardedInFlight
  case refundedVerdict
  case duplicateVerdict
  case confirmedTwice
  case streamsOpenedLate
  case listedWhileListing
  case beginTwice
}

/// A broken invariant of the shell, at the moment when it was seen.
package struct ShellViolation: Sendable, Hashable, Error {
  package var invariant: ShellInvariant
  package var what: String
  /// After so many jobs.
  package var job: Int
  /// Virtual time in milliseconds.
  package var at: Int64
}
