import Testing

@testable import PurchaseSync

@Suite struct ListingTurnsTests {
  typealias State = ListingTurns.State
  typealias Step = ListingTurns.Step

  enum Event: CaseIterable, Sendable {
    case wanted, wantedTooSoon, moment, stopped, ended, failed, failedAndFollowed
  }

  private static let policy = RetryPolicy()
  private static let pause = policy.ceiling(afterFailures: 1)

  /// The turns in this state, with a pace that has rested, or has not.
  private func turns(in state: State, isRested: Bool) -> ListingTurns {
    var turns = ListingTurns()
    if !isRested || state == .waiting {
      for _ in 0..<CallPace.listings.burst {
        _ = turns.wanted(at: 0)
        _ = turns.ended()
      }
    }
    switch state {
    case .idle: break
    case .waiting: _ = turns.wanted(at: 0)
    case .failed: _ = turns.failed(isFollowed: false, Self.policy)
    case .running: _ = turns.wanted(at: 0)
    case .runningAndWanted: for _ in 0..<2 { _ = turns.wanted(at: 0) }
    }
    return turns
  }

  /// What each event in each state leads to, and what is to be done. Nil where the event can't come.
  private static let table: [State: [Event: (State, Step)]] = [
    .idle: [
      .wanted: (.running, .list), .wantedTooSoon: (.waiting, .wait(5_000)), .moment: (.idle, .nothing),
      .stopped: (.idle, .nothing), .failed: (.failed, .wait(pause)), .failedAndFollowed: (.idle, .nothing),
    ],
    .waiting: [
      .wanted: (.waiting, .nothing), .wantedTooSoon: (.waiting, .nothing), .moment: (.running, .list),
      .stopped: (.idle, .nothing),
    ],
    .failed: [
      .wanted: (.running, .list), .wantedTooSoon: (.waiting, .wait(5_000)), .moment: (.running, .list),
      .stopped: (.idle, .nothing),
    ],
    .running: [
      .wanted: (.runningAndWanted, .nothing), .moment: (.running, .nothing), .stopped: (.running, .nothing),
      .ended: (.idle, .nothing),
      .failed: (.running, .nothing),
    ],
    .runningAndWanted: [
      .wanted: (.runningAndWanted, .nothing), .moment: (.runningAndWanted, .nothing),
      .stopped: (.runningAndWanted, .nothing), .ended: (.idle, .list), .failed: (.runningAndWanted, .nothing),
    ],
  ]

  @Test(arguments: State.allCases, Event.allCases)
  func `each event in each state leads to the state in the table`(state: State, event: Event) {
    guard let (next, step) = Self.table[state]?[event] else { return }
    let isTooSoon = event == .wantedTooSoon
    var turns = turns(in: state, isRested: !isTooSoon)
    let done: Step
    switch event {
    case .wanted: done = turns.wanted(at: isTooSoon ? 0 : 5_000)
    case .wantedTooSoon: done = turns.wanted(at: 0)
    case .moment: done = turns.momentCame(at: 5_000)
    case .stopped:
      #expect(turns.stopped() == (state == .waiting || state == .failed))
      done = .nothing
    case .ended: done = turns.ended() ? .list : .nothing
    case .failed: done = turns.failed(isFollowed: false, Self.policy)
    case .failedAndFollowed: done = turns.failed(isFollowed: true, Self.policy)
    }
    #expect(turns.state == next)
    #expect(done == step)
  }

  @Test func `lists that fail again and again come later each time, and one that succeeds ends that`() {
    var turns = ListingTurns()
    var pauses: [Int64] = []
    for _ in 0..<3 {
      guard case .wait(let pause) = turns.failed(isFollowed: false, Self.policy) else {
        Issue.record("not repeated")
        return
      }
      pauses.append(pause)
      _ = turns.stopped()
    }
    #expect(pauses == (1...3).map { Self.policy.ceiling(afterFailures: $0) })
    turns.succeeded()
    #expect(turns.failed(isFollowed: false, Self.policy) == .wait(Self.pause))
  }
}
