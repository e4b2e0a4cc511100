/// One attribute of an app receipt as it came: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
public struct ReceiptAttribute: Sendable, Hashable {
  /// What it is about; Apple documents some of the numbers, others appear every few years.
  public var type: Int64
  /// 1 in nearly all receipts, without a known meaning.
  public var version: Int64
  /// The octets of the value. Most are one more DER element, some are raw: nothing tells which.
  public var value: [UInt8]

  /// An attribute of these parts.
  public init(type: Int64, version: Int64 = 1, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
  }
}

/// The attributes of a receipt, or of one purchase in it, that have no property, in the order in which they came.
///
/// They are kept in one block of bytes, so that a receipt full of tiny ones costs no more memory than it has bytes;
/// each is made when the loop comes to it. Among them are: types that this version does not know, undocumented types
/// whose value is not what it has been so far, and every second attribute of a type that should be there once.
public struct ReceiptAttributes: Sequence, Sendable, Hashable {
  /// For each: type, version and length as numbers of seven bits an octet, then the value.
  private var bytes: [UInt8] = []

  /// None.
  public init() {}

  /// Whether there are none.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The octets of the first attribute of a type.
  public subscript(type: Int64) -> [UInt8]? { first { $0.type == type }?.value }

  /// From the first to the last.
  public func makeIterator() -> Iterator { Iterator(bytes: bytes) }

  /// Adds one at the end.
  public mutating func append(_ attribute: ReceiptAttribute) {
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

  /// Room for that many octets, so that adding does not have to grow step by step.
  mutating func reserve(_ count: Int) {
    if count > 0 { bytes.reserveCapacity(count) }
  }

  /// The octets that one attribute takes up.
  static func size(type: Int64, version: Int64, valueCount: Int) -> Int {
    func size(_ number: UInt64) -> Int { (70 - (number | 1).leadingZeroBitCount) / 7 }
    return size(UInt64(bitPattern: type)) + size(UInt64(bitPattern: version)) + size(UInt64(valueCount))
      + valueCount
  }

  /// Makes one attribute after the other.
  public struct Iterator: IteratorProtocol, Sendable {
    fileprivate let bytes: [UInt8]
    private var position = 0

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

    /// The next one; nil behind the last.
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
