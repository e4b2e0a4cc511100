import PurchaseSQLite

/// One record in the file of a `DirectoryVault`: an item, or the removal of one.
///
/// 40 bytes, then name and bytes: the mark `PQv1`, the kind, the sequence number, the two lengths, the checksum of what
/// follows, and the checksum of the 32 bytes before. Numbers are stored least significant byte first. A reader takes a
/// record only if both checksums match and its number is higher than the one before: so neither a torn write nor
/// remains of an earlier one count.
struct VaultRecord {
  enum Kind: UInt32 {
    case item = 1
    case removal = 2
  }

  static let headerSize = 40
  private static let mark: [UInt8] = Array("PQv1".utf8)

  var kind: Kind
  var sequence: UInt64
  var nameLength: Int
  var length: Int
  private var checksum: UInt64

  /// The bytes of the record in the file.
  var size: Int { Self.headerSize + nameLength + length }

  /// The header at the offset; nil if none is there, or if it is damaged.
  init?(_ bytes: [UInt8], at offset: Int) {
    guard offset >= 0, offset + Self.headerSize <= bytes.count else { return nil }
    guard bytes[offset..<offset + 4].elementsEqual(Self.mark) else { return nil }
    let header = Array(bytes[offset..<offset + 32])
    guard Self.number(bytes, at: offset + 32, count: 8) == UInt64(bitPattern: Checksum.of(header)) else {
      return nil
    }
    guard let kind = Kind(rawValue: UInt32(truncatingIfNeeded: Self.number(bytes, at: offset + 4, count: 4)))
    else { return nil }
    self.kind = kind
    // No vault stores so often. After a higher number none would be left for the next record.
    guard Self.number(bytes, at: offset + 8, count: 8) <= UInt64(Int64.max) else { return nil }
    sequence = Self.number(bytes, at: offset + 8, count: 8)
    nameLength = Int(Self.number(bytes, at: offset + 16, count: 4))
    length = Int(Self.number(bytes, at: offset + 20, count: 4))
    checksum = Self.number(bytes, at: offset + 24, count: 8)
  }

  /// Whether the content that follows the header is whole.
  func isWhole(_ content: [UInt8]) -> Bool {
    content.count == nameLength + length && UInt64(bitPattern: Checksum.of(content)) == checksum
  }

  static func item(_ item: VaultItem, sequence: UInt64) -> [UInt8] {
    encode(.item, item.name, item.bytes, sequence)
  }

  static func removal(of name: String, sequence: UInt64) -> [UInt8] { encode(.removal, name, [], sequence) }

  private static func encode(_ kind: Kind, _ name: String, _ bytes: [UInt8], _ sequence: UInt64) -> [UInt8] {
    let content = Array(name.utf8) + bytes
    var record = mark
    append(UInt64(kind.rawValue), count: 4, to: &record)
    append(sequence, count: 8, to: &record)
    append(UInt64(name.utf8.count), count: 4, to: &record)
    append(UInt64(bytes.count), count: 4, to: &record)
    append(UInt64(bitPattern: Checksum.of(content)), count: 8, to: &record)
    append(UInt64(bitPattern: Checksum.of(record)), count: 8, to: &record)
    return record + content
  }

  private static func append(_ number: UInt64, count: Int, to bytes: inout [UInt8]) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
  }

  private static func number(_ bytes: [UInt8], at offset: Int, count: Int) -> UInt64 {
    (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[offset + $1]) }
  }
}
