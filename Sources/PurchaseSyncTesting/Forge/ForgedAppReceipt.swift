/// An app receipt to be written: attributes in a PKCS #7 message whose certificate and signature are made up.
///
/// It proves nothing. StoreFacts b.2 and b.3 list the attributes; each can be removed, doubled or damaged before the
/// bytes are made.
public struct ForgedAppReceipt: Sendable, Hashable {
  /// `SEQUENCE { type, version, value }`
  public struct Attribute: Sendable, Hashable {
    /// The attribute's type.
    public var type: Int64
    /// 1 in nearly all real ones.
    public var version: Int64 = 1
    /// The octets of its value.
    public var value: [UInt8]

    /// A raw value.
    public init(_ type: Int64, raw value: [UInt8]) {
      self.type = type
      self.value = value
    }

    /// A value that is one more element.
    public init(_ type: Int64, _ node: DERNode) { self.init(type, raw: node.encoded()) }

    /// One purchase.
    public init(purchase: [Attribute]) {
      self.init(17, .constructed(0x31, purchase.map { $0.node(pieces: nil) }))
    }

    func node(pieces: Int?) -> DERNode {
      .constructed(
        0x30, [.integer(type), .integer(version), ForgedAppReceipt.octetString(value, pieces: pieces)])
    }
  }

  /// How lengths and strings are written.
  public enum Form: Sendable, Hashable {
    /// As the App Store does.
    case der
    /// As Xcode does: indefinite lengths, and the content in so many pieces, around a payload in DER.
    case ber(pieces: Int)
    /// Indefinite lengths also in the payload, and each attribute's value in so many pieces.
    case berThroughout(pieces: Int)
  }

  /// In the order in which they are written.
  public var attributes: [Attribute]
  /// Stands for the certificates and the signature behind the content.
  public var signature: [UInt8] = Array(repeating: 0x5A, count: 256)

  /// These attributes and no others.
  public init(attributes: [Attribute]) { self.attributes = attributes }

  /// A receipt as the App Store writes it; dates as it writes them, such as `2024-02-29T23:59:59Z`.
  public init(
    bundleID: String, receiptType: String = "ProductionSandbox", version: String = "42",
    creationDate: String = "2024-01-02T03:04:05Z", purchases: [ForgedPurchase] = []
  ) {
    attributes = [
      Attribute(8, .ia5("")), Attribute(20, .utf8("")), Attribute(1, .integer(0)), Attribute(11, .integer(0)),
      Attribute(0, .utf8(receiptType)), Attribute(3, .utf8(version)), Attribute(19, .utf8("1.0")),
      Attribute(15, .integer(0)), Attribute(16, .integer(0)), Attribute(10, .ia5("4+")),
      Attribute(12, .ia5(creationDate)), Attribute(18, .ia5("2013-08-01T07:00:00Z")),
      Attribute(4, raw: Array(0..<16)), Attribute(5, raw: Array(100..<120)),
      Attribute(2, .utf8(bundleID)), Attribute(7, raw: [0x30, 0x80, 0xFF]), Attribute(6, raw: [0x0C]),
    ]
    attributes += purchases.map { Attribute(purchase: $0.attributes) }
  }

  /// The attribute 4; empty without one.
  var opaqueValue: [UInt8] {
    get { attributes.first { $0.type == 4 }?.value ?? [] }
    set { attributes = attributes.map { $0.type == 4 ? Attribute(4, raw: newValue) : $0 } }
  }

  /// The SET of all attributes.
  public func payload(pieces: Int? = nil) -> DERNode {
    .constructed(0x31, attributes.map { $0.node(pieces: pieces) })
  }

  /// The whole message.
  public func bytes(_ form: Form = .der) -> [UInt8] {
    switch form {
    case .der: Self.message(Self.octetString(payload().encoded(), pieces: nil), signature).encoded()
    case .ber(let pieces):
      Self.message(Self.octetString(payload().encoded(), pieces: pieces), signature)
        .encoded(isIndefinite: true)
    case .berThroughout(let pieces):
      Self.message(
        Self.octetString(payload(pieces: pieces).encoded(isIndefinite: true), pieces: pieces), signature
      ).encoded(isIndefinite: true)
    }
  }

  /// The message around any content.
  public static func message(_ content: DERNode, _ signature: [UInt8] = []) -> DERNode {
    func identifier(_ last: UInt8) -> DERNode {
      .primitive(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, last])
    }
    let sha256 = DERNode.primitive(0x06, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
    let algorithm = DERNode.constructed(0x30, [sha256, .primitive(0x05, [])])
    let signedData = DERNode.constructed(
      0x30,
      [
        .integer(1), .constructed(0x31, [algorithm]),
        .constructed(0x30, [identifier(1), .constructed(0xA0, [content])]),
        .constructed(0xA0, [.constructed(0x30, [.primitive(0x04, signature)])]),
        .constructed(0x31, [.constructed(0x30, [.integer(1), algorithm, .primitive(0x04, signature)])]),
      ])
    return .constructed(0x30, [identifier(2), .constructed(0xA0, [signedData])])
  }

  /// An OCTET STRING, whole or in pieces of nearly equal size.
  public static func octetString(_ octets: [UInt8], pieces: Int?) -> DERNode {
    guard let pieces else { return .primitive(0x04, octets) }
    let size = max(1, (octets.count + pieces - 1) / max(1, pieces))
    let parts = stride(from: 0, to: octets.count, by: size).map {
      DERNode.primitive(0x04, Array(octets[$0..<min($0 + size, octets.count)]))
    }
    return .constructed(0x24, parts)
  }
}
