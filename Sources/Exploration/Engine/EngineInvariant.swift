typealias EngineChecker = Checker<EngineInvariant, EngineMark>

/// The invariants that the engine's simulation checks from outside the engine: those of the machine that can be seen
/// there, and S1 to S7, which are promises of the engine itself. The raw value is the number in the documentation.
package enum EngineInvariant: String, Invariant {
  case conservation = "1"
  case oneCredit = "2"
  case finishAfterAcknowledgement = "3"
  case sendAfterEnqueue = "4"
  case ownName = "6"
  case limit = "7"
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
  case ownerTold = "32"
  case eachOrderEnds = "36"
  case neverBlocked = "37"
  case idAlone = "39"
  case promptAfterWake = "40"
  case promptAlone = "41"
  case paced = "42"
  case exactUnits = "43"
  case bundleWhole = "44"
  case seatIsMembers = "45"
  case shutdownReturns = "S1"
  case nothingAfterShutdown = "S2"
  case streamsEnd = "S3"
  case nothingIsKept = "S4"
  case suspensionHolds = "S5"
  case cancelReturns = "S6"
  case oneThread = "S7"

  private static let places: [EngineInvariant: Int] = Dictionary(
    uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })

  package var number: InvariantNumber { InvariantNumber(rawValue) }
  package var place: Int { Self.places[self] ?? 0 }

  /// The machine's sentence where both simulations check the same.
  package var sentence: String {
    switch self {
    case .conservation:
      "a paid purchase is unfinished in the store, durable in the file, or settled on record"
    case .sendAfterEnqueue: "nothing is sent before its enqueue is durable, or with another entry's proof"
    case .leavesSettled:
      "an entry leaves only by a settling verdict that the engine received, or by a recorded discard"
    case .finished:
      "a settled entry is finished, and its outcome is delivered once it is durable, also after a crash"
    case .paced:
      "uploads, requests, calls of the store and of the app have a pace, whatever backend and app do"
    case .quiet: "when no work is left, no timer is set, nothing is sent, and no job runs without end"
    case .shutdownReturns: "shutdown returns as soon as the running calls have ended"
    case .nothingAfterShutdown: "after shutdown the engine sends, calls and times nothing, and holds no lease"
    case .streamsEnd: "event streams end with the engine"
    case .nothingIsKept: "no task and no continuation outlives its engine"
    case .suspensionHolds:
      "suspend returns in time; then no lease is held, calls leave no open file, and nothing is sent until the foreground"
    case .cancelReturns: "a call returns when its task is cancelled"
    case .oneThread: "every job of the engine goes through the run queue"
    case .eachOrderEnds:
      "an order that the store answered with an earlier transaction gets that transaction's outcome"
    default: Int(rawValue).flatMap(MachineInvariant.init(rawValue:))?.sentence ?? ""
    }
  }

  package var minimum: Int {
    switch self {
    case .failedEnqueue, .bundleWhole, .seatIsMembers: 5
    case .eachOrderEnds, .neverBlocked, .idAlone: 5
    case .ownerTold: 100
    case .retryAfter: 50
    case .promptAlone: 5
    case .promptAfterWake: 100
    case .prefix, .refunds, .suspensionHolds, .cancelReturns: 60
    default: 500
    }
  }
}

