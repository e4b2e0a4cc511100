/// Bytes to deliver, with their kind: a receipt, an event, a document. The bytes are never printed.
public struct Payload: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The kind of payload, named by the owner: one line of 1 to 64 bytes. An entry keeps the newest payload of each kind.
  public var kind: String
  /// The bytes of the payload.
  public var bytes: [UInt8]

  /// A payload of the given kind.
  public init(kind: String, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }

  /// Whether a text can be a kind.
  static func isKind(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && !text.utf8.contains { $0 < 32 }
  }

  /// The kind and the size, never the bytes.
  public var description: String { "\(kind), \(bytes.count) bytes" }
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["payload": description]) }
}

/// A reference to a payload, without its bytes. Two entries that share a payload have equal references.
public struct PayloadReference: Hashable, Sendable {
  /// The kind of payload.
  public var kind: String
  /// The number of the stored payload, valid in this file only. Nil for a payload by reference: its bytes were longer than
  /// `QueueLimits.payloadBytes` or were damaged, and have to be read from their source when they are sent.
  package var id: Int64?
  /// The number of bytes.
  public var size: Int

  package init(kind: String, id: Int64?, size: Int) {
    self.kind = kind
    self.id = id
    self.size = size
  }

  /// A reference as an entry has it, for the tests of code that sends entries.
  public init(kind: String, size: Int, isByReference: Bool = false) {
    self.init(kind: kind, id: isByReference ? nil : 1, size: size)
  }

  /// True if the bytes are not in the file.
  public var isByReference: Bool { id == nil }
}

extension PayloadReference {
  /// The stored form in the row of an entry: a line for each payload, with number, size and kind.
  static func text(_ references: [PayloadReference]) -> String {
    var text = ""
    for reference in references {
      if !text.isEmpty { text += "\n" }
      text += reference.id.map(String.init) ?? "-"
      text += " \(reference.size) \(reference.kind)"
    }
    return text
  }

  /// From the stored form. Malformed lines are skipped: the checksum of the row finds them.
  static func list(_ text: String) -> [PayloadReference] {
    // Byte by byte, because this runs for every entry that is read: splitting a string decodes characters.
    let utf8 = Array(text.utf8)
    var references: [PayloadReference] = []
    var start = 0
    while start < utf8.count {
      var (end, first, second) = (start, -1, -1)
      while end < utf8.count, utf8[end] != newline {
        if utf8[end] == space {
          if first < 0 { first = end } else if second < 0 { second = end }
        }
        end += 1
      }
      if second >= 0, let size = integer(utf8[(first + 1)..<second]), (0...Int64(longest)).contains(size) {
        let kind = String(decoding: utf8[(second + 1)..<end], as: UTF8.self)
        references.append(
          PayloadReference(kind: kind, id: integer(utf8[start..<first]), size: Int(size)))
      }
      start = end + 1
    }
    return references
  }

  /// No payload is longer. A size that lies must not make a sum overflow.
  static var longest: Int { 1 << 40 }
  private static var newline: UInt8 { UInt8(ascii: "\n") }
  private static var space: UInt8 { UInt8(ascii: " ") }

  /// Nil for "-" and for any other text that is no number.
  private static func integer(_ digits: ArraySlice<UInt8>) -> Int64? {
    let isNegative = digits.first == UInt8(ascii: "-")
    let rest = isNegative ? digits.dropFirst() : digits
    guard !rest.isEmpty, rest.count <= 19 else { return nil }
    var value: UInt64 = 0
    for digit in rest {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value &* 10 &+ UInt64(digit &- UInt8(ascii: "0"))
    }
    return isNegative ? Int64(truncatingIfNeeded: 0 &- value) : Int64(exactly: value)
  }
}
