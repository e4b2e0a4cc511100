/// One attribute. Its value is not copied or decoded yet.
struct DERAttribute {
  var type: Int64
  var version: Int64
  var value: DEROctets
}

/// A set of the types of attributes that can have a property.
struct AttributeTypes {
  static let purchase: Int64 = 17
  /// StoreFacts b.2
  static let ofReceipt: AttributeTypes = [0, 1, 2, 3, 4, 5, 12, 15, 16, 17, 18, 19, 21]
  /// StoreFacts b.3
  static let ofPurchase: AttributeTypes = [
    1701, 1702, 1703, 1704, 1705, 1706, 1707, 1708, 1711, 1712, 1713, 1719, 1721,
  ]

  private var bits: UInt64 = 0

  /// A bit for each of 0…31 and 1700…1731; no other type has a property.
  private static func bit(_ type: Int64) -> UInt64 {
    switch type {
    case 0..<32: 1 << UInt64(type)
    case 1_700..<1_732: 1 << UInt64(type - 1_668)
    default: 0
    }
  }

  /// Returns false if the type was already in the set.
  mutating func insert(_ type: Int64) -> Bool {
    let bit = Self.bit(type)
    defer { bits |= bit }
    return bits & bit == 0
  }

  func contains(_ type: Int64) -> Bool { bits & Self.bit(type) != 0 }
}

extension AttributeTypes: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Int64...) {
    for element in elements { bits |= Self.bit(element) }
  }
}

/// The memory that a SET of attributes needs, counted before anything is allocated.
struct AttributeTally {
  /// Attributes of type 17 that become purchases.
  var purchases = 0
  /// Encoded bytes of the attributes without a property, and of repeated ones.
  var keptBytes = 0

  /// Reads the whole SET; afterwards the reader's position is after it.
  init(
    _ set: DERContainer, properties: AttributeTypes, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) {
    var seen = AttributeTypes()
    while let attribute = try reader.attribute(in: set) {
      let hasProperty = properties.contains(attribute.type)
      if hasProperty, attribute.type == AttributeTypes.purchase {
        purchases += 1
      } else if !hasProperty || !seen.insert(attribute.type) {
        keptBytes += ReceiptAttributes.size(
          type: attribute.type, version: attribute.version, valueCount: attribute.value.count)
      }
    }
  }
}

extension DERReader {
  /// The next attribute of a SET; nil at its end.
  mutating func attribute(in set: DERContainer) throws(ReceiptDecodingError) -> DERAttribute? {
    guard let header = try next(in: set) else { return nil }
    guard header.identifier == DERTag.sequence else {
      throw failure("an attribute as a SEQUENCE", at: header.start)
    }
    let sequence = enter(header, limit: set.limit)
    let typeHeader = try next(in: sequence, DERTag.integer, "an attribute's type")
    let type = try integer(of: typeHeader, limit: sequence.limit)
    let versionHeader = try next(in: sequence, DERTag.integer, "an attribute's version")
    let version = try integer(of: versionHeader, limit: sequence.limit)
    guard let string = try next(in: sequence), string.identifier & ~DERTag.constructed == DERTag.octetString
    else { throw failure("an attribute's value as an OCTET STRING", at: position) }
    let value = try octets(of: string, limit: sequence.limit, joining: Self.maximumJoined)
    if let more = try next(in: sequence) {
      throw failure("an attribute of three parts", at: more.start)
    }
    return DERAttribute(type: type, version: version, value: value)
  }
}

extension ReceiptAttributes {
  mutating func append(_ attribute: DERAttribute, of reader: DERReader) {
    switch attribute.value {
    case .range(let range):
      append(type: attribute.type, version: attribute.version, value: reader.bytes[range])
    case .joined(let joined):
      append(type: attribute.type, version: attribute.version, value: joined[...])
    }
  }
}
