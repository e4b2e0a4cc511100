/// Why bytes are not the proof that they were taken for. Never holds any of those bytes.
public struct ReceiptDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was expected, such as "three parts separated by dots".
  public var expected: String
  /// Where: a byte offset or a key, as far as it is known.
  public var location: String

  /// States what was expected and where.
  public init(expected: String, location: String) {
    self.expected = expected
    self.location = location
  }

  /// One line for a log.
  public var description: String { "not decodable at \(location): expected \(expected)" }
}
