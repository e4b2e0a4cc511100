/// Numbers and columns as text, without a locale.
enum BenchText {
  /// With so many digits after the decimal point.
  static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "\(value)" }
    let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((value.magnitude * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  /// Aligned to the left.
  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Aligned to the right.
  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  static let figuresHeader =
    "  " + left("", 20)
    + ["enqueue/s", "p50 us", "p99 us", "ack/s", "p50 us", "p99 us"].map { right($0, 11) }.joined()

  static func row(_ line: SubjectFigures) -> String {
    "  " + left(line.subject, 20) + cells(line.enqueue) + cells(line.acknowledge)
  }

  static func row(_ bar: Bar) -> String {
    "  " + left("\(bar.number)", 4) + left(bar.what, 58) + right(bar.measuredText, 10)
      + right(bar.limitText, 13) + "  " + bar.verdictText
  }

  private static func cells(_ figures: Figures?) -> String {
    guard let figures else { return (0..<3).map { _ in right("-", 11) }.joined() }
    return right(fixed(figures.perSecond, 0), 11) + right(fixed(figures.p50, 1), 11)
      + right(fixed(figures.p99, 1), 11)
  }
}
