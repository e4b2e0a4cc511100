/// The header fields of a request or an answer, in the order they were sent.
///
/// Names are compared without regard to ASCII case (RFC 9110 5.1); a name may occur more than once.
/// A value type: copies are independent and may go to other threads.
package struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// Every field in order, names spelled as they were given. Assign to it to send a name several times.
  package var fields: [(name: String, value: String)]

  /// Makes headers of `fields`, keeping their order and any repeated names.
  package init(_ fields: [(name: String, value: String)] = []) {
    self.fields = fields
  }

  /// Makes headers of a literal such as `["Content-Type": "text/plain"]`; names may repeat.
  package init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { (name: $0.0, value: $0.1) }
  }

  /// The first value of the field called `name`, or nil when there is none.
  ///
  /// Assigning replaces every field of that name by one; assigning nil removes them all.
  package subscript(name: String) -> String? {
    get { fields.first { ASCII.equalIgnoringCase($0.name, name) }?.value }
    set {
      let place = fields.firstIndex { ASCII.equalIgnoringCase($0.name, name) } ?? fields.endIndex
      fields.removeAll { ASCII.equalIgnoringCase($0.name, name) }
      if let newValue {
        // No field before the first of that name was removed, so its place is still right.
        fields.insert((name: name, value: newValue), at: place)
      }
    }
  }

  /// Every value of the field called `name`, in order.
  package func values(of name: String) -> [String] {
    var values: [String] = []
    for field in fields where ASCII.equalIgnoringCase(field.name, name) { values.append(field.value) }
    return values
  }

  /// Whether the comma-separated list in the fields called `name` has the given token.
  func list(_ name: String, contains token: String) -> Bool {
    for field in fields where ASCII.equalIgnoringCase(field.name, name) {
      for element in field.value.utf8.split(separator: ASCII.comma) {
        if ASCII.equalIgnoringCase(ASCII.trimmed(element), token.utf8) { return true }
      }
    }
    return false
  }

  /// Whether both have the same fields in the same order; case matters in values, not in names.
  package static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
    left.fields.elementsEqual(right.fields) {
      ASCII.equalIgnoringCase($0.name, $1.name) && $0.value == $1.value
    }
  }

  package func hash(into hasher: inout Hasher) {
    for field in fields {
      hasher.combine(field.name.utf8.map(ASCII.lowercased))
      hasher.combine(field.value)
    }
  }
}
