/// Reads the binary property list, `bplist00` (CFBinaryPList.c of Apple's CoreFoundation describes it).
///
/// An object is found by its number in a table of offsets. Only the keys and values of the top dictionary are
/// read, so lists that contain themselves do no harm. The bytes of all values together are at most the bytes
/// of the list, however many references point to the same string.
struct BinaryPropertyList {
  private let cursor: ByteCursor
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  /// The offset of the table. Objects end before it.
  private let table: Int
  private var budget: Int

  static func fields(_ cursor: ByteCursor) throws(ReceiptDecodingError) -> [ReceiptField] {
    var list = try BinaryPropertyList(cursor)
    return try list.fields()
  }

  /// Reads the trailer, the last 32 bytes.
  private init(_ cursor: ByteCursor) throws(ReceiptDecodingError) {
    self.cursor = cursor
    let count = cursor.bytes.count
    guard count >= 40 else { throw cursor.failure("a trailer of 32 bytes", at: count, .truncated) }
    let trailer = count - 32
    offsetSize = Int(cursor.bytes[trailer + 6])
    referenceSize = Int(cursor.bytes[trailer + 7])
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize else {
      throw cursor.failure("sizes of 1 to 8 bytes", at: trailer + 6)
    }
    budget = count
    guard let objects = Self.number(cursor.bytes, trailer + 8, 8),
      let first = Self.number(cursor.bytes, trailer + 24, 8), 8...trailer ~= first,
      objects <= (trailer - first) / offsetSize
    else { throw cursor.failure("a table of offsets within the list", at: trailer + 8, .truncated) }
    objectCount = objects
    table = first
  }

  private mutating func fields() throws(ReceiptDecodingError) -> [ReceiptField] {
    let trailer = cursor.bytes.count - 32
    guard let top = Self.number(cursor.bytes, trailer + 16, 8) else {
      throw cursor.failure("the number of the top object", at: trailer + 16)
    }
    let dictionary = try offset(ofObject: top, at: trailer + 16)
    guard cursor.bytes[dictionary] >> 4 == 0xD else { throw cursor.failure("a dictionary", at: dictionary) }
    let content = try extent(of: dictionary, unit: 2 * referenceSize)
    let count = content.count / (2 * referenceSize)
    guard count <= PropertyList.maximumFieldCount else {
      throw cursor.failure("at most \(PropertyList.maximumFieldCount) fields", at: dictionary, .tooLarge)
    }
    var fields: [ReceiptField] = []
    fields.reserveCapacity(count)
    for index in 0..<count {
      let key = content.lowerBound + index * referenceSize
      guard case .text(let name) = try object(referredAt: key) else {
        throw cursor.failure("a string as a key", at: key)
      }
      let value = try object(referredAt: key + count * referenceSize)
      fields.append(ReceiptField(key: name, value: value))
    }
    return fields
  }

  /// A number of up to eight bytes, most significant byte first; nil beyond 63 bits.
  private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
    var value: UInt64 = 0
    for octet in bytes[start..<start + count] { value = value << 8 | UInt64(octet) }
    return Int(exactly: value)
  }

  private func offset(ofObject index: Int, at place: Int) throws(ReceiptDecodingError) -> Int {
    guard index < objectCount, let offset = Self.number(cursor.bytes, table + index * offsetSize, offsetSize),
      8..<table ~= offset
    else { throw cursor.failure("a reference to an object of the list", at: place) }
    return offset
  }

  /// The range of an object's content. `unit` is the number of bytes per counted unit.
  private func extent(of object: Int, unit: Int) throws(ReceiptDecodingError) -> Range<Int> {
    var count = Int(cursor.bytes[object] & 0x0F)
    var start = object + 1
    if count == 0x0F {
      guard start < table, cursor.bytes[start] >> 4 == 1, cursor.bytes[start] & 0x0F <= 3 else {
        throw cursor.failure("a count", at: start)
      }
      let size = 1 << Int(cursor.bytes[start] & 0x0F)
      guard size < table - start, let value = Self.number(cursor.bytes, start + 1, size) else {
        throw cursor.failure("a count", at: start, .truncated)
      }
      count = value
      start += 1 + size
    }
    guard count <= (table - start) / unit else {
      throw cursor.failure("\(count) units of content", at: object, .truncated)
    }
    return start..<start + count * unit
  }

  private mutating func object(referredAt place: Int) throws(ReceiptDecodingError) -> ReceiptField.Value {
    guard let index = Self.number(cursor.bytes, place, referenceSize) else {
      throw cursor.failure("a reference to an object of the list", at: place)
    }
    let object = try offset(ofObject: index, at: place)
    let marker = cursor.bytes[object]
    switch marker >> 4 {
    case 0x0 where marker == 0x08: return .text("false")
    case 0x0 where marker == 0x09: return .text("true")
    case 0x1 where marker & 0x0F <= 3: return .text(String(try integer(object)))
    case 0x4: return .data(Array(cursor.bytes[try charged(object, unit: 1)]))
    case 0x5: return .text(try cursor.text(try charged(object, unit: 1)))
    case 0x6: return .text(try utf16(try charged(object, unit: 2)))
    case 0xA, 0xC, 0xD:
      let unit = marker >> 4 == 0xD ? 2 * referenceSize : referenceSize
      return .other(Array(cursor.bytes[object..<(try charged(object, unit: unit)).upperBound]))
    case 0x1, 0x2, 0x3:
      // A number of 16 bytes, a fraction or a date: the marker gives the size, which is small.
      let size = min(16, 1 << Int(marker & 0x0F))
      return .other(Array(cursor.bytes[object..<min(table, object + 1 + size)]))
    default: return .other([marker])
    }
  }

  private mutating func charged(_ object: Int, unit: Int) throws(ReceiptDecodingError) -> Range<Int> {
    let range = try extent(of: object, unit: unit)
    guard range.count <= budget else {
      throw cursor.failure("strings of at most the list's bytes together", at: object, .tooLarge)
    }
    budget -= range.count
    return range
  }

  private func integer(_ object: Int) throws(ReceiptDecodingError) -> Int64 {
    let size = 1 << Int(cursor.bytes[object] & 0x0F)
    guard size < table - object else { throw cursor.failure("an integer", at: object, .truncated) }
    var value: UInt64 = 0
    for octet in cursor.bytes[object + 1...object + size] { value = value << 8 | UInt64(octet) }
    // Only integers of eight bytes have a sign.
    return Int64(bitPattern: value)
  }

  private func utf16(_ range: Range<Int>) throws(ReceiptDecodingError) -> String {
    var text = ""
    var decoder = UTF16()
    let places = stride(from: range.lowerBound, to: range.upperBound, by: 2)
    // With its type, because the compiler takes 0.3 s to find it.
    let unit: (Int) -> UInt16 = { UInt16(cursor.bytes[$0]) << 8 | UInt16(cursor.bytes[$0 + 1]) }
    var units = places.lazy.map(unit).makeIterator()
    while true {
      switch decoder.decode(&units) {
      case .scalarValue(let scalar) where scalar != "\0": text.unicodeScalars.append(scalar)
      case .scalarValue: throw cursor.failure("text without NUL", at: range.lowerBound)
      case .emptyInput: return text
      case .error: throw cursor.failure("UTF-16", at: range.lowerBound)
      }
    }
  }
}
