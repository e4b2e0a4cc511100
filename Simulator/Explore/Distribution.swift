import FaultInjection

/// How often something was how large.
struct Distribution: Encodable, Equatable {
  var name: String
  /// What the labels are in.
  var unit: String
  /// From the smallest to the largest that occurred.
  var bars: [Bar]
  var count: Int
  var median: String
  /// Of a hundred, at most one is beyond.
  var almostAll: String
  var most: String

  struct Bar: Encodable, Equatable {
    var label: String
    var count: Int
  }

  /// - Parameter labels: One for each of `counts`.
  private init(_ name: String, _ unit: String, _ counts: [Int], most: String, label: (Int) -> String) {
    self.name = name
    self.unit = unit
    self.most = most
    let used = counts.lastIndex { $0 > 0 }
    bars = used.map { last in (0...last).map { Bar(label: label($0), count: counts[$0]) } } ?? []
    let all = counts.reduce(0, +)
    func quantile(_ percent: Int) -> String {
      var sum = 0
      for (index, count) in counts.enumerated() where all > 0 {
        sum += count
        if sum * 100 >= all * percent { return label(index) }
      }
      return "none"
    }
    count = all
    median = quantile(50)
    almostAll = quantile(99)
    if all == 0 { self.most = "none" }
  }

  /// Time to delivery, attempts, and the length of a queue.
  static func all(of figures: FaultInjection.Figures) -> [Distribution] {
    let (attempts, lengths) = (figures.attempts.count, figures.lengths.count - 1)
    return [
      Distribution(
        "time to delivery", "from the charge to the verdict on the phone, days and h:mm:ss",
        figures.deliveries, most: clock(figures.longestDelivery / 1_000)
      ) {
        $0 == figures.deliveries.count - 1 ? "\(clock(1 << ($0 - 1))) and more" : "under \(clock(1 << $0))"
      },
      Distribution("attempts", "of what was granted", figures.attempts, most: String(figures.mostAttempts)) {
        $0 == attempts - 1 ? "\(attempts) and more" : String($0 + 1)
      },
      Distribution(
        "queue length", "entries that were there when one more came", figures.lengths,
        most: String(figures.longestQueue)
      ) { $0 == lengths ? "\(lengths) and more" : String($0) },
    ]
  }

  /// `8 s`, `0:01:04`, `1 day 12:24:32`.
  static func clock(_ seconds: Int64) -> String {
    guard seconds >= 60 else { return "\(seconds) s" }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
    let time = "\(seconds / 3_600 % 24):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    let days = seconds / 86_400
    return days == 0 ? time : "\(days) day\(days == 1 ? "" : "s") \(time)"
  }
}
