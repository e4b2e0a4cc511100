extension DERReader {
  /// The most bytes that the pieces of a string inside the content may have together. No known receipt has
  /// any.
  static let maximumJoined = 65_536

  /// The bytes of a string in either form (X.690, 8.7). Afterwards the position is after the string.
  ///
  /// A single piece is not copied. Several pieces are counted first; more than `maximum` bytes are refused
  /// before they are joined.
  mutating func octets(
    of header: DERHeader, limit: Int, joining maximum: Int
  ) throws(ReceiptDecodingError) -> DEROctets {
    if header.identifier & DERTag.constructed == 0 { return .range(takeContent(of: header, limit: limit)) }
    let start = position
    var open = [enter(header, limit: limit)]
    var total = 0
    var single = position..<position
    var pieces = 0
    while let piece = try nextPiece(&open) {
      guard !piece.isEmpty else { continue }
      total += piece.count
      pieces += 1
      single = piece
    }
    if pieces <= 1 { return .range(single) }
    guard total <= maximum else {
      throw failure("pieces of at most \(maximum) octets together", at: header.start, .tooLarge)
    }
    var joined: [UInt8] = []
    joined.reserveCapacity(total)
    position = start
    open = [enter(header, limit: limit)]
    while let piece = try nextPiece(&open) { joined.append(contentsOf: bytes[piece]) }
    return .joined(joined)
  }

  /// The range of a primitive element's content. Afterwards the position is after it.
  mutating func takeContent(of header: DERHeader, limit: Int) -> Range<Int> {
    let end = header.contentEnd ?? limit
    position = end
    return header.contentStart..<end
  }

  /// The next primitive piece of a constructed string; nil when all open containers have ended.
  private mutating func nextPiece(_ open: inout [DERContainer]) throws(ReceiptDecodingError) -> Range<Int>? {
    while let innermost = open.last {
      guard let header = try next(in: innermost) else {
        open.removeLast()
        continue
      }
      switch header.identifier {
      case DERTag.octetString:
        return takeContent(of: header, limit: innermost.limit)
      case DERTag.constructedOctetString:
        guard open.count < Self.maximumDepth else {
          throw failure("at most \(Self.maximumDepth) levels of strings", at: header.start, .tooDeep)
        }
        open.append(enter(header, limit: innermost.limit))
      default:
        throw failure("an OCTET STRING as a piece of the string", insteadOf: header)
      }
    }
    return nil
  }

  /// An INTEGER of any width whose value fits 64 bits (X.690, 8.3). Leading zeros or ones do not matter.
  mutating func integer(of header: DERHeader, limit: Int) throws(ReceiptDecodingError) -> Int64 {
    let range = takeContent(of: header, limit: limit)
    guard let first = range.first else { throw failure("an INTEGER's octets", at: header.start, .truncated) }
    var value = Int64(Int8(bitPattern: bytes[first]))
    for index in range.dropFirst() {
      guard value >= -0x80_0000_0000_0000, value <= 0x7F_FFFF_FFFF_FFFF else {
        throw failure("an INTEGER of 64 bits", at: header.start)
      }
      value = value << 8 | Int64(bytes[index])
    }
    return value
  }

  /// UTF-8 text without NUL. ASCII is a part of it.
  func text(_ range: Range<Int>) throws(ReceiptDecodingError) -> String {
    for index in range where bytes[index] == 0 { throw failure("text without NUL", at: index) }
    if let offset = UTF8Check.firstInvalid(in: bytes, range) { throw failure("UTF-8", at: offset) }
    return String(decoding: bytes[range], as: UTF8.self)
  }
}

extension DERReader {
  /// The header of the only element in an attribute's value. No bytes may follow the element.
  private mutating func soleHeader(
    _ range: Range<Int>, _ name: String
  ) throws(ReceiptDecodingError) -> DERHeader {
    position = range.lowerBound
    let header = try header(limit: range.upperBound)
    if let end = header.contentEnd, end != range.upperBound {
      throw failure("nothing after \(name)", at: end)
    }
    return header
  }

  /// A value that is an INTEGER.
  mutating func integerValue(_ range: Range<Int>) throws(ReceiptDecodingError) -> Int64 {
    let header = try soleHeader(range, "the INTEGER")
    guard header.identifier == DERTag.integer else { throw failure("an INTEGER", insteadOf: header) }
    return try integer(of: header, limit: range.upperBound)
  }

  /// A value that is a UTF8String, IA5String or PrintableString: receipts of home-made tools mix them
  /// (StoreFacts b.4).
  mutating func textValue(_ range: Range<Int>) throws(ReceiptDecodingError) -> String {
    switch try textOctets(range) {
    case .range(let content): return try text(content)
    case .joined(let joined): return try DERReader(joined, part: "joined text").text(joined.indices)
    }
  }

  /// A date as text, in milliseconds since 1970; nil for an empty text, which means no date.
  mutating func dateValue(_ range: Range<Int>) throws(ReceiptDecodingError) -> Int64? {
    let octets = try textOctets(range)
    if octets.count == 0 { return nil }
    let date =
      switch octets {
      case .range(let content): StoreDate.milliseconds(bytes, content)
      case .joined(let joined): StoreDate.milliseconds(joined, joined.indices)
      }
    guard let date else { throw failure("a date such as 2024-02-29T23:59:59Z", at: range.lowerBound) }
    return date
  }

  private mutating func textOctets(_ range: Range<Int>) throws(ReceiptDecodingError) -> DEROctets {
    let header = try soleHeader(range, "the text")
    switch header.identifier & ~DERTag.constructed {
    case DERTag.utf8String, DERTag.ia5String, DERTag.printableString:
      let octets = try octets(of: header, limit: range.upperBound, joining: Self.maximumJoined)
      guard position == range.upperBound else { throw failure("nothing after the text", at: position) }
      return octets
    default: throw failure("text", insteadOf: header)
    }
  }
}
