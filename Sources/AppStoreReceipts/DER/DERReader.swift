/// Reads the elements of DER and BER in the order of the bytes, by offsets, without copies and without
/// recursion.
///
/// It reads both forms of length and both forms of strings, as the receipts of StoreKit testing need
/// (StoreFacts b.1). Each length is compared with the available bytes before it is used. Each byte of a
/// header is read once: the end of a container of indefinite length is not searched for, the children are
/// read until it comes.
struct DERReader {
  /// The most levels of nested strings, and of nested elements of indefinite length in skipped content.
  static let maximumDepth = 16

  let bytes: [UInt8]
  /// The offset of the next byte.
  var position: Int
  /// The name of the bytes, such as "the joined content"; nil if they are the caller's own.
  var part: String?

  init(_ bytes: [UInt8], position: Int = 0, part: String? = nil) {
    self.bytes = bytes
    self.position = position
    self.part = part
  }

  /// The error that something expected was not found at an offset.
  func failure(
    _ expected: String, at offset: Int, _ reason: ReceiptDecodingError.Reason = .malformed,
    found: String? = nil
  ) -> ReceiptDecodingError {
    ReceiptDecodingError(
      expected: expected, found: found, location: part.map { "byte \(offset) of \($0)" } ?? "byte \(offset)",
      reason: reason, offset: part == nil ? offset : nil)
  }

  /// The error that an element of another kind is here.
  func failure(_ expected: String, insteadOf header: DERHeader) -> ReceiptDecodingError {
    failure(expected, at: header.start, found: DERTag.words(header.identifier))
  }

  /// Reads identifier and length. Afterwards the position is at the content.
  mutating func header(limit: Int) throws(ReceiptDecodingError) -> DERHeader {
    let start = position
    guard start < limit else { throw failure("an element", at: start, .truncated) }
    let identifier = bytes[start]
    position = start + 1
    if identifier & 0x1F == 0x1F { try skipTagNumber(limit: limit) }
    guard position < limit else { throw failure("a length", at: position, .truncated) }
    let first = bytes[position]
    position += 1
    if first < 0x80 {
      return try header(identifier, start: start, length: Int(first), limit: limit)
    }
    if first == 0x80 {
      guard identifier & DERTag.constructed != 0 else {
        throw failure("a definite length of a primitive element", at: position - 1)
      }
      return DERHeader(identifier: identifier, start: start, contentStart: position, contentEnd: nil)
    }
    let length = try longLength(octets: Int(first & 0x7F), limit: limit)
    return try header(identifier, start: start, length: length, limit: limit)
  }

  private func header(
    _ identifier: UInt8, start: Int, length: Int, limit: Int
  ) throws(ReceiptDecodingError) -> DERHeader {
    guard length <= limit - position else {
      throw failure("\(length) bytes of content, not \(limit - position)", at: start, .truncated)
    }
    return DERHeader(
      identifier: identifier, start: start, contentStart: position, contentEnd: position + length)
  }

  /// A number beyond 30 continues in further bytes (X.690, 8.1.2.4). Four are more than any known element
  /// has.
  private mutating func skipTagNumber(limit: Int) throws(ReceiptDecodingError) {
    let start = position
    while position < limit, position - start < 4 {
      position += 1
      if bytes[position - 1] < 0x80 { return }
    }
    throw failure("the number of a tag in four octets", at: start)
  }

  /// The long form of a length (X.690, 8.1.3.5). BER allows leading zeros. They cannot overflow the sum: a
  /// length beyond `limit` ends the loop at once.
  private mutating func longLength(octets: Int, limit: Int) throws(ReceiptDecodingError) -> Int {
    let start = position - 1
    guard octets < 0x7F else { throw failure("a length in fewer than 127 octets", at: start) }
    guard octets <= limit - position else {
      throw failure("\(octets) octets of a length", at: start, .truncated)
    }
    var length = 0
    for _ in 0..<octets {
      length = length << 8 | Int(bytes[position])
      position += 1
      guard length <= limit else {
        throw failure("a length within the \(limit) bytes", at: start, .truncated)
      }
    }
    return length
  }

  /// The container for the children of an element whose header was just read.
  func enter(_ header: DERHeader, limit: Int) -> DERContainer {
    DERContainer(limit: header.contentEnd ?? limit, isIndefinite: header.contentEnd == nil)
  }

  /// The next child; nil at the container's end. The position is then after the end.
  mutating func next(in container: DERContainer) throws(ReceiptDecodingError) -> DERHeader? {
    if container.isIndefinite {
      if try skipEndOfContents(limit: container.limit) { return nil }
    } else if position == container.limit {
      return nil
    }
    return try header(limit: container.limit)
  }

  private mutating func skipEndOfContents(limit: Int) throws(ReceiptDecodingError) -> Bool {
    guard position < limit else {
      throw failure("an element or the end of contents", at: position, .truncated)
    }
    guard bytes[position] == 0 else { return false }
    guard limit - position > 1 else { throw failure("the end of contents", at: position, .truncated) }
    guard bytes[position + 1] == 0 else { throw failure("the end of contents", at: position) }
    position += 2
    return true
  }

  /// The next child, which must exist and be of this kind.
  mutating func next(
    in container: DERContainer, _ identifier: UInt8, _ name: @autoclosure () -> String
  ) throws(ReceiptDecodingError) -> DERHeader {
    guard let header = try next(in: container) else { throw failure(name(), at: position, .missing) }
    guard header.identifier == identifier else { throw failure(name(), insteadOf: header) }
    return header
  }

  /// Moves after an element whose header was just read.
  mutating func skip(_ header: DERHeader, limit: Int) throws(ReceiptDecodingError) {
    if let end = header.contentEnd {
      position = end
    } else {
      try leave(DERContainer(limit: limit, isIndefinite: true))
    }
  }

  /// Moves after a container, whatever is left in it.
  ///
  /// Only elements of indefinite length have to be searched, so a counter is enough instead of a stack.
  mutating func leave(_ container: DERContainer) throws(ReceiptDecodingError) {
    guard container.isIndefinite else {
      position = container.limit
      return
    }
    var depth = 1
    while depth > 0 {
      if try skipEndOfContents(limit: container.limit) {
        depth -= 1
        continue
      }
      let header = try header(limit: container.limit)
      if let end = header.contentEnd {
        position = end
      } else {
        depth += 1
        guard depth <= Self.maximumDepth else {
          throw failure("at most \(Self.maximumDepth) levels", at: header.start, .tooDeep)
        }
      }
    }
  }
}
