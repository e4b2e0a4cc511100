package import PurchaseQueue

/// Reads how long a backend asks clients to wait.
///
/// The value is not trusted: `RetryPolicy` limits it to a day.
package enum RetryAfterField {
  /// The header `Retry-After` (RFC 9110 10.2.3) in milliseconds from now. It holds seconds, or a date in any
  /// of the three forms.
  ///
  /// A date is compared with the answer's own `Date`, because the device's clock may be wrong, or with `now`
  /// if there is none. A past date gives 0. Too many seconds for an `Int64` give its maximum. Any other text,
  /// such as `-1`, `soon` or two values, gives nil: the backend asked for no wait.
  package static func milliseconds(_ header: String, date: String?, now: Timestamp) -> Int64? {
    let text = header.drop(while: isBlank)
    let trimmed = text.prefix(
      upTo: text.lastIndex { !isBlank($0) }.map(text.index(after:)) ?? text.startIndex)
    if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // Only digits: nil means that the number is too large.
      let (product, overflow) = (Int64(trimmed) ?? .max).multipliedReportingOverflow(by: 1_000)
      return overflow ? .max : product
    }
    let sent = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
    guard let until = HTTPDate.parse(String(trimmed), now: sent) else { return nil }
    return max(0, until.milliseconds(since: sent))
  }

  /// A verdict's `retryAfter` in milliseconds; nil if it is negative or not a number.
  package static func milliseconds(seconds: Double) -> Int64? {
    guard seconds >= 0 else { return nil }
    // 2^53 milliseconds are 285,000 years. Above that, a Double cannot hold single milliseconds.
    return Int64(min(seconds * 1_000, 9_007_199_254_740_992))
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}

/// Parses the three forms of an HTTP date (RFC 9110 5.6.7) by their digits, without the device's calendar and
/// locale.
package enum HTTPDate {
  /// The moment; nil unless the text has one of the forms
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  ///
  /// The name of the day is not checked. `now` decides the century of a year of two digits: a year more than
  /// 50 years ahead is taken as past.
  package static func parse(_ text: String, now: Timestamp) -> Timestamp? {
    guard text.utf8.count <= 40 else { return nil }
    let words = text.split { $0 == " " || $0 == "\t" }
    switch words.count {
    case 6: return moment(day: words[1], month: words[2], year: words[3], time: words[4], zone: words[5])
    case 5: return moment(day: words[2], month: words[1], year: words[4], time: words[3], zone: "GMT")
    case 4:
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard date.count == 3, date[2].utf8.count == 2, let short = number(date[2], 0...99) else { return nil }
      let year = String(10_000 + fullYear(short, now: now)).dropFirst()
      return moment(day: date[0], month: date[1], year: year, time: words[2], zone: words[3])
    default: return nil
    }
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func moment(
    day: Substring, month: Substring, year: Substring, time: Substring, zone: Substring
  ) -> Timestamp? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard zone == "GMT", clock.count == 3, year.utf8.count == 4,
      let month = months.firstIndex(of: String(month)),
      let year = number(year, 1...9_999), let day = number(day, 1...31),
      let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
      // A leap second is read as the first second of the next minute.
      let second = number(clock[2], 0...60)
    else { return nil }
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month] else { return nil }
    let leapDays = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400
    // Counted from the first day of the year 1; 1970 began 719,162 days later.
    let days = (year - 1) * 365 + leapDays + lengths[..<month].reduce(0, +) + day - 1 - 719_162
    return Timestamp(milliseconds: ((days * 24 + hour) * 3_600 + minute * 60 + second) * 1_000)
  }

  private static func fullYear(_ short: Int64, now: Timestamp) -> Int64 {
    // Precise enough for a comparison with 50 years.
    let thisYear = min(max(1_970 + now.milliseconds / 31_556_952_000, 1), 9_899)
    let year = thisYear / 100 * 100 + short
    return year > thisYear + 50 ? year - 100 : year
  }

  /// Accepts only digits, at most four.
  private static func number(_ text: Substring, _ allowed: ClosedRange<Int64>) -> Int64? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let value = Int64(text), allowed.contains(value)
    else { return nil }
    return value
  }
}
