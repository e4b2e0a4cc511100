import Dispatch
import Foundation

/// The exchanges that are under way, by the number of their task, and the clock that ends them.
///
/// URLSession's own limits are for pauses between bytes on Linux: an answer that drips would last for ever. One look at
/// all of them when the oldest may be due costs a request nothing; a timer for each costs a tenth of its time.
final class ExchangeTable: @unchecked Sendable {
  private struct Row {
    var exchange: Exchange
    var deadline: DispatchTime
  }

  private let timeout: TimeInterval
  private let lock = NSLock()
  private var rows: [Int: Row] = [:]
  private var isWatching = false

  /// - Parameter timeout: Seconds for each exchange.
  init(timeout: TimeInterval) { self.timeout = timeout }

  /// From here on its time runs.
  func add(_ exchange: Exchange, number: Int) {
    let deadline = DispatchTime.now() + timeout
    lock.lock()
    rows[number] = Row(exchange: exchange, deadline: deadline)
    let watchesAlready = isWatching
    isWatching = true
    lock.unlock()
    // Later ones are due later, so there is nothing to hurry up.
    if !watchesAlready { watch(at: deadline) }
  }

  func remove(number: Int) {
    lock.lock()
    rows[number] = nil
    lock.unlock()
  }

  /// Nil once the caller has its answer: what comes later is nobody's.
  func exchange(number: Int) -> Exchange? {
    lock.lock()
    defer { lock.unlock() }
    return rows[number]?.exchange
  }

  private func watch(at moment: DispatchTime) {
    DispatchQueue.global().asyncAfter(deadline: moment) { [weak self] in self?.endOverdue() }
  }

  private func endOverdue() {
    let now = DispatchTime.now()
    lock.lock()
    let overdue = rows.values.filter { $0.deadline <= now }
    let next = rows.values.map(\.deadline).filter { $0 > now }.min()
    isWatching = next != nil
    lock.unlock()
    if let next { watch(at: next) }
    for row in overdue {
      row.exchange.end(.failure(TransportError(.timedOut, reason: "no whole answer within \(timeout) s")))
    }
  }
}
