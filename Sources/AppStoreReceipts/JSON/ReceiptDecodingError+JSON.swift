extension ReceiptDecodingError {
  /// The text is not JSON. `offset` counts bytes from the start of the text.
  static func notJSON(
    _ expected: String, offset: Int, found: String? = nil, reason: Reason = .malformed
  ) -> Self {
    Self(expected: expected, found: found, location: "byte \(offset)", reason: reason, offset: offset)
  }

  /// A field has an unreadable value, or a required field is absent. The path contains only names that this
  /// module knows, never a name from the input.
  package static func field(
    _ path: String, _ expected: String, found: String? = nil, reason: Reason = .malformed
  ) -> Self {
    Self(expected: expected, found: found, location: path, reason: reason)
  }

  /// The same error within a larger document: "byte 7" becomes "payload, byte 7".
  func relocated(to part: String) -> Self {
    guard offset != nil else { return self }
    return Self(expected: expected, found: found, location: "\(part), \(location)", reason: reason)
  }
}
