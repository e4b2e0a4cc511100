/// Bytes that prove something, and which kind of proof they are. Never printed.
public struct Proof: Hashable, Sendable, CustomStringConvertible {
  /// What the bytes are, in the owner's words: 1 to 64 bytes of text in one line. An entry keeps the newest of each
  /// kind.
  public var kind: String
  /// The proof itself.
  public var bytes: [UInt8]

  /// A proof of the given kind.
  public init(kind: String, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }

  /// The kind and the size, never the bytes.
  public var description: String { "\(kind), \(bytes.count) bytes" }
}

/// A proof in the file, without its bytes. Two entries that share a proof have equal references.
public struct ProofReference: Hashable, Sendable {
  /// What the bytes are.
  public var kind: String
  /// Where they are stored, meaningful within this file only. Nil: queued by reference, because the bytes are more
  /// than `QueueLimits.proofBytes`, or were found damaged; they have to be read from their source when sent.
  public var id: Int64?
  /// How many bytes.
  public var size: Int

  package init(kind: String, id: Int64?, size: Int) {
    self.kind = kind
    self.id = id
    self.size = size
  }

  /// True if the bytes are not in the file.
  public var isByReference: Bool { id == nil }
}

extension ProofReference {
  /// As it stands in the row of an entry: number, size and kind of each proof, a line each.
  static func text(_ references: [ProofReference]) -> String {
    var text = ""
    for reference in references {
      if !text.isEmpty { text += "\n" }
      text += reference.id.map(String.init) ?? "-"
      text += " \(reference.size) \(reference.kind)"
    }
    return text
  }

  /// From the text in the row. Lines that nobody wrote so are passed over: the row's checksum finds them.
  static func list(_ text: String) -> [ProofReference] {
    // Byte by byte: this is read with every entry, and splitting a string looks for whole characters.
    var references: [ProofReference] = []
    for line in Array(text.utf8).split(separator: UInt8(ascii: "\n")) {
      guard let first = line.firstIndex(of: space) else { continue }
      guard let second = line[(first + 1)...].firstIndex(of: space) else { continue }
      guard let size = integer(line[(first + 1)..<second]) else { continue }
      let kind = String(decoding: line[(second + 1)...], as: UTF8.self)
      references.append(ProofReference(kind: kind, id: integer(line[..<first]), size: Int(size)))
    }
    return references
  }

  private static var space: UInt8 { UInt8(ascii: " ") }

  /// Nil for "-" and whatever else is no number.
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
