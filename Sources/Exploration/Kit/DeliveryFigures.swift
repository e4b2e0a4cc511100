/// How long deliveries took in one run or in many, and how long the queues were.
package struct DeliveryFigures: Sendable, Hashable, Codable {
  /// From the charge to the settling verdict on the phone, by whole seconds: none, 1, 2 and 3, 4 to 7, and so on; in the
  /// last, 2^22 seconds and more.
  package var deliveries = [Int](repeating: 0, count: 24)
  /// Attempts that an entry took: 1, 2, … the last for more.
  package var attempts = [Int](repeating: 0, count: 16)
  /// Entries in a queue when one more arrived: 0, 1, … the last for more.
  package var lengths = [Int](repeating: 0, count: 65)
  /// In milliseconds.
  package var longestDelivery: Int64 = 0
  package var mostAttempts = 0
  package var longestQueue = 0
  package var purchases = 0

  package init() {}

  package mutating func delivered(after milliseconds: Int64, attempts count: Int) {
    let seconds = UInt64(max(milliseconds, 0) / 1_000)
    deliveries[min(23, 64 - seconds.leadingZeroBitCount)] += 1
    attempts[min(15, max(count, 1) - 1)] += 1
    longestDelivery = max(longestDelivery, milliseconds)
    mostAttempts = max(mostAttempts, count)
  }

  package mutating func queued(behind count: Int) {
    lengths[min(64, max(0, count))] += 1
    longestQueue = max(longestQueue, count)
  }

  package mutating func add(_ other: DeliveryFigures) {
    for index in deliveries.indices { deliveries[index] += other.deliveries[index] }
    for index in attempts.indices { attempts[index] += other.attempts[index] }
    for index in lengths.indices { lengths[index] += other.lengths[index] }
    longestDelivery = max(longestDelivery, other.longestDelivery)
    mostAttempts = max(mostAttempts, other.mostAttempts)
    longestQueue = max(longestQueue, other.longestQueue)
    purchases += other.purchases
  }
}

/// What happens in a run, a line for each event.
package struct Trace: Sendable {
  package private(set) var lines: [String] = []

  package init() {}

  mutating func add(_ line: String, at now: Int64, event: Int) {
    lines.append("\(Self.moment(now))  \(line)")
  }

  /// A moment of virtual time, for a person.
  package static func moment(_ now: Int64) -> String {
    let seconds = now / 1_000
    let clock = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
    let thousandths = String(String(1_000 + now % 1_000).dropFirst())
    return "day \(seconds / 86_400) \(clock).\(thousandths)"
  }
}
