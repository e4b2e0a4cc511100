/// Why bytes could not be decoded as a proof. The error never contains any of those bytes.
public struct ReceiptDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure, for callers that branch on it.
  @nonexhaustive
  public enum Reason: String, Hashable, Sendable {
    /// A value is not of the expected form.
    case malformed
    /// The bytes end too early: a length is too large, or the proof was cut short.
    case truncated
    /// A required value is missing.
    case missing
    /// More nested levels than any proof has.
    case tooDeep
    /// More bytes, elements or fields than the limit in the decoder's documentation.
    case tooLarge
  }

  /// What was expected, such as "three parts separated by dots".
  public var expected: String
  /// The place of the failure: a byte offset or a key, as far as known, such as "byte 40, in-app purchase 2,
  /// attribute 1704".
  public var location: String
  /// What was found there instead, such as "an HTML page"; nil if it is not known. Never a part of the input. Where
  /// the bytes end too early, it says so.
  public var found: String?
  /// The kind of failure.
  public var reason: Reason
  /// The offset in the decoded bytes. Nil if the location is a key, or a byte of a part that had to be
  /// decoded or joined first; the location then names the part.
  public var offset: Int?

  /// Creates an error.
  package init(
    expected: String, found: String? = nil, location: String, reason: Reason = .malformed,
    offset: Int? = nil
  ) {
    self.expected = expected
    self.found = found ?? (reason == .truncated ? "the end: the bytes are truncated" : nil)
    self.location = location
    self.reason = reason
    self.offset = offset
  }

  /// One line for a log.
  public var description: String {
    "not decodable at \(location): expected \(expected)" + (found.map { ", found \($0)" } ?? "")
  }

  /// The same failure, with an enclosing place added to the location.
  package func inside(_ place: @autoclosure () -> String) -> ReceiptDecodingError {
    var error = self
    error.location += ", " + place()
    return error
  }
}
