/// The checksum of a row: over its fields in order, each with its length or a mark for NULL.
///
/// `Checksum` over the concatenated fields, without a buffer that would hold them: every row that is read or written has
/// one.
package struct RowHash {
  private var state = Checksum.Stream()

  package init() {}

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      add(Int64(utf8.count))
      unsafe state.add(UnsafeRawBufferPointer(utf8))
    }
  }

  package mutating func add(_ text: String?) {
    guard let text else { return add(Int64(-1)) }
    add(text)
  }

  package mutating func add(_ integer: Int64?) {
    guard let integer else { return add(Int64.min) }
    add(integer)
  }

  package mutating func add(_ flag: Bool) { state.add(UInt64(flag ? 1 : 0), bytes: 1) }

  package mutating func add(_ integer: Int64) { state.add(UInt64(bitPattern: integer), bytes: 8) }

  package var value: Int64 { state.value }

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
