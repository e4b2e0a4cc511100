/// Which wakes have their effect at once, and which later: callbacks of the app may wake the engine each time that the
/// engine calls them. Pure: the caller passes the moment.
package struct WakePace: Sendable {
  private var all = CallPace.wakes
  private var accounts: [String: CallPace] = [:]
  /// Wakes that came too fast, each once.
  private var pending: [WakeReason] = []

  /// The most accounts whose pace is remembered.
  private static var mostAccounts: Int { 64 }

  package init() {}

  /// Counts a wake. False if it came too fast: then it is pending.
  package mutating func takes(_ reason: WakeReason, at now: Int64) -> Bool {
    if isFree(reason, at: now) {
      pending.removeAll { $0 == reason }
      return true
    }
    if !pending.contains(reason) { pending.append(reason) }
    return false
  }

  /// How long until a pending wake may have its effect; nil if none is pending.
  package func wait(at now: Int64) -> Int64? {
    pending.map { max(all.wait(at: now), pace(of: $0)?.wait(at: now) ?? 0) }.min()
  }

  /// The pending wakes whose moment has come.
  package mutating func due(at now: Int64) -> [WakeReason] {
    let due = pending.filter { isFree($0, at: now) }
    pending.removeAll { due.contains($0) }
    return due
  }

  /// The engine is suspended. The foreground is a wake.
  package mutating func forgetPending() { pending = [] }

  private mutating func isFree(_ reason: WakeReason, at now: Int64) -> Bool {
    guard all.wait(at: now) == 0 else { return false }
    if case .signedIn(let account) = reason {
      if accounts.count >= Self.mostAccounts, accounts[account] == nil { accounts = [:] }
      guard accounts[account, default: .signIns].takes(at: now) else { return false }
    }
    return all.takes(at: now)
  }

  private func pace(of reason: WakeReason) -> CallPace? {
    if case .signedIn(let account) = reason { accounts[account] } else { nil }
  }
}
