import Foundation
import PurchaseSQLite

/// A line on standard error that shows how far the work is; only on a terminal.
package final class ProgressLine: Sendable {
  private let isShown = Terminal.errorIsTerminal
  private let started = ProcessInfo.processInfo.systemUptime
  private let next: Locked<Double>
  private let pause: Double

  /// - Parameter pause: The seconds between two lines. The first comes after as long.
  package init(every pause: Double = 1) { (self.pause, next) = (pause, Locked(pause)) }

  /// `words` gets the seconds since the beginning.
  package func show(_ words: (_ seconds: Double) -> String) {
    guard isShown else { return }
    let seconds = ProcessInfo.processInfo.systemUptime - started
    let isTime = next.withLock { next in
      guard seconds >= next else { return false }
      next = seconds + pause
      return true
    }
    if isTime { Terminal.errorText("\r\u{1B}[K" + words(seconds)) }
  }

  /// Before something else is written.
  package func clear() { if isShown { Terminal.errorText("\r\u{1B}[K") } }
}
