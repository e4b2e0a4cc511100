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
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 2)
      guard parts.count == 3, let size = Int(parts[1]) else { return nil }
      return ProofReference(kind: String(parts[2]), id: Int64(parts[0]), size: size)
    }
  }
}
