/// Reads a property list as XML, `<plist version="1.0"><dict>…`, as far as a dictionary of texts needs it.
///
/// It is no full XML parser: it knows only the five entities of XML and numeric ones, no internal subset of a
/// document type, and skips attributes. A list or dictionary inside is skipped with a counter and kept as its
/// bytes.
struct XMLPropertyList {
  private var cursor: ByteCursor

  init(_ cursor: ByteCursor) {
    self.cursor = cursor
  }

  mutating func fields() throws(ReceiptDecodingError) -> [ReceiptField] {
    cursor.skipByteOrderMark()
    guard let root = try tag(), root.name == "plist", root.isOpening else { throw cursor.missing("<plist>") }
    guard let top = try tag(), top.name == "dict", top.kind != .end else { throw cursor.missing("<dict>") }
    var fields: [ReceiptField] = []
    while top.isOpening {
      guard let next = try tag() else { throw cursor.missing("<key> or </dict>") }
      if next.name == "dict", next.kind == .end { break }
      guard next.name == "key", next.isOpening else { throw cursor.failure("<key>", at: next.start) }
      guard fields.count < PropertyList.maximumFieldCount else {
        throw cursor.failure("at most \(PropertyList.maximumFieldCount) fields", at: next.start, .tooLarge)
      }
      let key = try content(of: next)
      guard let value = try tag(), value.kind != .end else { throw cursor.missing("a value") }
      fields.append(ReceiptField(key: key, value: try self.value(value)))
    }
    guard let end = try tag(), end.name == "plist", end.kind == .end else { throw cursor.missing("</plist>") }
    cursor.skipWhiteSpace()
    if !cursor.isAtEnd, try tag() != nil { throw cursor.failure("nothing after </plist>") }
    return fields
  }

  private struct Tag {
    enum Kind { case opening, empty, end }
    var kind: Kind
    var name: String
    /// The offset of its `<`.
    var start: Int
    var isOpening: Bool { kind == .opening }
  }

  /// The next tag, after white space, comments and instructions; nil at the end of the bytes.
  private mutating func tag() throws(ReceiptDecodingError) -> Tag? {
    while true {
      cursor.skipWhiteSpace()
      guard cursor.current != nil else { return nil }
      let start = cursor.position
      if cursor.skip("<!--") {
        _ = try cursor.skip(through: "-->")
      } else if cursor.skip("<?") {
        _ = try cursor.skip(through: "?>")
      } else if cursor.skip("<!DOCTYPE") {
        let type = try cursor.skip(through: ">")
        guard !cursor.bytes[type].contains(UInt8(ascii: "[")) else {
          throw cursor.failure("a document type without declarations", at: start)
        }
      } else {
        guard cursor.skip("<") else { throw cursor.failure("a tag") }
        return try tag(from: start)
      }
    }
  }

  private mutating func tag(from start: Int) throws(ReceiptDecodingError) -> Tag {
    let isEnd = cursor.skip("/")
    let name = cursor.position
    while let octet = cursor.current, (0x61...0x7A).contains(octet | 0x20) { cursor.position += 1 }
    guard cursor.position > name, cursor.position - name <= 16 else {
      throw cursor.failure("the name of a tag", at: start)
    }
    let text = try cursor.text(name..<cursor.position)
    let rest = try cursor.skip(through: ">")
    let isEmpty = cursor.bytes[rest].last == UInt8(ascii: "/")
    return Tag(kind: isEnd ? .end : isEmpty ? .empty : .opening, name: text, start: start)
  }

  private mutating func value(_ tag: Tag) throws(ReceiptDecodingError) -> ReceiptField.Value {
    switch tag.name {
    case "string", "integer", "date":
      return .text(tag.isOpening ? try content(of: tag) : "")
    case "true", "false":
      if tag.isOpening { _ = try content(of: tag) }
      return .text(tag.name)
    case "data":
      guard tag.isOpening else { return .data([]) }
      let text = try content(of: tag)
      guard let data = Base64Octets.decode(text.utf8) else { throw cursor.failure("base64", at: tag.start) }
      return .data(data)
    case "dict", "array", "real":
      return .other(try container(tag))
    default: throw cursor.failure("a value", at: tag.start)
    }
  }

  /// The text up to the end tag with the same name. It contains no tags.
  private mutating func content(of tag: Tag) throws(ReceiptDecodingError) -> String {
    let start = cursor.position
    var ahead = cursor
    let plain = try ahead.skip(through: "</")
    let isPlain = !cursor.bytes[plain].contains { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }
    if isPlain {
      cursor.position = plain.upperBound
      try close(tag)
      return try cursor.text(plain)
    }
    var octets: [UInt8] = []
    octets.reserveCapacity(plain.count)
    while let octet = cursor.current {
      switch octet {
      case UInt8(ascii: "&"):
        octets.append(contentsOf: String(try entity()).utf8)
      case UInt8(ascii: "<"):
        if cursor.skip("<![CDATA[") {
          octets.append(contentsOf: cursor.bytes[try cursor.skip(through: "]]>")])
          continue
        }
        try close(tag)
        return try cursor.text(octets, at: start)
      default:
        octets.append(octet)
        cursor.position += 1
      }
    }
    throw cursor.failure("</\(tag.name)>", at: start, .truncated)
  }

  private mutating func close(_ tag: Tag) throws(ReceiptDecodingError) {
    let start = cursor.position
    guard let end = try self.tag(), end.kind == .end, end.name == tag.name else {
      throw cursor.failure("</\(tag.name)>", at: start)
    }
  }

  private mutating func entity() throws(ReceiptDecodingError) -> Unicode.Scalar {
    let start = cursor.position
    let end = min(start + 12, cursor.bytes.count)
    guard let semicolon = cursor.bytes[start..<end].firstIndex(of: UInt8(ascii: ";")) else {
      throw cursor.failure("the end of an entity", at: start)
    }
    let name = try cursor.text(start + 1..<semicolon)
    cursor.position = semicolon + 1
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default:
      let number =
        name.hasPrefix("#x")
        ? UInt32(name.dropFirst(2), radix: 16)
        : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
      guard let number, let scalar = Unicode.Scalar(number) else {
        throw cursor.failure("an entity of XML", at: start)
      }
      return scalar
    }
  }

  /// The bytes of a list or dictionary. Only tags with its own name are counted.
  private mutating func container(_ tag: Tag) throws(ReceiptDecodingError) -> [UInt8] {
    var depth = tag.isOpening ? 1 : 0
    while depth > 0 {
      while let octet = cursor.current, octet != UInt8(ascii: "<") { cursor.position += 1 }
      if cursor.skip("<![CDATA[") {
        _ = try cursor.skip(through: "]]>")
        continue
      }
      guard let next = try self.tag() else {
        throw cursor.failure("</\(tag.name)>", at: tag.start, .truncated)
      }
      if next.name == tag.name {
        depth += next.isOpening ? 1 : next.kind == .end ? -1 : 0
      }
    }
    return Array(cursor.bytes[tag.start..<cursor.position])
  }
}