/// The rare paths of the engine's simulation: calls that meet.
package enum EngineMark: Int, Mark {
  case replyInShutdown, beginCancelled, laneContended, deliveryInOpening, timerRacedJob, timerRacedWake
  case killedAtBoundary, powerCut, killedBetweenJobs, shutdownTwice, shutdownWhileSuspending,
    foregroundWhileSuspending
  case suspendedWithUpload, suspensionCancelledUpload, suspensionCancelled, fileReplaced
  case answerToFormerMachine, transportHung, storeHung, credentialsHung, replyLost, requestTwice, captive,
    busy
  case finishFailed, finishTookEffectAndFailed, staleListing, signInNeeded, adoptionTaken, queueFull
  case discardedInFlight, refundedVerdict, duplicateVerdict, confirmedTwice, streamsOpenedLate
  case listedWhileListing, beginTwice
  case finishedTogether
  case heardElsewhere, boughtAgain, offerRedeemed
  case restoredOnNewPhone, receiptRestored, restoredAsOwn, restoredAsAnothers, restoredAgain
  case startedFromCopy, copiedWithEntries, boughtOnCopy, adoptedOnCopy
  case sheetsDismissed, chargedAfterCancel, ownedReturned, pendingSignedOut, neverConfirmed, deviceMadeOrder
  case idGuessed, cameOnline, twoServers, calledBack, chainEnded
  case bundleWithTokens, bundleWithOneToken, seatWithToken, seatWithoutToken

  package var sentence: String {
    switch self {
    case .replyInShutdown: "a reply, a listing or a finish returned during the shutdown"
    case .beginCancelled: "a request for an order was cancelled"
    case .laneContended: "a lane was refused because the other engine was sending it"
    case .deliveryInOpening: "a transaction arrived while the start was still listing the store"
    case .timerRacedJob: "a timer fired while a job was ready"
    case .timerRacedWake: "a wake came while a timer was set"
    case .killedAtBoundary: "a process was killed between two durable steps"
    case .powerCut: "a power cut lost what was promised soon"
    case .killedBetweenJobs: "a process was killed between two jobs"
    case .shutdownTwice: "an engine was shut down twice"
    case .shutdownWhileSuspending: "an engine was shut down while it was being suspended"
    case .foregroundWhileSuspending: "the app came to the foreground while it was being suspended"
    case .suspendedWithUpload: "an app was suspended with an upload in flight"
    case .suspensionCancelledUpload: "a suspension cancelled an upload"
    case .suspensionCancelled: "the caller of suspend was cancelled"
    case .fileReplaced: "the open file was replaced by a copy"
    case .answerToFormerMachine: "an upload of the machine before a replaced file was in flight"
    case .transportHung: "a request hung"
    case .storeHung: "a call of the store hung"
    case .credentialsHung: "the app's credentials hung"
    case .replyLost: "the backend committed, and its reply was lost"
    case .requestTwice: "a request arrived twice"
    case .captive: "a captive portal's page replaced a reply"
    case .busy: "the backend asked every client to wait"
    case .finishFailed: "finishing failed"
    case .finishTookEffectAndFailed: "finishing took effect, and the call failed"
    case .staleListing: "a listing was out of date when it returned"
    case .signInNeeded: "an account signed out"
    case .adoptionTaken: "an account adopted the device's purchases"
    case .queueFull: "there was no capacity for a purchase"
    case .discardedInFlight: "an entry was discarded during an upload"
    case .refundedVerdict: "a verdict said that a purchase was refunded"
    case .duplicateVerdict: "a verdict said that a purchase was fulfilled before"
    case .confirmedTwice: "the app confirmed an outcome twice"
    case .streamsOpenedLate: "the app opened a further event stream"
    case .listedWhileListing: "a listing began while another was running"
    case .finishedTogether: "one call of the store finished several transactions"
    case .heardElsewhere: "a purchase of another device arrived"
    case .boughtAgain: "another order paid for a subscription that was bought before"
    case .offerRedeemed: "a purchase without an order arrived"
    case .restoredOnNewPhone: "a person restored on a new phone"
    case .receiptRestored: "a new phone's receipt held purchases"
    case .restoredAsOwn: "a restored purchase was told to its owner"
    case .restoredAsAnothers: "a restored purchase was told as another account's"
    case .restoredAgain: "a second person restored on the same phone"
    case .startedFromCopy: "a phone began with a copy of another one's file"
    case .copiedWithEntries: "a copied file held entries"
    case .boughtOnCopy: "a purchase was made on a phone that began with a copy"
    case .adoptedOnCopy: "an account adopted the purchases of a phone that began with a copy"
    case .sheetsDismissed: "payment sheets were closed without a payment"
    case .chargedAfterCancel: "a purchase was charged after its sheet had said cancelled"
    case .ownedReturned: "the store answered an order with an earlier transaction"
    case .pendingSignedOut: "an account signed out while its payment waited"
    case .neverConfirmed: "an app confirmed no outcome"
    case .deviceMadeOrder: "the device made an order"
    case .cameOnline: "the network came back after ten minutes or more with a purchase"
    case .twoServers: "two servers with a ledger each answered in turn"
    case .bundleWithTokens: "a bundle was bought, and each of its transactions had the token"
    case .bundleWithOneToken: "a bundle was bought, and one of its transactions had the token"
    case .seatWithToken: "a seat was assigned, with the token of an order that its purchaser had made"
    case .seatWithoutToken: "a seat was assigned, without a token"
    case .calledBack: "the app called the engine back while it was asked for a token"
    case .chainEnded: "a proof came whose certificates had expired since"
    case .idGuessed: "a stranger named the id of a purchase, without a proof"
    case .beginTwice: "the app asked for two orders at once"
    }
  }
}
