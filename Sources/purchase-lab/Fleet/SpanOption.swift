import CommandLineTools

/// A length of time on the command line, with its unit: `30s`, `90m`, `4h`, `1d`.
enum SpanOption {
  private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

  /// In whole seconds. The error has a line that works.
  static func seconds(_ text: String, of option: String) throws(UsageError) -> Int {
    guard let last = text.last, let unit = units[last], let count = Int(text.dropLast()), count >= 0,
      !count.multipliedReportingOverflow(by: unit).overflow
    else {
      let example = Int(text).map { $0 > 0 ? "\(option) \($0)s, or \(option) \($0)m" : nil } ?? nil
      throw UsageError(
        message: "\(option) needs a whole number with a unit, s, m, h or d, not '\(text)'; this works: "
          + (example ?? "\(option) 4h"))
    }
    return count * unit
  }

  /// `4 h`, `90 min`, `45 s`.
  static func words(_ seconds: Int) -> String {
    if seconds > 0, seconds.isMultiple(of: 3_600) { return "\(seconds / 3_600) h" }
    if seconds > 0, seconds.isMultiple(of: 60) { return "\(seconds / 60) min" }
    return "\(seconds) s"
  }
}
