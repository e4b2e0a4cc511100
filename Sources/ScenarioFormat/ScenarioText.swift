package import AppStoreReceipts

/// A scenario's JSON as people write it: short values take one line, longer ones have a line for each part.
package enum ScenarioText {
  /// Keys in the order in which a file has them; all others follow, in alphabetical order.
  private static let order = [
    "do", "happens", "name", "summary", "description", "attacks", "proves", "entries", "seconds", "timeScale",
    "environment", "verifiesOverHTTP", "launches", "expects", "before", "signedIn", "does", "extension",
    "killed",
    "reinstalled", "granted", "isVaultLocked", "paid", "verdicts", "purchase", "product", "storeAccount",
  ]

  package static func written(_ value: JSONValue, indent: String = "", width: Int = 100) -> String {
    let line = oneLine(value)
    if indent.count + line.count <= width { return line }
    let inner = indent + "  "
    switch value {
    case .object(let members):
      return "{\n"
        + sorted(members).map { name, value in
          inner + JSONValue.string(name).text + ": " + written(value, indent: inner, width: width)
        }.joined(separator: ",\n") + "\n" + indent + "}"
    case .array(let items):
      return "[\n" + items.map { inner + written($0, indent: inner, width: width) }.joined(separator: ",\n")
        + "\n" + indent + "]"
    default: return line
    }
  }

  package static func oneLine(_ value: JSONValue) -> String {
    switch value {
    case .object(let members):
      "{" + sorted(members).map { JSONValue.string($0).text + ": " + oneLine($1) }.joined(separator: ", ")
        + "}"
    case .array(let items): "[" + items.map(oneLine).joined(separator: ", ") + "]"
    default: value.text
    }
  }

  private static func sorted(_ members: [String: JSONValue]) -> [(String, JSONValue)] {
    func rank(_ name: String) -> Int { order.firstIndex(of: name) ?? order.count }
    return members.map { ($0.key, $0.value) }.sorted { (rank($0.0), $0.0) < (rank($1.0), $1.0) }
  }
}
