import PurchaseSQLite

/// The checksum of a row: its fields one after the other, each with its length or a mark for absence.
struct RowHash {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(384) }

  mutating func add(_ text: String) {
    add(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func add(_ text: String?) {
    guard let text else { return add(Int64(-1)) }
    add(text)
  }

  mutating func add(_ integer: Int64?) {
    guard let integer else { return add(Int64.min) }
    add(integer)
  }

  mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  mutating func add(_ integer: Int64) {
    var rest = UInt64(bitPattern: integer)
    for _ in 0..<8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  var value: Int64 { Checksum.of(bytes) }

  static func of(_ integers: [Int64]) -> Int64 {
    var hash = RowHash()
    for integer in integers { hash.add(integer) }
    return hash.value
  }

  static func of(_ first: String, _ second: String) -> Int64 {
    var hash = RowHash()
    hash.add(first)
    hash.add(second)
    return hash.value
  }
}
