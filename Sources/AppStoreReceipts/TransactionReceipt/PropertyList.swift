/// The top level of a property list whose values are texts, which is all that an old transaction receipt has.
///
/// FoundationEssentials has a decoder for property lists, which is not used: its reader of XML calls itself for each
/// level, so that 10,000 of them, 150 KB, end the process, and nothing of it says where a list is damaged. Its readers
/// of text (at most 512 levels) and of binary lists are bounded. `Tests/Fuzz/foundation` shows it (Swift 6.3.1).
///
/// Three forms are told apart by their first bytes: text of NeXTSTEP (the only one that the App Store wrote,
/// receipt-facts a.7), XML, and binary, into which tools convert the first.
struct PropertyList {
  /// More fields are refused; the largest receipt known has 26.
  static let maximumFieldCount = 256

  /// In the order of the list. A key may occur twice.
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

/// Walks over the bytes of a text, with failures that say where.
struct ByteCursor {
  let bytes: [UInt8]
  var position = 0
  /// What offsets count in, if not in what the caller gave.
  let part: String?

  init(_ bytes: [UInt8], part: String?) {
    self.bytes = bytes
    self.part = part
  }

  var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  func failure(
    _ expected: String, at offset: Int? = nil, _ reason: ReceiptDecodingError.Reason = .malformed
  ) -> ReceiptDecodingError {
    DERReader(bytes, part: part).failure(expected, at: offset ?? position, reason)
  }

  /// What is missing here: a failure by the end of the bytes, or by what stands in its place.
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

  /// Goes behind these bytes if they come next.
  mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    let next = bytes[position..<position + count]
    guard next.elementsEqual(text.description.utf8) else { return false }
    position += count
    return true
  }

  /// Goes behind the next occurrence of these bytes; the range before it.
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

  /// Text of UTF-8 without NUL.
  func text(_ octets: [UInt8], at offset: Int) throws(ReceiptDecodingError) -> String {
    do throws(ReceiptDecodingError) {
      return try DERReader(octets).text(octets.indices)
    } catch {
      throw failure(error.expected, at: offset)
    }
  }

  /// Text of UTF-8 without NUL, in its place.
  func text(_ range: Range<Int>) throws(ReceiptDecodingError) -> String {
    try DERReader(bytes, part: part).text(range)
  }
}
