/// The first bytes of an ASN.1 element: its kind and the place of its content (X.690, 8.1.2 and 8.1.3).
struct DERHeader {
  /// Class, constructed bit and number. Numbers above 30 become 31; no element of a receipt has one.
  var identifier: UInt8
  /// The offset of the first byte.
  var start: Int
  /// The offset of the first byte of the content.
  var contentStart: Int
  /// The offset after the content; nil for the indefinite form, which ends with two zero bytes.
  var contentEnd: Int?
}

/// An element whose children are read in order.
struct DERContainer {
  /// No child extends beyond this offset.
  var limit: Int
  /// Whether two zero bytes end it, at or before `limit`.
  var isIndefinite: Bool
}

/// The bytes of a string.
enum DEROctets {
  /// A range of the reader's own bytes.
  case range(Range<Int>)
  /// The string came in several pieces (X.690, 8.7.3), which were joined.
  case joined([UInt8])

  var count: Int {
    switch self {
    case .range(let range): range.count
    case .joined(let bytes): bytes.count
    }
  }
}

/// The identifiers of the elements in a receipt (X.680, 8.4).
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

  /// What an identifier stands for, in words.
  static func words(_ identifier: UInt8) -> String {
    switch identifier {
    case integer: "an INTEGER"
    case octetString, constructedOctetString: "an OCTET STRING"
    case objectIdentifier: "an OBJECT IDENTIFIER"
    case utf8String, printableString, ia5String: "text"
    case sequence: "a SEQUENCE"
    case set: "a SET"
    case UInt8(ascii: "<"): "XML, as a provisioning profile has it"
    case UInt8(ascii: "{"): "JSON or a property list"
    default: "an element of kind " + String(identifier, radix: 16)
    }
  }
}
