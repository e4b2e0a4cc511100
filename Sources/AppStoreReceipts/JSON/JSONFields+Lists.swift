extension JSONFields {
  /// Takes one object, which is read leniently if this one is.
  package mutating func object(_ name: String) throws(ReceiptDecodingError) -> JSONFields? {
    guard let offset = offset(name) else { return nil }
    let reader = JSONReader(source.bytes, position: offset)
    guard reader.isObject else {
      return try refused(name, "an object", found: reader.found ?? "another value")
    }
    return try lenient { () throws(ReceiptDecodingError) in
      try JSONFields(source, at: offset, path: path(of: name), isLenient: isLenient)
    }
  }

  /// Takes one object, and makes a value of it.
  package mutating func object<Made>(
    _ name: String, _ make: (JSONFields) throws(ReceiptDecodingError) -> Made
  ) throws(ReceiptDecodingError) -> Made? {
    guard let fields = try object(name) else { return nil }
    return try lenient { () throws(ReceiptDecodingError) in try make(fields) }
  }

  /// Takes the objects of an array. A single object counts as an array of one (StoreFacts pitfall 18). An
  /// empty object counts as an empty array, because some languages write it so. A reader with findings names
  /// an unreadable item, and leaves it out.
  package mutating func objects<Made>(
    _ name: String, _ make: (consuming JSONFields) throws(ReceiptDecodingError) -> Made
  ) throws(ReceiptDecodingError) -> [Made] {
    if let single = try singleObject(name) {
      guard !single.isEmpty else { return [] }
      try source.charge(MemoryLayout<Made>.stride, for: single.path)
      return try listed { () throws(ReceiptDecodingError) in try make(single) }.map { [$0] } ?? []
    }
    return try items(name, "an array of objects") { (item) throws(ReceiptDecodingError) in
      try make(item.fields())
    }
  }

  /// Whether the value is an array. Does not take it.
  package func isArray(_ name: String) -> Bool {
    var copy = self
    return copy.offset(name).map { JSONReader(source.bytes, position: $0).isArray } ?? false
  }

  /// Whether the value is an object. Does not take it.
  package func isObject(_ name: String) -> Bool {
    var copy = self
    return copy.offset(name).map { JSONReader(source.bytes, position: $0).isObject } ?? false
  }

  /// Takes the value if it is an object; leaves any other.
  private mutating func singleObject(_ name: String) throws(ReceiptDecodingError) -> JSONFields? {
    var copy = self
    guard let offset = copy.offset(name), JSONReader(source.bytes, position: offset).isObject else {
      return nil
    }
    self = copy
    return try JSONFields(source, at: offset, path: path(of: name))
  }

  /// One item of an array, valid while it is read.
  package struct Item {
    fileprivate let source: JSONSource
    fileprivate let offset: Int
    fileprivate let array: String
    fileprivate let index: Int

    /// The place of the item: "signedTransactions[3]".
    package var path: String { "\(array)[\(index)]" }

    /// The item's text; nil if it is no string.
    package func string() throws(ReceiptDecodingError) -> String? {
      var reader = JSONReader(source.bytes, position: offset)
      guard reader.isString else { return nil }
      let range = try reader.string()
      try source.charge(JSONBudget.text(range.count), for: path)
      return try reader.text(range)
    }

    /// Throws if the values made from the item, beyond its text, take more memory than is left.
    package func charge(_ count: Int) throws(ReceiptDecodingError) { try source.charge(count, for: path) }

    /// The item's members. Throws if it is no object.
    package func fields(isLenient: Bool = false) throws(ReceiptDecodingError) -> JSONFields {
      try JSONFields(source, at: offset, path: array, number: index, isLenient: isLenient)
    }
  }

  /// Takes the items of an array. They are counted first, so that the result does not grow.
  package mutating func items<Made>(
    _ name: String, _ expected: String, _ make: (Item) throws(ReceiptDecodingError) -> Made
  ) throws(ReceiptDecodingError) -> [Made] {
    guard let offset = offset(name) else { return [] }
    var reader = JSONReader(source.bytes, position: offset)
    guard reader.isArray else {
      return try refused(name, expected, found: reader.found ?? "another value") ?? []
    }
    let array = path(of: name)
    let count = try Self.count(reader)
    try source.charge(count * MemoryLayout<Made>.stride, for: array)
    var result: [Made] = []
    result.reserveCapacity(count)
    try reader.enter()
    var isFirst = true
    var index = 0
    while try reader.nextItem(&isFirst) {
      let item = Item(source: source, offset: reader.position, array: array, index: index)
      if let made = try listed({ () throws(ReceiptDecodingError) in try make(item) }) { result.append(made) }
      index += 1
      reader.pass()
    }
    return result
  }

  private static func count(_ array: JSONReader) throws(ReceiptDecodingError) -> Int {
    var reader = array
    try reader.enter()
    var isFirst = true
    var count = 0
    while try reader.nextItem(&isFirst) {
      count += 1
      reader.pass()
    }
    return count
  }

  /// Takes any value with all its content, undecoded.
  package mutating func value(_ name: String) throws(ReceiptDecodingError) -> JSONValue? {
    guard let offset = offset(name) else { return nil }
    return try source.value(at: offset)
  }

  /// The value of a required field.
  package func required<Value>(_ value: Value?, _ name: String) throws(ReceiptDecodingError) -> Value {
    guard let value else { throw .field(path(of: name), "a value", reason: .missing) }
    return value
  }
}
