/// What a policy did to the backend, and what that did to the purchases.
package struct FleetResult: Sendable, Encodable, Equatable {
  package var policy = ""
  package var devices = 0
  /// The highest load of a second after the fault, over the capacity.
  package var peakOverCapacity = 0.0
  /// Requests after the fault, over the purchases that were to be delivered then.
  package var amplification = 0.0
  /// Whether each purchase of the fault was delivered before the horizon.
  package var drains = false
  /// Seconds after the fault until that part of its purchases was delivered; nil where it never was.
  package var secondsTo50: Int?
  package var secondsTo90: Int?
  package var secondsTo99: Int?
  package var secondsTo100: Int?
  /// The least that 99 % could take with this capacity; nil if they were delivered during the fault.
  package var bestSecondsTo99: Int?
  /// The part of the purchases made during the drain that was delivered within a minute; nil where none was made.
  package var newServedWithinMinute: Double?
  package var requestsInFault = 0
  package var requestsAfter = 0
  package var requestsPerDevice = 0.0
  /// Requests that brought no purchase to the backend.
  package var wasted = 0
  package var purchases = 0
  package var delivered = 0
  package var pending = 0
  /// Purchases that the client forgot.
  package var dropped = 0
  package var wallSeconds = 0.0
  package var bytesPerDevice = 0.0
  /// Whether the run ended before the horizon, because it was interrupted.
  package var wasInterrupted = false

  package init() {}

  /// How many times as long as the capacity allows 99 % took; nil where they never were, or were before the fault's end.
  package var timeOverBest: Double? {
    guard let secondsTo99, let bestSecondsTo99 else { return nil }
    return Double(secondsTo99 + 1) / Double(bestSecondsTo99 + 1)
  }

  private enum Key: String, CodingKey {
    case policy, devices, peakOverCapacity, amplification, drains, secondsTo50, secondsTo90, secondsTo99
    case secondsTo100, bestSecondsTo99, timeOverBest, newServedWithinMinute, requestsInFault, requestsAfter,
      requestsPerDevice, wasted
    case purchases, delivered, pending, dropped, wallSeconds, bytesPerDevice, wasInterrupted, verdict
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(policy, forKey: .policy)
    try container.encode(drains, forKey: .drains)
    try container.encode(wasInterrupted, forKey: .wasInterrupted)
    try container.encode(FleetVerdict(self).kind.rawValue, forKey: .verdict)
    // Nil is written too, so that each line has the same fields.
    for (key, seconds) in [
      (Key.secondsTo50, secondsTo50), (.secondsTo90, secondsTo90), (.secondsTo99, secondsTo99),
      (.secondsTo100, secondsTo100), (.bestSecondsTo99, bestSecondsTo99),
    ] {
      try container.encode(seconds, forKey: key)
    }
    try container.encode(timeOverBest.map(Self.rounded), forKey: .timeOverBest)
    try container.encode(newServedWithinMinute.map(Self.rounded), forKey: .newServedWithinMinute)
    for (key, number) in [
      (Key.peakOverCapacity, peakOverCapacity), (.amplification, amplification), (.wallSeconds, wallSeconds),
      (.requestsPerDevice, requestsPerDevice), (.bytesPerDevice, bytesPerDevice),
    ] {
      try container.encode(Self.rounded(number), forKey: key)
    }
    for (key, count) in [
      (Key.devices, devices), (.requestsInFault, requestsInFault), (.requestsAfter, requestsAfter),
      (.wasted, wasted), (.purchases, purchases), (.delivered, delivered), (.pending, pending),
      (.dropped, dropped),
    ] {
      try container.encode(count, forKey: key)
    }
  }

  private static func rounded(_ number: Double) -> Double { (number * 10_000).rounded() / 10_000 }
}

/// Load and delivery over time, for a picture.
package struct FleetCurves: Sendable, Equatable {
  /// Seconds per point.
  package static let step = 60
  /// The highest load of a second in each minute.
  package var peak: [Int] = []
  /// Requests in each minute.
  package var offered: [Int] = []
  /// Purchases of the fault that were delivered by the end of each minute.
  package var delivered: [Int] = []

  package init() {}
}
