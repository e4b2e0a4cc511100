import Dispatch
import Foundation
import PurchaseSQLite

/// The running exchanges, by the number of their task, and the clock that ends them.
///
/// On Linux, URLSession's own limits apply to pauses between bytes: an answer that drips would last forever.
/// One timer for all exchanges, set to the oldest deadline, costs a request nothing; a timer for each costs a
/// tenth of its time.
final class ExchangeTable: Sendable {
  private struct Row {
    var exchange: Exchange
    var deadline: DispatchTime
  }

  private struct State {
    var rows: [Int: Row] = [:]
    var isWatching = false
  }

  private let timeout: TimeInterval
  private let state = Locked(State())

  /// - Parameter timeout: Seconds for each exchange.
  init(timeout: TimeInterval) { self.timeout = timeout }

  /// Adds an exchange. Its time starts now.
  func add(_ exchange: Exchange, number: Int) {
    let deadline = DispatchTime.now() + timeout
    let watchesAlready = state.withLock { state in
      defer { state.isWatching = true }
      state.rows[number] = Row(exchange: exchange, deadline: deadline)
      return state.isWatching
    }
    // Later exchanges have later deadlines, so the running timer is early enough.
    if !watchesAlready { watch(at: deadline) }
  }

  func remove(number: Int) { state.withLock { $0.rows[number] = nil } }

  /// Nil after the caller has its answer; later callbacks are dropped.
  func exchange(number: Int) -> Exchange? { state.withLock { $0.rows[number]?.exchange } }

  private func watch(at moment: DispatchTime) {
    DispatchQueue.global().asyncAfter(deadline: moment) { [weak self] in self?.endOverdue() }
  }

  private func endOverdue() {
    let now = DispatchTime.now()
    let (overdue, next) = state.withLock { state in
      let next = state.rows.values.map(\.deadline).filter { $0 > now }.min()
      state.isWatching = next != nil
      return (state.rows.values.filter { $0.deadline <= now }, next)
    }
    if let next { watch(at: next) }
    for row in overdue {
      row.exchange.end(.failure(TransportError(.timedOut, reason: "no complete answer within \(timeout) s")))
    }
  }
}
