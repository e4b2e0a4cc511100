package import Specification

/// A bug planted in the small world: in the storage, the driver, the network or the backend.
package enum ExhaustiveBug: String, PlantedBug {
  // MARK: The driver
  case finishesOnArrival, finishesFailedEnqueue, noReplyIsGranted, sendsTwice, wrongAccount, toldOnce,
    seenWhenTold
  case timerLost, overflowForgotten, dropsUnlisted
  // MARK: The storage
  case limitIgnored, evictsOldest, enqueueNotDurable, attemptNotStored, unconfirmedForgotten
  // MARK: The backend
  case answersBeforeCommit, backendForgets, keyedByInstallation
  // MARK: Seats and bundles
  case seatsByToken, seatsPaid, bundleCountsOnce

  package var summary: String {
    switch self {
    case .finishesOnArrival: "a transaction is finished when it arrives"
    case .finishesFailedEnqueue: "a transaction is finished although the queue was full"
    case .noReplyIsGranted: "a request without an answer counts as granted"
    case .sendsTwice: "every request is sent a second time at once"
    case .wrongAccount: "a request uses the account that is signed in now"
    case .toldOnce: "an outcome is not told again at the next launch"
    case .seenWhenTold: "an outcome counts as seen when it is told, before the app confirms it"
    case .timerLost: "the timer is lost when a request fails"
    case .overflowForgotten: "the store is not asked again when capacity is free"
    case .dropsUnlisted:
      "after a launch, an entry that failed and that the store does not list is dropped: another device has it"
    case .limitIgnored: "the limit of entries is not checked"
    case .evictsOldest: "a full queue drops its oldest entry"
    case .enqueueNotDurable: "an enqueue is committed with the next write"
    case .attemptNotStored: "attempts are counted in memory"
    case .unconfirmedForgotten: "an unconfirmed outcome is not stored"
    case .answersBeforeCommit: "the backend replies before it commits, and then crashes"
    case .backendForgets: "the backend grants a transaction again"
    case .bundleCountsOnce: "the payment of a bundle counts as one purchase, which its first subscription is"
    case .seatsByToken: "the backend takes the token of an assigned seat for that of who has it"
    case .seatsPaid:
      "the device takes an assigned seat for a purchase, so its token binds an order of its purchaser"
    case .keyedByInstallation: "the backend's idempotency key belongs to the installation"
    }
  }

  /// None: the specification is no judge in the small world.
  package var rules: Set<ProtocolRule> { [] }
}

extension ExhaustiveBug {
  /// The smallest world that shows it.
  package var smallest: SmallWorld {
    switch self {
    case .finishesOnArrival, .sendsTwice, .attemptNotStored, .enqueueNotDurable, .answersBeforeCommit,
      .seenWhenTold:
      SmallWorld(purchases: 1)
    case .finishesFailedEnqueue, .limitIgnored, .evictsOldest, .overflowForgotten: SmallWorld(purchases: 2)
    case .wrongAccount: SmallWorld(purchases: 2, accounts: 2)
    case .noReplyIsGranted, .timerLost: SmallWorld(purchases: 1, lostReplies: 1)
    case .toldOnce, .unconfirmedForgotten: SmallWorld(purchases: 1, crashes: 1)
    case .backendForgets, .keyedByInstallation: SmallWorld(purchases: 1, devices: 2)
    case .seatsByToken, .seatsPaid: SmallWorld(purchases: 2, seat: 1)
    case .bundleCountsOnce: SmallWorld(purchases: 2, isBundle: true)
    case .dropsUnlisted: SmallWorld(purchases: 1, devices: 2, crashes: 1, lostReplies: 1)
    }
  }

  /// Whether only the end shows it: something is never delivered. All states have to be visited for that.
  private var isOfTheEnd: Bool {
    switch self {
    case .timerLost, .overflowForgotten, .toldOnce: true
    default: false
    }
  }

  /// Where a search for it begins: the whole small world, unless only the end shows it.
  package var world: SmallWorld {
    if smallest.seat != nil { return .withSeat }
    if smallest.isBundle { return .withBundle }
    return isOfTheEnd ? smallest : SmallWorld()
  }
}
