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
}
