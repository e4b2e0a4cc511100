/// The checksum of a row: over its fields in order, each with its length or a mark for NULL.
package struct RowHash {
  private var bytes: [UInt8] = []

  package init() { bytes.reserveCapacity(512) }

  package mutating func add(_ text: String) {
    add(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func add(_ text: String?) {
    guard let text else { return add(Int64(-1)) }
    add(text)
  }

  package mutating func add(_ integer: Int64?) {
    guard let integer else { return add(Int64.min) }
    add(integer)
  }

  package mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  package mutating func add(_ integer: Int64) {
    unsafe withUnsafeBytes(of: integer.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package var value: Int64 { Checksum.of(bytes) }

  package static func of(_ integers: [Int64]) -> Int64 {
    var hash = RowHash()
    for integer in integers { hash.add(integer) }
    return hash.value
  }

  package static func of(_ first: String, _ second: String) -> Int64 {
    var hash = RowHash()
    hash.add(first)
    hash.add(second)
    return hash.value
  }
}
