/// An ASN.1 element to be written, right or wrong. Needs nothing but the standard library: the fuzzers' seeds are
/// made from these files alone.
public indirect enum DERNode: Sendable, Hashable {
  /// Identifier and content of an element without children.
  case primitive(UInt8, [UInt8])
  /// Identifier and children.
  case constructed(UInt8, [DERNode])
  /// As `constructed`, of indefinite length whatever the writer is asked for.
  case indefinite(UInt8, [DERNode])
  /// Identifier, a length that is claimed, and a content that need not have it.
  case claiming(UInt8, length: UInt64, [UInt8])
  /// Bytes as they are.
  case verbatim([UInt8])

  /// An INTEGER in as few octets as DER wants.
  public static func integer(_ value: Int64) -> DERNode {
    var octets: [UInt8] = []
    var rest = value
    repeat {
      octets.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    } while !(rest == 0 && octets[octets.count - 1] < 0x80 || rest == -1 && octets[octets.count - 1] >= 0x80)
    return .primitive(0x02, octets.reversed())
  }

  /// A UTF8String.
  public static func utf8(_ text: String) -> DERNode { .primitive(0x0C, Array(text.utf8)) }

  /// An IA5String, which is ASCII.
  public static func ia5(_ text: String) -> DERNode { .primitive(0x16, Array(text.utf8)) }

  /// The octets; with `isIndefinite`, every element with children ends with two zeros.
  public func encoded(isIndefinite: Bool = false) -> [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes, isIndefinite)
    return bytes
  }

  private func write(to bytes: inout [UInt8], _ isIndefinite: Bool) {
    switch self {
    case .primitive(let identifier, let content):
      Self.write(identifier, length: UInt64(content.count), to: &bytes)
      bytes += content
    case .claiming(let identifier, let length, let content):
      Self.write(identifier, length: length, to: &bytes)
      bytes += content
    case .verbatim(let content): bytes += content
    case .constructed(let identifier, let children) where !isIndefinite:
      var content: [UInt8] = []
      for child in children { child.write(to: &content, false) }
      Self.write(identifier, length: UInt64(content.count), to: &bytes)
      bytes += content
    case .constructed(let identifier, let children), .indefinite(let identifier, let children):
      bytes += [identifier, 0x80]
      for child in children { child.write(to: &bytes, isIndefinite) }
      bytes += [0, 0]
    }
  }

  private static func write(_ identifier: UInt8, length: UInt64, to bytes: inout [UInt8]) {
    bytes.append(identifier)
    if length < 0x80 {
      bytes.append(UInt8(length))
      return
    }
    let count = (71 - UInt64(length.leadingZeroBitCount)) / 8
    bytes.append(0x80 | UInt8(count))
    for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
  }
}
