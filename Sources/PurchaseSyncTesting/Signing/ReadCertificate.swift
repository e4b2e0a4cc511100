import Foundation

/// What a certificate says about a key of P-256, as a backend reads it. For the testing kit only, never for a product.
struct ReadCertificate {
  /// What the issuer has signed.
  let contents: [UInt8]
  /// The octets of the INTEGER.
  let serialNumber: [UInt8]
  /// The names, in DER.
  let issuer: [UInt8]
  let name: [UInt8]
  /// The first and the last second, such as `20160101000000Z`.
  let validity: ClosedRange<String>
  /// The key of P-256; nil for another one.
  let key: ES256PublicKey?
  /// The octets of the OBJECT IDENTIFIERs of all extensions.
  let extensions: Set<[UInt8]>
  /// r and s of 32 bytes each; nil for another algorithm.
  let signature: [UInt8]?

  /// Nil for bytes that are no certificate of version 3.
  init?(_ bytes: [UInt8]) {
    guard let parts = DERElement(bytes[...])?.children, parts.count == 3, let fields = parts[0].children,
      fields.count >= 8, fields[0].tag == 0xA0, let times = fields[4].children, times.count == 2,
      let first = Self.time(times[0]), let last = Self.time(times[1]), first <= last,
      let list = fields.last, list.tag == 0xA3, let items = list[0]?.children
    else { return nil }
    contents = Array(parts[0].whole)
    serialNumber = Array(fields[1].content)
    (issuer, name) = (Array(fields[3].whole), Array(fields[5].whole))
    validity = first...last
    key = Self.key(fields[6])
    extensions = Set(items.compactMap { $0[0].map { Array($0.content) } })
    signature =
      Array(parts[1].whole) == DERNode.ecdsaWithSHA256.encoded() ? Self.signature(parts[2]) : nil
  }

  /// The serial number, of which all test certificates have a small one.
  var serial: Int64 { serialNumber.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) } }

  /// Nil for a text that is no certificate in base64.
  init?(base64 text: String) {
    guard let bytes = Data(base64Encoded: text) else { return nil }
    self.init(Array(bytes))
  }

  /// Whether this certificate's key signed another one.
  func hasSigned(_ other: ReadCertificate) -> Bool {
    guard other.issuer == name, let key, let signature = other.signature else { return false }
    return key.isSignature(signature, of: other.contents)
  }

  func has(_ arcs: [UInt64]) -> Bool {
    guard case .primitive(_, let octets) = DERNode.identifier(arcs) else { return false }
    return extensions.contains(octets)
  }

  private static func time(_ element: DERElement) -> String? {
    let text = String(decoding: element.content, as: UTF8.self)
    switch element.tag {
    case 0x18: return text
    // Two digits of a year from 1950 to 2049 (RFC 5280, 4.1.2.5.1).
    case 0x17: return (text < "50" ? "20" : "19") + text
    default: return nil
    }
  }

  private static func key(_ element: DERElement) -> ES256PublicKey? {
    guard let bits = element[1], bits.content.first == 0,
      let key = ES256PublicKey(bytes: Array(bits.content.dropFirst())),
      TestCertificate.Subject.es256(key).node.encoded() == Array(element.whole)
    else { return nil }
    return key
  }

  private static func signature(_ bits: DERElement) -> [UInt8]? {
    guard let numbers = DERElement(bits.content.dropFirst())?.children, numbers.count == 2 else { return nil }
    var signature: [UInt8] = []
    for number in numbers {
      let octets = Array(number.content.drop { $0 == 0 })
      guard octets.count <= 32 else { return nil }
      signature += [UInt8](repeating: 0, count: 32 - octets.count) + octets
    }
    return signature
  }
}
