/// The dates that stores write as text, read by hand: a formatter would follow the device's calendar and
/// language (receipt-facts.md, pitfall 26).
enum DateText {
  /// Milliseconds since 1970 of `2017-03-07 14:21:49 Etc/GMT`, `2017-03-07 06:21:49 America/Los_Angeles`,
  /// `2017-03-07T14:21:49Z`, `….304Z` or `2020-07-22T18:33:15+0100`; nil for any other form.
  ///
  /// Los Angeles is on daylight saving time from the second Sunday of March to the first of November, 2
  /// o'clock: the rule since 2007, before the App Store. Of the hour that comes twice, the first is meant.
  static func milliseconds(_ text: String) -> Int64? {
    var reader = Reader(bytes: Array(text.utf8))
    guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
      let day = reader.digits(2), reader.take(" ") || reader.take("T"), let hour = reader.digits(2),
      reader.take(":"), let minute = reader.digits(2), reader.take(":"), let second = reader.digits(2),
      1...12 ~= month, 1...daysIn(month: month, year: year) ~= day, hour < 24, minute < 60, second < 61
    else { return nil }
    let fraction = reader.fraction()
    let days = daysSince1970(year: year, month: month, day: day)
    let local = ((days * 24 + hour) * 60 + minute) * 60 + second
    guard let offset = offset(reader.rest, year: year, local: local) else { return nil }
    return (local - offset) * 1_000 + fraction
  }

  /// Seconds east of Greenwich.
  private static func offset(_ zone: String, year: Int64, local: Int64) -> Int64? {
    switch zone {
    case "Etc/GMT", "GMT", "UTC", "Etc/UTC", "Z": return 0
    case "America/Los_Angeles": return isSummer(year: year, local: local) ? -25_200 : -28_800
    default: break
    }
    var reader = Reader(bytes: Array(zone.utf8))
    let sign: Int64
    if reader.take("+") { sign = 1 } else if reader.take("-") { sign = -1 } else { return nil }
    guard let hours = reader.digits(2), hours < 24 else { return nil }
    _ = reader.take(":")
    guard let minutes = reader.digits(2), minutes < 60, reader.rest.isEmpty else { return nil }
    return sign * (hours * 60 + minutes) * 60
  }

  private static func isSummer(year: Int64, local: Int64) -> Bool {
    func sunday(_ number: Int64, month: Int64) -> Int64 {
      let first = daysSince1970(year: year, month: month, day: 1)
      // Day 0 was a Thursday; 3 days later was Sunday.
      let untilSunday = (((3 - first) % 7) + 7) % 7
      return ((first + untilSunday + (number - 1) * 7) * 24 + 2) * 3_600
    }
    return local >= sunday(2, month: 3) && local < sunday(1, month: 11)
  }

  private static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days of the proleptic Gregorian calendar, by counting years from March, so that the leap day comes last.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month > 2 ? year : year - 1
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let leaps = floor(shifted, 4) - floor(shifted, 100) + floor(shifted, 400)
    // 719,468 days lie between the first of March of the year 0 and the first of January 1970.
    return shifted * 365 + leaps + dayOfYear - 719_468
  }

  private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
    value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
  }

  private struct Reader {
    var bytes: [UInt8]
    var position = 0

    mutating func digits(_ count: Int) -> Int64? {
      guard position + count <= bytes.count else { return nil }
      var result: Int64 = 0
      for byte in bytes[position..<(position + count)] {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        result = result * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      position += count
      return result
    }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
      guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
      position += 1
      return true
    }

    /// Milliseconds of `.304`; digits beyond the third are cut off.
    mutating func fraction() -> Int64 {
      guard take(".") else { return 0 }
      var result: Int64 = 0
      var unit: Int64 = 100
      while let digit = digits(1) {
        result += digit * unit
        unit /= 10
      }
      return result
    }

    /// What is left, without the space before it.
    var rest: String {
      var start = position
      if start < bytes.count, bytes[start] == 0x20 { start += 1 }
      return String(decoding: bytes[start...], as: UTF8.self)
    }
  }
}
