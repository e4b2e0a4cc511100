/// The first octets of one ASN.1 element: what it is and where its content lies (X.690, 8.1.2 and 8.1.3).
struct DERHeader {
  /// Class, constructed bit and number; a number beyond 30 gives 31, which nothing in a receipt has.
  var identifier: UInt8
  /// The offset of the first octet.
  var start: Int
  /// The offset of the first octet of the content.
  var contentStart: Int
  /// The offset behind the content; nil of the indefinite form, which ends with two zero octets.
  var contentEnd: Int?
}

/// An element whose children are being read in order.
struct DERContainer {
  /// No child goes beyond this offset.
  var limit: Int
  /// Whether two zero octets end it, somewhere before `limit`.
  var isIndefinite: Bool
}

/// Where the octets of a string lie.
enum DEROctets {
  /// In the reader's own bytes.
  case range(Range<Int>)
  /// They came in several pieces (X.690, 8.7.3) and were put together.
  case joined([UInt8])

  var count: Int {
    switch self {
    case .range(let range): range.count
    case .joined(let bytes): bytes.count
    }
  }
}

/// The identifier octets that a receipt is made of (X.680, 8.4).
enum DERTag {
  static let integer: UInt8 = 0x02
  static let octetString: UInt8 = 0x04
  static let constructedOctetString: UInt8 = 0x24
  static let objectIdentifier: UInt8 = 0x06
  static let utf8String: UInt8 = 0x0C
  static let printableString: UInt8 = 0x13
  static let ia5String: UInt8 = 0x16
  static let sequence: UInt8 = 0x30
  static let set: UInt8 = 0x31
  static let context0: UInt8 = 0xA0
  static let constructed: UInt8 = 0x20
}
