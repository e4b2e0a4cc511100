/// The top level of a property list whose values are texts. An old transaction receipt has no other values.
///
/// FoundationEssentials has a property list decoder, which is not used. Its XML reader calls itself for each
/// level, so that 10,000 levels (150 KB) end the process, and it does not report where a list is damaged. Its
/// readers of text (at most 512 levels) and of binary lists are bounded. `Tests/Fuzz/foundation` shows it
/// (Swift 6.3.1).
///
/// The first bytes distinguish three forms: NeXTSTEP text (the only one that the App Store wrote, StoreFacts
/// a.7), XML, and binary. Tools convert the first into the others.
struct PropertyList {
  /// Lists with more fields are refused. The largest known receipt has 26.
  static let maximumFieldCount = 256

  /// The fields in the order of the list. A key may occur twice.
  var fields: [ReceiptField] = []

  init(_ bytes: [UInt8], part: String? = nil) throws(ReceiptDecodingError) {
    let cursor = ByteCursor(bytes, part: part)
    if bytes.starts(with: "bplist0".utf8) {
      fields = try BinaryPropertyList.fields(cursor)
    } else if let first = cursor.firstMeaningful, first == UInt8(ascii: "<") {
      var reader = XMLPropertyList(cursor)
      fields = try reader.fields()
    } else {
      var reader = TextPropertyList(cursor)
      fields = try reader.fields()
    }
  }
}

/// A position in the bytes of a text, with errors that contain it.
struct ByteCursor {
  let bytes: [UInt8]
  var position = 0
  /// The name of the bytes in error locations; nil if they are the caller's own.
  let part: String?

  init(_ bytes: [UInt8], part: String?) {
    self.bytes = bytes
    self.part = part
  }

  /// Whether nothing follows but white space and the NULs that a string of C has.
  var isAtEnd: Bool { bytes[position...].allSatisfy { $0 == 0 || Base64Octets.isSpace($0) } }

  var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  func failure(
    _ expected: String, at offset: Int? = nil, _ reason: ReceiptDecodingError.Reason = .malformed
  ) -> ReceiptDecodingError {
    DERReader(bytes, part: part).failure(expected, at: offset ?? position, reason)
  }

  /// The error that something is missing here: truncated at the end of the bytes, otherwise malformed.
  func missing(_ expected: String) -> ReceiptDecodingError {
    failure(expected, at: position, position < bytes.count ? .malformed : .truncated)
  }

  /// The first byte that is neither white space nor part of a byte order mark.
  var firstMeaningful: UInt8? {
    var copy = self
    copy.skipByteOrderMark()
    copy.skipWhiteSpace()
    return copy.current
  }

  mutating func skipByteOrderMark() {
    if bytes[position...].starts(with: [0xEF, 0xBB, 0xBF]) { position += 3 }
  }

  mutating func skipWhiteSpace() {
    while let octet = current, octet == 0x20 || (0x09...0x0D).contains(octet) { position += 1 }
  }

  /// Moves after these bytes and returns true, if they come next.
  mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    let next = bytes[position..<position + count]
    guard next.elementsEqual(text.description.utf8) else { return false }
    position += count
    return true
  }

  /// Moves after the next occurrence of these bytes. Returns the range before it.
  mutating func skip(through end: StaticString) throws(ReceiptDecodingError) -> Range<Int> {
    let pattern = Array(end.description.utf8)
    let start = position
    while position < bytes.count {
      if bytes[position] == pattern[0], bytes[position...].starts(with: pattern) {
        defer { position += pattern.count }
        return start..<position
      }
      position += 1
    }
    throw failure(end.description, at: start, .truncated)
  }

  /// UTF-8 text without NUL.
  func text(_ octets: [UInt8], at offset: Int) throws(ReceiptDecodingError) -> String {
    do throws(ReceiptDecodingError) {
      return try DERReader(octets).text(octets.indices)
    } catch {
      throw failure(error.expected, at: offset)
    }
  }

  /// UTF-8 text without NUL, read in place.
  func text(_ range: Range<Int>) throws(ReceiptDecodingError) -> String {
    try DERReader(bytes, part: part).text(range)
  }
}
