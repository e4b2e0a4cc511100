import FaultInjection
import Foundation

/// A line on standard error that says how far an exploration is; only on a terminal, and once a second.
final class ExploreProgress: Sendable {
  private let limits: ExploreLimits
  private let isShown = Terminal.errorIsTerminal
  private let started = ProcessInfo.processInfo.systemUptime
  private let lock = NSLock()
  private nonisolated(unsafe) var next = 1.0

  init(_ limits: ExploreLimits) { self.limits = limits }

  func show(_ sum: ExplorationSum) {
    guard isShown else { return }
    let seconds = ProcessInfo.processInfo.systemUptime - started
    let isTime = lock.withLock {
      guard seconds >= (unsafe next) else { return false }
      unsafe next = seconds + 1
      return true
    }
    guard isTime else { return }
    Terminal.errorText("\r\u{1B}[K" + Self.words(sum, of: limits, after: seconds))
  }

  /// Before something else is written.
  func clear() { if isShown { Terminal.errorText("\r\u{1B}[K") } }

  /// `5120 seeds, 2560/s, 128000 purchases/s, 41 of 52 marks, 0 failed, 0:58 left`.
  static func words(_ sum: ExplorationSum, of limits: ExploreLimits, after seconds: Double) -> String {
    func rate(_ count: Int) -> Int { Int(Double(count) / max(seconds, 0.001)) }
    var words =
      "\(sum.seeds) seeds, \(rate(sum.seeds))/s, \(rate(sum.figures.purchases)) purchases/s, "
      + "\(sum.marksHit) of \(Mark.allCases.count) marks, \(sum.failures) failed"
    if let all = limits.seconds {
      words += ", " + clock(all - seconds) + " left"
    } else if let all = limits.seeds, sum.seeds > 0 {
      words += ", " + clock(seconds / Double(sum.seeds) * Double(all - UInt64(sum.seeds))) + " left"
    }
    return words
  }

  /// `1:05`.
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(max(seconds, 0).rounded(.up))
    return "\(whole / 60):" + (whole % 60 < 10 ? "0" : "") + "\(whole % 60)"
  }
}
