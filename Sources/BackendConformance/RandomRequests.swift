import AppStoreReceipts
package import Foundation
import PurchaseSyncTesting

/// Random requests near the OpenAPI document: a value follows the schema, has another type, is missing or is extreme.
/// The same seed gives the same requests.
package struct RandomRequests {
  package struct Request: Sendable {
    package var method: String
    package var path: String
    package var caller: ConformanceLab.Caller
    package var headers: [String: String]
    package var body: Data
  }

  private let operations: [(path: String, method: String, operation: JSONValue)]
  private let schemas: JSONValue
  private var random: SplitMix64
  /// Values that the backend knows, by the name of the member: most requests have them, so that some are accepted.
  private let known: [String: String]
  /// The numbers of orders that were made, the newest last.
  private var orders: [String] = []

  /// - Parameters:
  ///   - product: A product that the backend sells.
  ///   - account: The name of the first account.
  package init(document: Data, seed: UInt64, product: String? = nil, account: String? = nil) throws {
    known = ["productID": product, "account": account].compactMapValues(\.self)
    let document = try JSONValue(json: document)
    schemas = document["components"]?["schemas"] ?? .null
    random = SplitMix64(seed: seed)
    var found: [(path: String, method: String, operation: JSONValue)] = []
    // The paths outside of /v1 are the mock server's own.
    for (path, item) in (document["paths"]?.object ?? [:]).sorted(by: { $0.key < $1.key })
    where path.hasPrefix("/v1/") {
      for method in ["get", "post", "put", "delete"] {
        if let operation = item[method] { found.append((path, method.uppercased(), operation)) }
      }
    }
    operations = found
  }

  /// Later requests are about this order, too.
  package mutating func note(_ reply: ConformanceLab.Reply) {
    guard reply.isSuccess, let number = reply.json?["number"]?.string else { return }
    orders = orders.suffix(20) + [number]
  }

  package mutating func next() -> Request {
    let chosen = operations[Int.random(in: 0..<operations.count, using: &random)]
    var request = Request(
      method: chance(50)
        ? ["GET", "POST", "PUT", "PATCH", "HEAD"].randomElement(using: &random) ?? "GET" : chosen.method,
      path: String(chosen.path.dropFirst()), caller: caller(), headers: [:], body: Data())
    if request.path.contains("{") {
      let prefix = request.path.prefix { $0 != "{" }
      let word = chance(2) ? orders.randomElement(using: &random) ?? word() : word()
      // A client sends no segment of two dots.
      request.path =
        prefix
        + (word == ".." ? "..." : word.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "x")
        + chosen.path.drop { $0 != "}" }.dropFirst()
    }
    for parameter in chosen.operation["parameters"]?.array ?? [] where !chance(10) {
      guard let name = parameter["name"]?.string else { continue }
      switch parameter["in"]?.string {
      case "header":
        let text = name == "Idempotency-Key" && !chance(4) ? random.nextUUID().uuidString : word()
        request.headers[name] = text.filter { $0.isASCII && !$0.isNewline && $0 != "\0" }
      case "query":
        request.path +=
          "?\(name)=" + (word().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "x")
      default: break
      }
    }
    // Foundation sends no body with these methods.
    if request.method == "GET" || request.method == "HEAD" { return request }
    guard let schema = chosen.operation["requestBody"]?["content"]?["application/json"]?["schema"] else {
      return request
    }
    request.body = chance(20) ? broken() : value(schema, depth: 0).data
    return request
  }

  private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

  private mutating func caller() -> ConformanceLab.Caller {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .anonymous
    case 1: .token(word().filter { $0.isASCII && !$0.isNewline && $0 != "\0" })
    case 2, 3: .device(random.nextUUID())
    case 4, 5: .bob
    default: .alice
    }
  }

  // MARK: Values

  private mutating func value(_ schema: JSONValue, depth: Int) -> JSONValue {
    if let name = schema["$ref"]?.string?.split(separator: "/").last {
      return value(schemas[String(name)] ?? .null, depth: depth)
    }
    if chance(25) || depth > 8 { return anything(depth) }
    if let choices = schema["anyOf"]?.array, schema["properties"] == nil,
      let choice = choices.randomElement(using: &random)
    {
      return value(choice, depth: depth + 1)
    }
    let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string ?? "null"]
    switch types.randomElement(using: &random) {
    case "object": return object(schema, depth: depth)
    case "array":
      let count = chance(30) ? 101 : Int.random(in: 0...3, using: &random)
      return .array((0..<count).map { _ in value(schema["items"] ?? .null, depth: depth + 1) })
    case "string": return .string(string(schema))
    case "integer": return .integer(integer())
    case "number":
      return chance(2) ? .integer(integer()) : .number("1.5e\(Int.random(in: -400...400, using: &random))")
    case "boolean": return .bool(chance(2))
    default: return .null
    }
  }

  private mutating func object(_ schema: JSONValue, depth: Int) -> JSONValue {
    var members: [String: JSONValue] = [:]
    // Sorted, so that the same seed gives the same requests.
    for (name, member) in (schema["properties"]?.object ?? [:]).sorted(by: { $0.key < $1.key })
    where !chance(12) {
      let isKnown = known[name] != nil && !chance(6)
      members[name] = isKnown ? known[name].map(JSONValue.string) : value(member, depth: depth + 1)
    }
    if chance(10) { members[word()] = anything(depth + 1) }
    return .object(members)
  }

  private mutating func string(_ schema: JSONValue) -> String {
    if schema["format"]?.string == "uuid", !chance(10) { return random.nextUUID().uuidString }
    let examples = schema["examples"]?.array?.compactMap(\.string) ?? []
    if let example = examples.randomElement(using: &random), !chance(6) { return example }
    return word()
  }

  private mutating func word() -> String {
    let words = [
      "", " ", "gems.100", "1", "Production", "appReceipt", "bound", "..", "%00", "a/b", "\u{0}", "\u{FEFF}",
      "日本", "e\u{301}", "'; DROP TABLE credits; --", "999999999999999999999999", "eyJhbGciOiJub25lIn0.e30.",
      "MIIB", "null", String(repeating: "x", count: 9_000), "\r\nSet-Cookie: a=b",
    ]
    return words.randomElement(using: &random) ?? ""
  }

  private mutating func integer() -> Int64 {
    if chance(2) { return 1 }
    return [0, 1, 2, -1, 100, .max, .min, 1_700_000_000_000, 9_007_199_254_740_993].randomElement(
      using: &random)
      ?? 0
  }

  private mutating func anything(_ depth: Int) -> JSONValue {
    switch Int.random(in: 0..<7, using: &random) {
    case 0: .null
    case 1: .bool(true)
    case 2: .integer(integer())
    case 3: .number("1e999")
    case 4: .string(word())
    case 5: .array(depth > 8 ? [] : [anything(depth + 1)])
    default: .object(depth > 8 ? [:] : [word(): anything(depth + 1)])
    }
  }

  /// A body that is not JSON.
  private mutating func broken() -> Data {
    let texts = [
      "", "{", "[[[[", "\u{0}", "{\"a\":}", "true false", "\"", String(repeating: "[", count: 100_000),
    ]
    return Data((texts.randomElement(using: &random) ?? "").utf8)
  }
}
