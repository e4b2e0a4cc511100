/// One attribute of an app receipt, undecoded: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING
/// }`.
public struct ReceiptAttribute: Sendable, Hashable {
  /// The number of the attribute's meaning. Apple documents some numbers; new ones appear every few years.
  public var type: Int64
  /// 1 in nearly all receipts. Its meaning is unknown.
  public var version: Int64
  /// The bytes of the value. Most values are a DER element, some are raw bytes; nothing marks which.
  public var value: [UInt8]

  /// Creates an attribute.
  package init(type: Int64, version: Int64 = 1, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
  }
}

/// The attributes of a receipt, or of one purchase in it, that have no property, in the receipt's order.
///
/// They are stored in one block of bytes, so that a receipt full of tiny attributes takes no more memory than
/// it has bytes; the iterator decodes them one by one. They are: attributes of types that this version does
/// not know; undocumented types with a value of an unexpected kind; repeated attributes of a type that should
/// occur once.
public struct ReceiptAttributes: Sequence, Sendable, Hashable {
  /// For each attribute: type, version and length, encoded with seven bits in each byte, then the value.
  private var bytes: [UInt8] = []

  /// Creates an empty list.
  package init() {}

  /// Whether the list is empty.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The value of the first attribute of a type.
  public subscript(type: Int64) -> [UInt8]? { first { $0.type == type }?.value }

  /// Iterates from the first attribute to the last.
  public func makeIterator() -> Iterator { Iterator(bytes: bytes) }

  /// Appends an attribute.
  package mutating func append(_ attribute: ReceiptAttribute) {
    append(type: attribute.type, version: attribute.version, value: attribute.value[...])
  }

  mutating func append(type: Int64, version: Int64, value: ArraySlice<UInt8>) {
    for number in [UInt64(bitPattern: type), UInt64(bitPattern: version), UInt64(value.count)] {
      var rest = number
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    bytes.append(contentsOf: value)
  }

  /// Reserves memory for `count` bytes, so that appending does not grow step by step.
  mutating func reserve(_ count: Int) {
    if count > 0 { bytes.reserveCapacity(count) }
  }

  /// The bytes that one attribute takes.
  static func size(type: Int64, version: Int64, valueCount: Int) -> Int {
    func size(_ number: UInt64) -> Int { (70 - (number | 1).leadingZeroBitCount) / 7 }
    return size(UInt64(bitPattern: type)) + size(UInt64(bitPattern: version)) + size(UInt64(valueCount))
      + valueCount
  }

  /// Decodes one attribute after the other.
  public struct Iterator: IteratorProtocol, Sendable {
    fileprivate let bytes: [UInt8]
    private var position = 0

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

    /// The next attribute; nil after the last.
    public mutating func next() -> ReceiptAttribute? {
      guard position < bytes.count else { return nil }
      let type = Int64(bitPattern: number())
      let version = Int64(bitPattern: number())
      let count = Int(number())
      defer { position += count }
      return ReceiptAttribute(
        type: type, version: version, value: Array(bytes[position..<position + count]))
    }

    private mutating func number() -> UInt64 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while true {
        let octet = bytes[position]
        position += 1
        value |= UInt64(octet & 0x7F) << shift
        if octet < 0x80 { return value }
        shift += 7
      }
    }
  }
}
