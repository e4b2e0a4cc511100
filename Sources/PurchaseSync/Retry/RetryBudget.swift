package import PurchaseQueue

/// How many requests after a failure an installation may send in an hour, by the device's clock.
///
/// A storage keeps its three numbers and commits them *before* the request, so a kill refills nothing. If the clock does
/// not jump, the requests of any hour are within the budget, wherever the hour begins. If the clock jumps forward, spent
/// requests expire as if the time had passed, so at most one window refills. If it jumps back, spent requests count from
/// the new time on: nothing refills, and no lane waits for the clock to catch up.
///
/// The past is kept in eight slots of a seventh of the window: seven that are over cover a whole window, and the
/// eighth runs. One slot at a time ends, so spent requests come back after 60 to 69 minutes.
package struct RetryBudget: Hashable, Sendable, Codable {
  /// The purpose of a request.
  package enum Purpose: Hashable, Sendable, CaseIterable {
    /// Something failed, and it is time again.
    case retry
    /// A new purchase, or a user who asks: these may use the reserve.
    case person
  }

  /// When the running slot began.
  package private(set) var slotBegan: Timestamp
  /// Requests of `retry` per slot: a byte each, the running one lowest.
  package private(set) var retries: Int64
  /// Requests of `person` per slot, in the same way.
  package private(set) var persons: Int64

  private static let slots: Int64 = 8

  /// Nothing spent yet.
  package init() { self.init(slotBegan: Timestamp(milliseconds: 0), retries: 0, persons: 0) }

  /// As it was stored. Any three numbers are a budget.
  package init(slotBegan: Timestamp, retries: Int64, persons: Int64) {
    self.slotBegan = slotBegan
    self.retries = retries
    self.persons = persons
  }

  /// Takes one request out of the budget. If none is left, returns false and spends nothing.
  package mutating func spend(_ purpose: Purpose, now: Timestamp, policy: RetryPolicy) -> Bool {
    age(to: now, policy)
    guard allows(purpose, policy) else { return false }
    switch purpose {
    case .retry: retries += 1
    case .person: persons += 1
    }
    return true
  }

  /// The clock may have gone back: spent requests count from now on. Each `spend` would begin that anew.
  package mutating func clamp(now: Timestamp) { slotBegan = min(slotBegan, now) }

  /// When `spend` will return true, if nothing else is spent: `now`, or later, but not beyond the policy's horizon.
  package func nextAllowed(_ purpose: Purpose, now: Timestamp, policy: RetryPolicy) -> Timestamp {
    var budget = self
    budget.age(to: now, policy)
    if budget.allows(purpose, policy) { return now }
    for _ in 0..<Self.slots {
      budget.shift(by: 1, Self.width(policy))
      guard budget.allows(purpose, policy) else { continue }
      return budget.slotBegan.clamped(to: policy.horizonMilliseconds, after: now)
    }
    // A budget of nothing: asked again when the horizon is reached.
    return now.adding(milliseconds: max(policy.horizonMilliseconds, 0))
  }

  /// The requests of this purpose that count at this moment.
  package func spent(_ purpose: Purpose, now: Timestamp, policy: RetryPolicy) -> Int {
    var budget = self
    budget.age(to: now, policy)
    return Self.sum(purpose == .retry ? budget.retries : budget.persons)
  }

  private func allows(_ purpose: Purpose, _ policy: RetryPolicy) -> Bool {
    let total = max(policy.budgetPerWindow, 0)
    let reserve = min(max(policy.budgetReserved, 0), total)
    let persons = Self.sum(self.persons)
    switch purpose {
    // Requests of persons use their reserve first.
    case .retry: return Self.running(retries) < 255 && Self.sum(retries) + max(persons, reserve) < total
    case .person: return Self.running(self.persons) < 255 && Self.sum(retries) + persons < total
    }
  }

  private mutating func age(to now: Timestamp, _ policy: RetryPolicy) {
    let passed = now.milliseconds(since: slotBegan)
    if passed < 0 {
      slotBegan = now
    } else {
      shift(by: passed / Self.width(policy), Self.width(policy))
    }
    if retries == 0, persons == 0 { slotBegan = now }
  }

  /// So many slots are over.
  private mutating func shift(by slots: Int64, _ width: Int64) {
    guard slots > 0 else { return }
    retries = slots < Self.slots ? retries << (8 * slots) : 0
    persons = slots < Self.slots ? persons << (8 * slots) : 0
    let (distance, overflow) = slots.multipliedReportingOverflow(by: width)
    slotBegan = slotBegan.adding(milliseconds: overflow ? .max : distance)
  }

  /// Rounded up, so that seven of them are not shorter than the window.
  private static func width(_ policy: RetryPolicy) -> Int64 {
    max(policy.budgetWindowMilliseconds - 1, 0) / (slots - 1) + 1
  }

  private static func running(_ counts: Int64) -> Int64 { counts & 0xFF }

  private static func sum(_ counts: Int64) -> Int {
    (0..<slots).reduce(0) { $0 + Int(counts >> (8 * $1) & 0xFF) }
  }
}
