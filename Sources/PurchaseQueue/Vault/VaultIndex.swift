/// Where the items lie in the file of a `DirectoryVault`. No input or output.
struct VaultIndex {
  /// The bytes of one item in the file.
  struct Place: Hashable {
    var offset: Int
    var length: Int
    /// The bytes of its whole record.
    var recordSize: Int
  }

  private(set) var places: [String: Place] = [:]
  /// The end of the last record that counts.
  private(set) var end = 0
  /// The number of the last record that counts.
  private(set) var sequence: UInt64 = 0
  /// The bytes of all items.
  private(set) var liveBytes = 0
  /// The bytes of their records.
  private var liveRecords = 0
  /// Where the first record begins.
  private var beginning = 0

  /// The bytes of records that no longer count.
  var garbage: Int { end - beginning - liveRecords }

  /// Skips what stands before the first record.
  mutating func begin(at offset: Int, after sequence: UInt64 = 0) {
    (end, self.sequence, beginning) = (offset, sequence, offset)
  }

  /// Takes in the bytes of the file from `end` on. A damaged record costs its item: the next one that counts is searched.
  mutating func read(_ bytes: [UInt8]) {
    let start = end
    var offset = 0
    while offset < bytes.count {
      guard let record = VaultRecord(bytes, at: offset), record.sequence > sequence,
        offset + record.size <= bytes.count
      else {
        guard let next = Self.nextMark(in: bytes, from: offset + 1) else { return }
        offset = next
        continue
      }
      let content = Array(bytes[offset + VaultRecord.headerSize..<offset + record.size])
      if record.isWhole(content) {
        sequence = record.sequence
        let name = String(decoding: content.prefix(record.nameLength), as: UTF8.self)
        take(record, named: name, at: start + offset)
        end = start + offset + record.size
      }
      offset += record.size
    }
  }

  /// Takes in a record that was written at `end`.
  mutating func append(_ name: String, _ bytes: [UInt8]) {
    guard let record = VaultRecord(bytes, at: 0) else { return }
    sequence = record.sequence
    take(record, named: name, at: end)
    end += record.size
  }

  private mutating func take(_ record: VaultRecord, named name: String, at offset: Int) {
    if let old = places[name] {
      liveBytes -= old.length
      liveRecords -= old.recordSize
      places[name] = nil
    }
    guard record.kind == .item else { return }
    places[name] = Place(
      offset: offset + VaultRecord.headerSize + record.nameLength, length: record.length,
      recordSize: record.size)
    liveBytes += record.length
    liveRecords += record.size
  }

  /// The bytes of all items if these were stored too.
  func liveBytes(with items: [VaultItem]) -> Int {
    var sizes: [String: Int] = [:]
    for item in items { sizes[item.name] = item.bytes.count }
    return sizes.reduce(liveBytes) { $0 + $1.value - (places[$1.key]?.length ?? 0) }
  }

  private static func nextMark(in bytes: [UInt8], from start: Int) -> Int? {
    var offset = start
    while offset + VaultRecord.headerSize <= bytes.count {
      if bytes[offset] == UInt8(ascii: "P"), VaultRecord(bytes, at: offset) != nil { return offset }
      offset += 1
    }
    return nil
  }
}
