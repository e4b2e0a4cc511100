/// What a verdict about the small world says, and what it does not say.
extension SmallWorld {
  /// What there is, in words.
  package var sentence: String {
    func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
      "\(count) \(count == 1 ? one : many ?? one + "s")"
    }
    return [
      text(purchases, "purchase") + (seat.map { ", of which \(Names.id($0)) is an assigned seat" } ?? "")
        + (isBundle ? " in one bundle" : ""),
      text(accounts, "account"), text(devices, "device"),
      text(crashes, "crash", "crashes") + " at any commit" + (leavesOrders ? " or before a payment" : ""),
      text(lostReplies, "lost reply", "lost replies"),
      text(reinstalls, "reinstall"), "a queue of 1 entry", "no random delay",
      "time in steps to the next timer",
    ].joined(separator: ", ")
  }

  /// Which steps count as certain, for the invariants about the end.
  package static let fairness =
    "Fairness: what can happen again and again happens in the end: a dead app is launched, a timer fires, the store "
    + "answers and delivers, the backend gets a request and its answer comes back, the app confirms. Crashes, lost "
    + "replies and reinstalls are limited in number, and no one has to buy."

  /// What the verdict says nothing about.
  package static let leftOut = [
    "more purchases, accounts, devices or faults, a second Apple ID, and more entries than one in a queue",
    "an entry so near to quarantine that its failures count: the search would end with an error",
    "a timer or a request that the system drops",
    "a second delivery of what the store has just listed, and no one has finished",
    "purchases without an account token, app receipts, refunds, subscriptions but for a seat and a bundle",
    "a bundle whose transactions do not all have the token of its order",
    "orders that are not paid: a test searches a smaller world with one",
    "an extension beside the app, a change of the user, adoptions, suspending",
    "the vault, a full or failing disk, a damaged file, and a power cut inside a commit",
    "refused credentials, errors, Retry-After and verdicts that settle nothing; a request that arrives twice; a "
      + "backend that is restored",
    "a clock that jumps, random delays, and how long anything takes",
    "the specification of the protocol, which judges the other simulations",
    "the tasks of SyncEngine: the search gives events to SyncMachine, with the storage in memory",
  ]

  /// The invariants that are checked in each state and at each step.
  package static let invariants: [MachineInvariant] = [
    .conservation, .oneCredit, .finishAfterAcknowledgement, .sendAfterEnqueue, .ownName, .limit, .attempts,
    .binding, .leavesSettled, .prefix, .failedEnqueue, .oneInFlight, .timers, .collapse, .finished,
    .delivered, .bundleWhole, .seatIsMembers,
  ]
}
