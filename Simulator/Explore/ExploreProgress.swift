import Exploration
import Foundation
import PurchaseSQLite

/// A line on standard error that shows the progress, on a terminal and once a second.
final class ExploreProgress: Sendable {
  private let limits: ExploreLimits
  private let isShown = Terminal.errorIsTerminal
  private let started = ProcessInfo.processInfo.systemUptime
  private let next = Locked(1.0)

  /// How many marks the simulation has.
  private let marks: Int

  init(_ limits: ExploreLimits, marks: Int) { (self.limits, self.marks) = (limits, marks) }

  func show(_ sum: RunSum) {
    guard isShown else { return }
    let seconds = ProcessInfo.processInfo.systemUptime - started
    let isTime = next.withLock { next in
      guard seconds >= next else { return false }
      next = seconds + 1
      return true
    }
    guard isTime else { return }
    Terminal.errorText("\r\u{1B}[K" + Self.words(sum, of: limits, marks: marks, after: seconds))
  }

  /// Before something else is written.
  func clear() { if isShown { Terminal.errorText("\r\u{1B}[K") } }

  /// `5120 seeds, 2560/s, 128000 purchases/s, 41 of 52 marks, 0 failed, 0:58 left`.
  static func words(_ sum: RunSum, of limits: ExploreLimits, marks: Int, after seconds: Double) -> String {
    func rate(_ count: Int) -> Int { Int(Double(count) / max(seconds, 0.001)) }
    var words =
      "\(sum.runs) seeds, \(rate(sum.runs))/s, \(rate(sum.figures.purchases)) purchases/s, "
      + "\(sum.marksHit) of \(marks) marks, \(sum.failures) failed"
    if let all = limits.seconds {
      words += ", " + clock(all - seconds) + " left"
    } else if let all = limits.seeds, sum.runs > 0 {
      words += ", " + clock(seconds / Double(sum.runs) * Double(all - UInt64(sum.runs))) + " left"
    }
    return words
  }

  /// `1:05`.
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(max(seconds, 0).rounded(.up))
    return "\(whole / 60):" + (whole % 60 < 10 ? "0" : "") + "\(whole % 60)"
  }
}
