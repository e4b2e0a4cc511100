package import AppStoreReceipts
import Foundation

/// The part of JSON Schema that the OpenAPI document uses.
package struct SchemaCheck {
  private let document: JSONValue
  /// Whether a value may have members that the document does not know, as both sides of the protocol allow.
  private let takesMore: Bool

  package init(document: JSONValue, takesMore: Bool) {
    (self.document, self.takesMore) = (document, takesMore)
  }

  /// What is wrong with an answer of an operation, and where. Nothing of the answer is in the texts.
  package func faults(
    in answer: JSONValue, to method: String, _ path: String, _ status: Int
  ) -> [String] {
    var described = document["paths"]?[path]?[method.lowercased()]?["responses"]?["\(status)"]
    if let name = described?["$ref"]?.string?.split(separator: "/").last {
      described = document["components"]?["responses"]?[String(name)]
    }
    guard let content = described?["content"]?.object?.first?.value, let schema = content["schema"] else {
      return ["\(status): not documented"]
    }
    return faults(in: answer, of: schema, at: "the answer")
  }

  /// The same about a value, and a schema of the document.
  package func faults(in value: JSONValue, of schema: JSONValue, at place: String) -> [String] {
    if let name = schema["$ref"]?.string?.split(separator: "/").last {
      return faults(in: value, of: document["components"]?["schemas"]?[String(name)] ?? .null, at: place)
    }
    if let choices = schema["anyOf"]?.array, schema["properties"] == nil {
      let isAny = choices.contains { faults(in: value, of: $0, at: place).isEmpty }
      return isAny ? [] : ["\(place): none of the choices"]
    }
    let types = schema["type"]?.array?.compactMap(\.string) ?? schema["type"]?.string.map { [$0] } ?? []
    guard types.isEmpty || types.contains(where: { isOf($0, value) }) else {
      return ["\(place): not \(types.joined(separator: " or "))"]
    }
    return limits(of: value, schema, place) + members(of: value, schema, place)
  }

  private func members(of value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    var found = (schema["required"]?.array ?? []).compactMap(\.string).filter { value[$0] == nil }
      .map { "\(place): \($0) is missing" }
    for (name, member) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let described = schema["properties"]?[name] else {
        if !takesMore, schema["properties"] != nil { found.append("\(place): \(name) is not documented") }
        continue
      }
      found += faults(in: member, of: described, at: place + "." + name)
    }
    for (index, item) in (value.array ?? []).enumerated() {
      found += faults(in: item, of: schema["items"] ?? .null, at: place + ".\(index)")
    }
    return found
  }

  private func limits(of value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    var found: [String] = []
    if schema["format"]?.string == "uuid", let text = value.string, UUID(uuidString: text) == nil {
      found.append("\(place): no UUID")
    }
    guard case .integer(let number) = value else { return found }
    if case .integer(let least)? = schema["minimum"], number < least {
      found.append("\(place): less than \(least)")
    }
    if case .integer(let most)? = schema["maximum"], number > most {
      found.append("\(place): more than \(most)")
    }
    return found
  }

  private func isOf(_ type: String, _ value: JSONValue) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("integer", .integer),
      ("number", .integer),
      ("number", .number), ("boolean", .bool), ("null", .null):
      true
    default: false
    }
  }
}
