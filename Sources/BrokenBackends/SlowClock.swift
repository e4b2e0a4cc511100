import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting

/// The system's clock, with drawn pauses: as if the machine had other work between two requests, and within one. So a
/// planted bug that is found only when requests follow at once, or in one second, shows on every machine.
package final class SlowClock: Sendable {
  private struct State {
    var generator: SplitMix64
    var ahead: Int64 = 0
  }

  private let state: Locked<State>

  package init(seed: UInt64) { state = Locked(State(generator: SplitMix64(seed: seed))) }

  /// The time now. Every fourth look comes after a pause, on average. Safe on any thread.
  func now() -> Timestamp {
    let ahead = state.withLock { state in
      if Int.random(in: 0..<4, using: &state.generator) == 0 {
        state.ahead += Int64.random(in: 20...1_500, using: &state.generator)
      }
      return state.ahead
    }
    return Timestamp.wallClock().adding(milliseconds: ahead)
  }
}
