extension JSONFields {
  /// Moments from the year 0 to the year 9999, the last one exclusive, in milliseconds since 1970. Xcode writes
  /// moments of the year 1 (StoreFacts c.2).
  private static let moments: Range<Int64> = -62_167_219_200_000..<253_402_300_800_000

  /// Takes milliseconds as a JSON number; Xcode's fraction is cut off (StoreFacts c.2).
  package mutating func milliseconds(_ name: String) throws(ReceiptDecodingError) -> Int64? {
    guard let value = try take(name) else { return nil }
    if case .string = value { return try refused(name, "milliseconds since 1970, a number", value) }
    if let result = Self.milliseconds(value) { return result }
    guard case .integer = value else {
      return try refused(name, "milliseconds since 1970 within 64 bits", value)
    }
    return try refused(name, "milliseconds since 1970, up to the year 9999", found: Self.found(value))
  }

  /// Takes the first readable one of several spellings of one moment. All of them count as known. A lenient
  /// reader also names an unreadable spelling next to a readable one.
  package mutating func date(_ names: String...) throws(ReceiptDecodingError) -> Int64? {
    let expected = "a date up to the year 9999: milliseconds, or a text with a known time zone"
    var unreadable: (name: String, value: JSONValue)?
    var result: Int64?
    for name in names {
      guard result == nil else {
        _ = offset(name)
        continue
      }
      guard let value = try take(name), value != .string("") else { continue }
      result = Self.milliseconds(value)
      if result == nil, unreadable == nil { unreadable = (name, value) }
    }
    guard let unreadable else { return result }
    let found = Self.found(unreadable.value)
    if result == nil { return try refused(unreadable.name, expected, found: found) }
    _ = source.findings?.takes(.field(path(of: unreadable.name), expected, found: found))
    return result
  }

  private static func milliseconds(_ value: JSONValue) -> Int64? {
    let result: Int64?
    switch value {
    case .integer(let integer): result = integer
    case .number(let number):
      // A longer number is no date, and slow to parse.
      guard number.utf8.count <= 64, let double = Double(number) else { return nil }
      result = Int64(exactly: double.rounded(.towardZero))
    case .string(let text): result = Int64(text) ?? StoreDate.milliseconds(text, .anyZone)
    default: return nil
    }
    guard let result, moments.contains(result) else { return nil }
    return result
  }

  private static func found(_ value: JSONValue) -> String {
    switch value {
    case .integer, .number: return "a number outside of these years"
    case .string(let text) where Int64(text) != nil: return "a number outside of these years"
    default: return value.found
    }
  }
}
