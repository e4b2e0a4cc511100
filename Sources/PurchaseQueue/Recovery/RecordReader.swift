import PurchaseSQLite

/// Reads SQLite's records (<https://sqlite.org/fileformat2.html#record_format>). Nothing in them is believed: every
/// number is checked before it is used.
enum RecordReader {
  /// A number of 1 to 9 bytes, and where it ends; nil if it reaches beyond `end`.
  static func varint(_ bytes: [UInt8], at offset: Int, before end: Int) -> (value: Int64, end: Int)? {
    var value: UInt64 = 0
    var position = offset
    for index in 0..<9 {
      guard position < end else { return nil }
      let byte = bytes[position]
      position += 1
      if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), position) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { break }
    }
    return (Int64(bitPattern: value), position)
  }

  /// The serial types of a record that begins at `offset`, and where its values begin; nil for what is no record.
  static func types(
    _ bytes: [UInt8], at offset: Int, before end: Int
  ) -> (types: [Int64], start: Int)? {
    guard let header = varint(bytes, at: offset, before: end), header.value >= 1,
      header.value <= Int64(end - offset)
    else { return nil }
    let start = offset + Int(header.value)
    var position = header.end
    var types: [Int64] = []
    while position < start {
      guard let type = varint(bytes, at: position, before: start) else { return nil }
      guard type.value >= 0, type.value <= 1 << 31, type.value != 10, type.value != 11 else { return nil }
      types.append(type.value)
      position = type.end
    }
    return (types, start)
  }

  static func size(_ type: Int64) -> Int {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    default: Int(type - 12) / 2
    }
  }

  /// The values of a whole record; nil if its sizes do not fit.
  static func values(_ record: [UInt8]) -> [SQLValue]? {
    guard let (types, start) = types(record, at: 0, before: record.count) else { return nil }
    var values: [SQLValue] = []
    var position = start
    for type in types {
      let size = size(type)
      guard size <= record.count - position else { return nil }
      guard let value = value(record, position..<position + size, type) else { return nil }
      values.append(value)
      position += size
    }
    return position == record.count ? values : nil
  }

  /// Nil for a real number, which none of our tables holds.
  private static func value(_ record: [UInt8], _ range: Range<Int>, _ type: Int64) -> SQLValue? {
    switch type {
    case 0: return .null
    case 1...6:
      var value: Int64 = record[range.lowerBound] >= 0x80 ? -1 : 0
      for index in range { value = value << 8 | Int64(record[index]) }
      return .integer(value)
    case 7: return nil
    case 8: return .integer(0)
    case 9: return .integer(1)
    default:
      if type % 2 == 0 { return .bytes(Array(record[range])) }
      return .text(String(decoding: record[range], as: UTF8.self))
    }
  }
}
