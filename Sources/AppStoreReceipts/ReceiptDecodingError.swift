/// Why bytes are not the proof that they were taken for. Never holds any of those bytes.
public struct ReceiptDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a caller can branch on.
  @nonexhaustive
  public enum Reason: String, Hashable, Sendable {
    /// Something is there that cannot be what it should be.
    case malformed
    /// The bytes end before what they announce: a length that lies, or a proof that was cut short.
    case truncated
    /// Something without which the proof is of no use is missing.
    case missing
    /// More levels than any proof has.
    case tooDeep
    /// More bytes, elements or fields than the limit that the decoder's documentation states.
    case tooLarge
  }

  /// What was expected, such as "three parts separated by dots".
  public var expected: String
  /// Where: a byte offset or a key, as far as it is known; "byte 40, in-app purchase 2, attribute 1704".
  public var location: String
  /// The kind of failure.
  public var reason: Reason
  /// The offset in the bytes that were decoded; nil where the location is a key, or a byte of a part that
  /// had to be decoded or joined first (the location then says of which).
  public var offset: Int?

  /// States what was expected and where.
  public init(expected: String, location: String, reason: Reason = .malformed, offset: Int? = nil) {
    self.expected = expected
    self.location = location
    self.reason = reason
    self.offset = offset
  }

  /// One line for a log.
  public var description: String { "not decodable at \(location): expected \(expected)" }

  /// The same failure, in something that contains its place.
  func inside(_ place: @autoclosure () -> String) -> ReceiptDecodingError {
    var error = self
    error.location += ", " + place()
    return error
  }
}
