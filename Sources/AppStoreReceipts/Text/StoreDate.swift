/// Parses the dates of receipts and answers by their digits. A formatter would depend on the device's
/// calendar and language (StoreFacts pitfall 26).
enum StoreDate {
  /// The forms of dates that a field may have.
  enum Form {
    /// RFC 3339, `2024-02-29T23:59:59Z`, with two additions of real app receipts (StoreFacts b.4): a fraction
    /// of a second, of which milliseconds are kept, and a numeric offset with or without its colon (Xcode's
    /// `+0100`).
    case internet
    /// The text of `purchase-date` in an old transaction receipt, `2015-11-18 04:34:41 Etc/GMT` (StoreFacts a.5).
    case greenwich
    /// Both, and Los Angeles' time (`2017-03-07 06:21:49 America/Los_Angeles`), in every combination, and the
    /// dates of mail and HTTP (`Tue, 07 Mar 2017 14:21:49 GMT`, RFC 1123): found in `verifyReceipt` answers
    /// that other software has rewritten.
    case anyZone
  }

  /// Milliseconds since 1970; nil if the text has another form.
  static func milliseconds(_ text: String, _ form: Form) -> Int64? {
    let bytes = Array(text.utf8)
    let result = milliseconds(bytes, bytes.indices, form)
    guard result == nil, form == .anyZone, let internet = internetForm(ofMail: text) else { return result }
    return milliseconds(internet, .internet)
  }

  /// Milliseconds since 1970, from bytes.
  static func milliseconds(_ bytes: [UInt8], _ range: Range<Int>, _ form: Form = .internet) -> Int64? {
    guard var digits = DigitReader(bytes, range), let local = digits.dateAndTime(separators: form.separators)
    else { return nil }
    if form == .greenwich { return digits.takesRest(" Etc/GMT") ? local * 1_000 : nil }
    guard let fraction = digits.fraction() else { return nil }
    if form == .anyZone, let offset = digits.namedZone(local: local) {
      return (local - offset) * 1_000 + fraction
    }
    guard let offset = digits.offset(), digits.isAtEnd else { return nil }
    return (local - offset) * 1_000 + fraction
  }
}

extension StoreDate.Form {
  /// The characters between day and hour.
  fileprivate var separators: [UInt8] {
    switch self {
    case .internet: [0x54, 0x74]
    case .greenwich: [0x20]
    case .anyZone: [0x20, 0x54, 0x74]
    }
  }
}

/// Reads the parts of a date one after the other. A part that is missing or out of range gives nil.
private struct DigitReader {
  let bytes: [UInt8]
  var position: Int
  let end: Int
  /// The year of the date that was read last.
  private var year: Int64 = 0

  /// Refuses text shorter than `2024-02-29T23:59:59`.
  init?(_ bytes: [UInt8], _ range: Range<Int>) {
    guard range.count >= 19 else { return nil }
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { position == end }

  private mutating func number(_ count: Int, _ allowed: ClosedRange<Int64>) -> Int64? {
    guard end - position >= count else { return nil }
    var value: Int64 = 0
    for _ in 0..<count {
      let digit = bytes[position] &- 0x30
      guard digit < 10 else { return nil }
      value = value * 10 + Int64(digit)
      position += 1
    }
    return allowed.contains(value) ? value : nil
  }

  private mutating func skip(_ octet: UInt8) -> Bool {
    guard position < end, bytes[position] == octet else { return false }
    position += 1
    return true
  }

  /// Seconds since 1970, as if the time were in Greenwich.
  mutating func dateAndTime(separators: [UInt8]) -> Int64? {
    guard let year = number(4, 0...9999), skip(0x2D), let month = number(2, 1...12), skip(0x2D),
      let day = number(2, 1...31), day <= Self.length(ofMonth: month, year: year)
    else { return nil }
    self.year = year
    guard position < end, separators.contains(bytes[position]) else { return nil }
    position += 1
    // RFC 3339, 5.6: a second 60 exists. It is read as the first second of the next minute.
    guard let hour = number(2, 0...23), skip(0x3A), let minute = number(2, 0...59), skip(0x3A),
      let second = number(2, 0...60)
    else { return nil }
    return Self.days(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
  }

  /// The milliseconds of `.304`; 0 without a fraction. Digits after the third are cut off.
  mutating func fraction() -> Int64? {
    guard skip(0x2E) else { return 0 }
    var milliseconds: Int64 = 0
    var weight: Int64 = 100
    let start = position
    while position < end, bytes[position] &- 0x30 < 10 {
      milliseconds += Int64(bytes[position] &- 0x30) * weight
      weight /= 10
      position += 1
    }
    return position > start ? milliseconds : nil
  }

  /// The offset in seconds east of Greenwich.
  mutating func offset() -> Int64? {
    if skip(0x5A) || skip(0x7A) { return 0 }
    let isEast = skip(0x2B)
    guard isEast || skip(0x2D), let hours = number(2, 0...23) else { return nil }
    _ = skip(0x3A)
    guard let minutes = number(2, 0...59) else { return nil }
    return (hours * 3_600 + minutes * 60) * (isEast ? 1 : -1)
  }

  /// If the rest is this text, moves to the end and returns true.
  mutating func takesRest(_ text: StaticString) -> Bool {
    guard bytes[position..<end].elementsEqual(text.description.utf8) else { return false }
    position = end
    return true
  }

  /// The offset of a named zone, in seconds east of Greenwich. Skips a space before the name, even if no name
  /// follows.
  mutating func namedZone(local: Int64) -> Int64? {
    _ = skip(0x20)
    if takesRest("Etc/GMT") || takesRest("GMT") || takesRest("Etc/UTC") || takesRest("UTC") { return 0 }
    guard takesRest("America/Los_Angeles") else { return nil }
    return isSummer(local) ? -25_200 : -28_800
  }

  /// Los Angeles has daylight saving time from the second Sunday of March to the first Sunday of November, 2
  /// o'clock: the rule since 2007, before the App Store existed. In the hour that occurs twice, the first
  /// occurrence is used.
  private func isSummer(_ local: Int64) -> Bool {
    func sunday(_ number: Int64, month: Int64) -> Int64 {
      let first = Self.days(year: year, month: month, day: 1)
      // Day 0 was a Thursday; 3 days later was Sunday.
      let untilSunday = (((3 - first) % 7) + 7) % 7
      return ((first + untilSunday + (number - 1) * 7) * 24 + 2) * 3_600
    }
    return local >= sunday(2, month: 3) && local < sunday(1, month: 11)
  }

  private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970 in the Gregorian calendar. Years begin in March here, so that a leap day is the last of
  /// its year.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    // The year 0 may become -1. Adding 400 years, which always have 146,097 days, keeps the divisions
    // positive.
    let years = shifted + 400
    return years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - 146_097 - 719_468
  }
}
