import Foundation
import PurchaseQueue

/// The clock of a run: it goes faster than time, and alike in each process. Store, backend and phones have it, so that the
/// delays of production pass with their own lengths in less time, and no number of a policy is rounded.
struct FastClock: Equatable, Sendable {
  /// What it showed at `since`.
  private(set) var start: Timestamp
  /// In seconds of the system's uptime.
  private(set) var since: Double
  /// How many seconds pass in one.
  let rate: Int64

  init(rate: Int64, from start: Timestamp = .wallClock()) {
    (self.start, since, self.rate) = (start, Self.uptime, max(1, rate))
  }

  /// As another process has it. Nil for text that is not of `words`.
  init?(words: String) {
    let parts = words.split(separator: ":")
    guard parts.count == 3, let start = Int64(parts[0]), let since = Double(parts[1]),
      let rate = Int64(parts[2]), rate > 0
    else { return nil }
    (self.start, self.since, self.rate) = (Timestamp(milliseconds: start), since, rate)
  }

  /// For another process.
  var words: String { "\(start.milliseconds):\(since):\(rate)" }

  /// The system's uptime, the same clock in every process.
  static var uptime: Double { ProcessInfo.processInfo.systemUptime }

  func now() -> Timestamp { shown(at: Self.uptime) }

  func shown(at uptime: Double) -> Timestamp {
    start.adding(milliseconds: Int64((uptime - since) * 1_000 * Double(rate)))
  }

  /// The real length of so many of its milliseconds, in seconds.
  func realSeconds(of milliseconds: Int64) -> Double { Double(milliseconds) / 1_000 / Double(rate) }
}
