/// The kinds of faults and acts that a run has.
package enum SimulationProfile: String, CaseIterable, Sendable {
  /// No faults.
  case calm
  /// Requests and replies are lost, late or doubled, or a captive portal replies.
  case network
  /// Processes die, disks fail, phones are wiped or restored from backups.
  case crash
  /// Users and Apple IDs change, and share phones.
  case accounts
  /// Renewals, upgrades, refunds.
  case subscriptions
  /// The store delivers again, late, or not at all; finishing fails.
  case store
  /// All of these; each run draws a different part.
  case swarm
}

/// A fault that lasts for a while. It strikes with a drawn probability.
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
  // MARK: Those that tempt an app to send without end
  /// Two servers with a ledger each answer in turn.
  case twoServers
  /// The backend does not find a transaction in its receipt, and the store signs each receipt again each time.
  case freshReceipts
  /// The backend refuses tokens, and the app reports a sign-in after each refusal.
  case signsInAgain
  /// The phone has no network: a request fails at once.
  case offline

  var ofNetwork: Bool { rawValue <= Fault.unauthorized.rawValue || self == .offline || self == .signsInAgain }
  /// Whether it lasts for minutes only: each one makes as many requests as the engine allows.
  var isTempting: Bool { rawValue >= Fault.twoServers.rawValue && rawValue <= Fault.signsInAgain.rawValue }
  var ofAnswer: Bool {
    rawValue >= Fault.storeUnavailable.rawValue && rawValue <= Fault.wrongOrder.rawValue
  }
  var ofStore: Bool { rawValue >= Fault.finishFails.rawValue && rawValue <= Fault.receiptLacks.rawValue }
}

/// A way in which a storage fails.
package enum StorageFault: UInt8, CaseIterable, Sendable {
  /// The disk is full, and nothing was written.
  case full
  /// An I/O error, and nothing was written.
  case failsBefore
  /// An I/O error although the write was done: the worst case of a failing disk.
  case failsAfter
}
