/// What kind of trouble a world is in for.
package enum ExplorationProfile: String, CaseIterable, Sendable {
  /// Nothing goes wrong.
  case calm
  /// Requests and answers get lost, late, double, or are somebody else's page.
  case network
  /// Processes die, disks fail, phones are wiped, old images come back.
  case crash
  /// People and Apple IDs come and go, and share phones.
  case accounts
  /// Renewals, upgrades, refunds.
  case subscriptions
  /// The store delivers again, late, or not; finishing fails.
  case store
  /// Any of all this, a different part of it in each world.
  case swarm
}

/// A fault that lasts for a while, and strikes so often while it lasts.
package enum Fault: UInt8, CaseIterable, Sendable {
  // MARK: The network
  case dropRequest, loseReply, duplicate, delay, captivePortal, stall
  // MARK: The backend
  case serverError, errorAfterCommit, busy, badRequest, unauthorized
  case storeUnavailable, unknownVerdict, foreignVerdict, missingVerdict, contradiction, shuffled, wrongOrder
  // MARK: The store
  case finishFails, finishLost, listingFails, listingTwice, receiptLacks
  // MARK: The vault
  case vaultFails

  var ofNetwork: Bool { rawValue <= Fault.unauthorized.rawValue }
  var ofAnswer: Bool {
    rawValue >= Fault.storeUnavailable.rawValue && rawValue <= Fault.wrongOrder.rawValue
  }
  var ofStore: Bool { rawValue >= Fault.finishFails.rawValue && rawValue <= Fault.receiptLacks.rawValue }
}

/// A way in which a storage fails.
package enum StorageFault: UInt8, CaseIterable, Sendable {
  /// No room, and nothing was done.
  case full
  /// An I/O error, and nothing was done.
  case failsBefore
  /// An I/O error although it was done: the worst that a failing disk can look like.
  case failsAfter
}
