import CommandLineTools
import Fleet
import Foundation

/// The results as text, a row per policy.
enum FleetTable {
  static let header = [
    "policy", "peak/C", "req/purchase", "50 %", "99 %", "99 %/best", "100 %", "new <1 min", "wasted",
  ]

  static func lines(_ results: [FleetResult]) -> [String] {
    return TextTable.lines([header] + results.map(row))
      + [""] + results.map { $0.policy + ": " + FleetVerdict($0).words }
  }

  static func row(_ result: FleetResult) -> [String] {
    [
      result.policy, decimal(result.peakOverCapacity), decimal(result.amplification),
      time(result.secondsTo50), time(result.secondsTo99), result.timeOverBest.map { decimal($0) } ?? "–",
      time(result.secondsTo100),
      result.newServedWithinMinute.map { decimal($0 * 100, 1) + " %" } ?? "none made",
      "\(result.wasted)",
    ]
  }

  static func decimal(_ number: Double, _ digits: Int = 2) -> String {
    String(format: "%.\(digits)f", number)
  }

  static func time(_ seconds: Int?) -> String {
    guard let seconds else { return "never" }
    return seconds < 120 ? "\(seconds) s" : "\((seconds + 30) / 60) min"
  }
}
