import PurchaseSQLite

/// A moment of the wall clock, in milliseconds since 1970.
///
/// The clock of a device can jump, so no decision reads it: every call takes its moment as an argument.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// Milliseconds since 1970, UTC.
  public var milliseconds: Int64

  /// The moment `milliseconds` after 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The present moment by the system's clock.
  public static func wallClock() -> Timestamp { Timestamp(milliseconds: SystemClock.milliseconds()) }

  /// From a bare number of milliseconds, as in the wire protocol.
  public init(from decoder: any Decoder) throws {
    milliseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// As a bare number of milliseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }

  /// Earlier is smaller.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

  /// The moment `duration` later, in whole milliseconds. Saturates instead of overflowing.
  public func adding(_ duration: Duration) -> Timestamp { adding(milliseconds: duration.wholeMilliseconds) }

  /// The moment `delta` milliseconds later. Saturates instead of overflowing.
  package func adding(milliseconds delta: Int64) -> Timestamp {
    let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
    guard overflow else { return Timestamp(milliseconds: sum) }
    return Timestamp(milliseconds: delta > 0 ? .max : .min)
  }

  /// The milliseconds as text.
  public var description: String { "\(milliseconds) ms" }

  /// Date and time in UTC, to the second: `2026-11-21T07:00:00Z`.
  package var utc: String {
    // Days since 0000-03-01, by the civil calendar: http://howardhinnant.github.io/date_algorithms.html
    let seconds = Self.floored(milliseconds, 1_000)
    let (days, time) = (
      Self.floored(seconds, 86_400) + 719_468, seconds - Self.floored(seconds, 86_400) * 86_400
    )
    let era = Self.floored(days, 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let clock = [time / 3_600, time / 60 % 60, time % 60].map(Self.twoDigits).joined(separator: ":")
    return "\(Self.fourDigits(year))-\(Self.twoDigits(month))-\(Self.twoDigits(day))T\(clock)Z"
  }

  private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
    value / divisor - (value % divisor < 0 ? 1 : 0)
  }

  /// Pads to four digits, as ISO 8601 demands; longer years stay unchanged.
  private static func fourDigits(_ year: Int64) -> String {
    let digits = "\(year)"
    return year < 0 ? digits : String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

extension Duration {
  /// As `Task.sleep` takes it: not negative, and at most a hundred years, so that no clock overflows.
  package var sleepNanoseconds: UInt64 {
    UInt64(min(max(wholeMilliseconds, 0), 100 * 366 * 86_400_000)) * 1_000_000
  }

  /// The duration in milliseconds, rounded towards zero. Saturates instead of overflowing.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    guard !overflow else { return seconds > 0 ? .max : .min }
    let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    guard !isTooLarge else { return seconds > 0 ? .max : .min }
    return sum
  }
}
