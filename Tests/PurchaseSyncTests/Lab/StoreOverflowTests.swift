import PurchaseQueue
import Testing

@testable import PurchaseSync

@Suite struct StoreOverflowTests {
  enum Event: CaseIterable, Sendable {
    case full, freed, listed, notListed, waitForCapacity, wakeUpEarly, wakeUpLate, ask, storeKeepsMore,
      heldArrived
  }

  static let policy = RetryPolicy()
  static let ceiling = midday.adding(milliseconds: RetryPolicy().ceilingMilliseconds)
  static let soon = midday.adding(milliseconds: 1_000)
  static let states: [StoreOverflow] = [.none, .full(askAt: soon), .capacityFreed, .askingStore]

  /// The state after the event; nil if it does not change.
  static func expected(_ event: Event, in state: StoreOverflow) -> StoreOverflow? {
    switch (event, state) {
    case (.full, .none), (.full, .askingStore): .full(askAt: nil)
    case (.freed, .full): .capacityFreed
    case (.listed, .askingStore): StoreOverflow.none
    case (.notListed, .askingStore): .full(askAt: nil)
    case (.waitForCapacity, .full): .full(askAt: ceiling)
    case (.wakeUpLate, .full): .capacityFreed
    case (.ask, .capacityFreed): .askingStore
    case (.storeKeepsMore, _): .capacityFreed
    case (.heldArrived, .askingStore): .capacityFreed
    default: nil
    }
  }

  private func send(_ event: Event, to state: inout StoreOverflow) {
    switch event {
    case .full: state.full()
    case .freed: _ = state.freed()
    case .listed: state.listed()
    case .notListed: state.notListed()
    case .waitForCapacity: state.waitForCapacity(now: midday, policy: Self.policy)
    case .wakeUpEarly: _ = state.wakeUp(now: midday, policy: Self.policy)
    case .wakeUpLate: _ = state.wakeUp(now: Self.soon, policy: Self.policy)
    case .ask: _ = state.ask()
    case .storeKeepsMore: state.storeKeepsMore()
    case .heldArrived: state.heldArrived()
    }
  }

  @Test(arguments: Event.allCases, states)
  func `each event leads from each state to the documented one`(event: Event, state: StoreOverflow) {
    var overflow = state
    send(event, to: &overflow)
    #expect(overflow == Self.expected(event, in: state) ?? state)
  }

  @Test(arguments: states)
  func `the store is asked once, and only after capacity was freed`(state: StoreOverflow) {
    var overflow = state
    #expect(overflow.ask() == (state == .capacityFreed))
    let asksAgain = overflow.ask()
    #expect(!asksAgain)
  }

  @Test(arguments: states)
  func `freed capacity is for the store first, if it keeps something`(state: StoreOverflow) {
    var overflow = state
    #expect(overflow.freed() == state.isStoreHoldingMore)
  }

  @Test func `without a moment, the store is asked after the backoff ceiling`() {
    var overflow = StoreOverflow.full(askAt: nil)
    #expect(overflow.wakeUp(now: midday, policy: Self.policy) == Self.ceiling)
    #expect(overflow == .full(askAt: Self.ceiling))
  }

  @Test func `a moment beyond the backoff ceiling is brought back to it`() {
    var overflow = StoreOverflow.full(askAt: midday.adding(milliseconds: inDays(365)))
    #expect(overflow.wakeUp(now: midday, policy: Self.policy) == Self.ceiling)
  }
}
