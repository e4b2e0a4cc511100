/// App receipts with one defect each. A decoder throws an error with the place for each of them.
public enum BrokenAppReceipt: String, Sendable, CaseIterable {
  /// No byte at all.
  case empty
  /// Zeros, as in a file that was never written to the disk.
  case zeros
  /// Only the first half.
  case half
  /// The outermost length is greater than the file.
  case lengthBeyondEnd
  /// A length in eight octets of ones.
  case lengthOfAllOnes
  /// A length in 126 octets.
  case lengthOf126Octets
  /// An attribute claims more than the SET around it.
  case attributeBeyondSet
  /// 10,000 strings inside each other.
  case deepStrings
  /// 10,000 elements of indefinite length inside each other, where the signers are.
  case deepSigners
  /// An indefinite length that never ends.
  case endless
  /// The content is an OCTET STRING that holds another.
  case doubleWrapped
  /// The content is not that of plain data.
  case otherContentType
  /// Text where the SET should be.
  case textContent
  /// No bundle id.
  case withoutBundleID
  /// A bundle id that is not UTF-8.
  case invalidUTF8
  /// A NUL inside the bundle id.
  case nulInText
  /// A purchase without a transaction id.
  case withoutTransactionID
  /// A quantity of nine octets.
  case hugeQuantity
  /// A quantity without an octet.
  case emptyInteger
  /// The 30th of February.
  case impossibleDate
  /// A transaction id that is a number.
  case numberForText
  /// An attribute of four parts.
  case fourParts
  /// 20,000 empty purchases, each of which would need more memory than bytes.
  case emptyPurchases

  /// The bytes.
  public var bytes: [UInt8] {
    switch self {
    case .empty: []
    case .zeros: Array(repeating: 0, count: 4_096)
    case .half: Array(Self.good.bytes().prefix(Self.good.bytes().count / 2))
    case .lengthBeyondEnd: DERNode.claiming(0x30, length: 1 << 30, [0x06, 0x01, 0x00]).encoded()
    case .lengthOfAllOnes: [0x30, 0x88] + Array(repeating: 0xFF, count: 64)
    case .lengthOf126Octets: [0x30, 0xFE] + Array(repeating: 0x01, count: 200)
    case .deepStrings: Self.deep(0x24)
    case .deepSigners: Self.endlessSigners
    case .endless: [0x30, 0x80] + Array(Self.good.bytes(.ber(pieces: 2)).dropFirst(2).dropLast(2))
    case .doubleWrapped: Self.content(Self.string(Self.string(Self.good.payload())))
    case .otherContentType: Self.content(Self.string(Self.good.payload()), patching: 0x06)
    case .textContent: Self.content(Self.string(.utf8("a receipt")))
    case .attributeBeyondSet, .withoutBundleID, .invalidUTF8, .nulInText, .fourParts: wrongAttribute
    default: wrongPurchase
    }
  }

  private var wrongAttribute: [UInt8] {
    var receipt = Self.good
    switch self {
    case .withoutBundleID: receipt.attributes.removeAll { $0.type == 2 }
    case .invalidUTF8: receipt.attributes[0] = .init(2, .primitive(0x0C, [0x61, 0xC3, 0x28]))
    case .nulInText: receipt.attributes[0] = .init(2, .utf8("com.example\0.app"))
    case .fourParts:
      let node = DERNode.constructed(
        0x30, [.integer(3), .integer(1), .primitive(0x04, [0x0C, 0]), .integer(9)])
      return Self.content(Self.string(.constructed(0x31, [node])))
    default:
      let node = DERNode.claiming(0x30, length: 500, [0x02, 0x01, 0x02])
      return Self.content(Self.string(.constructed(0x31, [node])))
    }
    return receipt.bytes()
  }

  private var wrongPurchase: [UInt8] {
    var purchase = ForgedPurchase(transactionID: "1", productID: "coins").attributes
    func index(_ type: Int64) -> Int { purchase.firstIndex { $0.type == type } ?? 0 }
    switch self {
    case .withoutTransactionID: purchase.remove(at: index(1703))
    case .hugeQuantity:
      purchase[index(1701)] = .init(1701, .primitive(0x02, Array(repeating: 0x7F, count: 9)))
    case .emptyInteger: purchase[index(1701)] = .init(1701, .primitive(0x02, []))
    case .impossibleDate: purchase[index(1704)] = .init(1704, .ia5("2024-02-30T00:00:00Z"))
    case .numberForText: purchase[index(1703)] = .init(1703, .integer(7))
    default: purchase = []
    }
    var receipt = Self.good
    let count = self == .emptyPurchases ? 20_000 : 1
    receipt.attributes += Array(repeating: .init(purchase: purchase), count: count)
    return receipt.bytes()
  }

  private static let good = ForgedAppReceipt(bundleID: "com.example.app")

  private static func string(_ node: DERNode) -> DERNode { .primitive(0x04, node.encoded()) }

  private static func content(_ node: DERNode, patching contentType: UInt8 = 0x01) -> [UInt8] {
    var bytes = ForgedAppReceipt.message(node).encoded()
    // The last octet of the second identifier: 1.2.840.113549.1.7.x
    if let index = bytes.indices.dropFirst(20).first(where: { bytes[$0] == 0x07 && bytes[$0 + 1] == 0x01 }) {
      bytes[index + 1] = contentType
    }
    return bytes
  }

  private static func deep(_ identifier: UInt8) -> [UInt8] {
    let levels = Array(repeatElement([identifier, 0x80] as [UInt8], count: 10_000).joined())
    return ForgedAppReceipt.message(.verbatim(levels)).encoded(isIndefinite: true)
  }

  private static var endlessSigners: [UInt8] {
    // Drops the ends of the SET, the SEQUENCE, the [0] and the message, which follow the levels.
    let good = Self.good.bytes(.ber(pieces: 2)).dropLast(8)
    let levels = repeatElement([0x30, 0x80] as [UInt8], count: 10_000).joined()
    return Array(good) + Array(levels) + Array(repeating: 0, count: 20_008)
  }
}
