extension JSONFields {
  /// Throws, because a value has another form than expected. A lenient reader names it, and returns nil; of the
  /// ``optional`` fields every reader returns nil.
  mutating func refused<Value>(
    _ name: String, _ expected: String, _ value: JSONValue
  ) throws(ReceiptDecodingError) -> Value? {
    try refused(name, expected, found: value.found)
  }

  /// The same, with words for what was found.
  mutating func refused<Value>(
    _ name: String, _ expected: String, found: String
  ) throws(ReceiptDecodingError) -> Value? {
    let error = ReceiptDecodingError.field(path(of: name), expected, found: found)
    if optional.contains(name) {
      keep(name)
      _ = source.findings?.takes(error)
      return nil
    }
    return try lenient { () throws(ReceiptDecodingError) -> Value in throw error }
  }

  /// Makes a value of one field. A lenient reader names an error in it, and returns nil. It throws if the
  /// document has to be refused as a whole.
  package func lenient<Made>(
    _ make: () throws(ReceiptDecodingError) -> Made
  ) throws(ReceiptDecodingError) -> Made? {
    guard isLenient else { return try make() }
    return try listed(make)
  }

  /// Makes a value of one item of a list. A reader with findings names an error in it, and returns nil.
  func listed<Made>(
    _ make: () throws(ReceiptDecodingError) -> Made
  ) throws(ReceiptDecodingError) -> Made? {
    guard let findings = source.findings else { return try make() }
    do throws(ReceiptDecodingError) {
      return try make()
    } catch {
      guard findings.takes(error) else { throw error }
      return nil
    }
  }
}

extension JSONValue {
  /// The kind of the value, in words, without its content.
  var found: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .string(""): "an empty text"
    case .string: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONReader {
  /// The kind of the value here, in words; nil if there is none.
  var found: String? {
    if isObject { return "an object" }
    if isArray { return "an array" }
    if isString { return "a text" }
    var copy = self
    do throws(ReceiptDecodingError) {
      return try copy.shallowValue().found
    } catch {
      return nil
    }
  }
}
