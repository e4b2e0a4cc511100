import Exploration

/// How often a measured value was how large.
struct Distribution: Encodable, Equatable {
  var name: String
  /// The unit of the labels.
  var unit: String
  /// From the smallest to the largest that occurred.
  var bars: [Bar]
  var count: Int
  var median: String
  /// At most one of a hundred values is larger.
  var almostAll: String
  var most: String

  struct Bar: Encodable, Equatable {
    var label: String
    var count: Int
  }

  /// - Parameters:
  ///   - groups: Where bars begin that hold several of `counts`; none: one for each.
  ///   - label: Of one of `counts`.
  private init(
    _ name: String, _ unit: String, _ counts: [Int], most: String, groups: [Int]? = nil,
    label: (Int) -> String
  ) {
    self.name = name
    self.unit = unit
    self.most = most
    let begins = groups ?? Array(counts.indices)
    let ends = begins.dropFirst() + [counts.count]
    bars = zip(begins, ends).map { begin, end in
      let isOne = end == begin + 1
      return Bar(
        label: isOne ? label(begin) : "\(label(begin)) to \(label(end - 1))",
        count: counts[begin..<end].reduce(0, +))
    }
    bars.removeLast(bars.reversed().prefix { $0.count == 0 }.count)
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
  static func all(of figures: DeliveryFigures) -> [Distribution] {
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
        most: String(figures.longestQueue), groups: Array(0..<8) + [8, 12, 16, 24, 32, 48, lengths]
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
