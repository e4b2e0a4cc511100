import PurchaseSQLite

/// The item of one entry, as JSON. Payloads are separate items, in chunks, and are stored first: an item names only chunks
/// that were stored before it.
struct VaultMirror: Codable {
  struct MirroredPayload: Codable, Hashable {
    var kind: String
    var size: Int
    /// Checksum and size of the bytes: the name of the chunks. Nil for a payload by reference, or one that did not fit.
    var name: String?
    var chunks: Int

    /// Whether a payload can have these values: the row of an entry holds no others, and sums of others overflow.
    fileprivate var isPossible: Bool {
      Payload.isKind(kind) && (0...PayloadReference.longest).contains(size) && (0...1 << 16).contains(chunks)
    }
  }

  var key: String
  /// The entry's place in the file from which it was mirrored.
  var place: Int64
  var lane: String
  var orderNumber: String?
  var details: String
  var enqueuedAt: Int64
  var payloads: [MirroredPayload]

  static let prefix = "entry."
  static let chunkPrefix = "payload."

  static func itemName(_ key: EntryKey) -> String { VaultFileName.short(prefix + key.rawValue) }

  static func payloadName(_ bytes: [UInt8]) -> String {
    payloadName(checksum: Checksum.of(bytes), size: bytes.count)
  }

  static func payloadName(checksum: Int64, size: Int) -> String {
    String(UInt64(bitPattern: checksum), radix: 16) + "-\(size)"
  }

  static func chunkName(_ payload: String, _ index: Int) -> String { "\(chunkPrefix)\(payload).\(index)" }

  /// The name of the payload of a chunk.
  static func payloadName(ofChunk name: String) -> String {
    let payload = name.dropFirst(chunkPrefix.count)
    return String(payload[..<(payload.lastIndex(of: ".") ?? payload.endIndex)])
  }

  /// The number of a chunk in its payload; -1 if the name has none.
  static func number(ofChunk name: String) -> Int {
    name.lastIndex(of: ".").flatMap { Int(name[name.index(after: $0)...]) } ?? -1
  }

  init(_ entry: Entry, payloads: [MirroredPayload]) {
    key = entry.key.rawValue
    place = entry.place
    lane = entry.lane.rawValue
    orderNumber = entry.orderNumber
    details = entry.details
    enqueuedAt = entry.enqueuedAt.milliseconds
    self.payloads = payloads
  }

  /// Nil for bytes that are no entry: the content of a vault is not trusted.
  init?(_ item: VaultItem) {
    self.init(json: item.bytes)
    guard payloads.allSatisfy(\.isPossible) else { return nil }
  }

  func item() throws(VaultError) -> VaultItem {
    do {
      return VaultItem(name: Self.itemName(EntryKey(rawValue: key)), bytes: try json())
    } catch {
      throw .failed(reason: "entry \(key) cannot be encoded")
    }
  }
}
