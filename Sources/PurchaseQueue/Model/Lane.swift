/// A sequence of entries that are delivered in order, named by the owner of the queue. Lanes do not block each other.
///
/// Any name is fine: one lane for everything, or one for each account or receiver.
public struct Lane: RawRepresentable, Hashable, Sendable, ExpressibleByStringInterpolation {
  /// The name, as it is stored.
  public var rawValue: String

  /// Takes any text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Takes a literal: `let lane: Lane = "events"`.
  public init(stringLiteral name: String) { rawValue = name }

  /// Names are compared as bytes, as the file compares them: two spellings of one text are two lanes.
  public static func == (left: Lane, right: Lane) -> Bool { left.rawValue.hasSameBytes(as: right.rawValue) }

  /// Two spellings of one text have one hash, which does no harm.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension String {
  /// Whether the two are one text byte by byte. `==` takes two spellings of a letter for one.
  package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Whether the bytes of this text come first.
  package func hasBytes(before other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
