/// One bar: a measured value, and the limit that it has to keep.
struct Bar: Equatable, Encodable {
  enum Bound: Equatable {
    case atLeast(Double)
    case atMost(Double)
  }

  enum Unit: String, Encodable {
    /// A ratio of two measurements of the same run.
    case times
    /// Per operation, or simply a number.
    case count
    case megabytes
    case milliseconds
    case perSecond
  }

  var number: Int
  var what: String
  var unit = Unit.times
  /// Nil if it could not be measured here; `reason` says why.
  var measured: Double?
  var bound: Bound
  var reason: String?
  /// The smallest and the largest value of the repetitions, if there were any: it shows whether a near miss matters.
  var spread: ClosedRange<Double>?

  /// Nil if it was not measured: neither kept nor missed.
  var isKept: Bool? {
    measured.map { measured in
      switch bound {
      case .atLeast(let limit): measured >= limit
      case .atMost(let limit): measured <= limit
      }
    }
  }

  /// The median of ratios that were measured several times.
  static func times(
    _ number: Int, _ what: String, _ ratios: [Double], _ bound: Bound
  ) throws(BenchError) -> Bar {
    try median(number, what, ratios, bound, .times)
  }

  /// The median of values that were measured several times.
  static func median(
    _ number: Int, _ what: String, _ values: [Double], _ bound: Bound, _ unit: Unit
  ) throws(BenchError) -> Bar {
    let median = try Statistics.median(values)
    return Bar(
      number: number, what: what, unit: unit, measured: median, bound: bound,
      spread: (values.min() ?? median)...(values.max() ?? median))
  }

  static func missed(_ bars: [Bar]) -> [Bar] { bars.filter { $0.isKept == false } }

  private enum Key: String, CodingKey { case number, what, unit, measured, bar, ok, reason, lowest, highest }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(number, forKey: .number)
    try container.encode(what, forKey: .what)
    try container.encode(unit, forKey: .unit)
    // Nil is written too, so that each row of the document has the same keys.
    try container.encode(measured, forKey: .measured)
    try container.encode(limitText, forKey: .bar)
    try container.encode(isKept, forKey: .ok)
    try container.encode(reason, forKey: .reason)
    try container.encode(spread?.lowerBound, forKey: .lowest)
    try container.encode(spread?.upperBound, forKey: .highest)
  }
}

extension Bar {
  /// Such as ">= 0.90x".
  var limitText: String {
    switch bound {
    case .atLeast(let limit): ">= " + text(limit)
    case .atMost(let limit): "<= " + text(limit)
    }
  }

  var measuredText: String { measured.map(text) ?? "-" }

  var verdictText: String {
    let range = spread.map { "  (\(text($0.lowerBound)) to \(text($0.upperBound)))" } ?? ""
    switch isKept {
    case true?: return range.isEmpty ? "ok" : "ok    " + range
    case false?: return "MISSED" + range
    case nil: return "not measured: " + (reason ?? "no reason given")
    }
  }

  private func text(_ value: Double) -> String {
    switch unit {
    case .times: BenchText.fixed(value, 2) + "x"
    case .count: BenchText.fixed(value, 3)
    case .megabytes: BenchText.fixed(value, 2) + " MB"
    case .milliseconds: BenchText.fixed(value, 2) + " ms"
    case .perSecond: BenchText.fixed(value, 0) + "/s"
    }
  }
}
