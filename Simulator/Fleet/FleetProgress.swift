import Foundation
import PurchaseSQLite

/// A line on standard error that shows how far a run is, on a terminal and once a second.
final class FleetProgress: Sendable {
  private let policy: String
  private let horizon: Int
  private let isShown = Terminal.errorIsTerminal
  private let started = ProcessInfo.processInfo.systemUptime
  private let next = Locked(1.0)

  init(_ policy: String, horizon: Int) { (self.policy, self.horizon) = (policy, horizon) }

  func show(_ second: Int) {
    guard isShown else { return }
    let seconds = ProcessInfo.processInfo.systemUptime - started
    let isTime = next.withLock { next in
      guard seconds >= next else { return false }
      next = seconds + 1
      return true
    }
    guard isTime else { return }
    Terminal.errorText("\r\u{1B}[K\(policy): \(second * 100 / max(horizon, 1)) %, \(Int(seconds)) s")
  }

  /// Before something else is written.
  func clear() { if isShown { Terminal.errorText("\r\u{1B}[K") } }
}
