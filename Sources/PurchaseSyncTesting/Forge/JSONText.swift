/// JSON written by hand: the same value gives the same bytes, keys stay in order, and writing cannot fail.
indirect enum JSONText {
  case string(String)
  case integer(Int64)
  case boolean(Bool)
  case array([JSONText])
  case object([(String, JSONText)])

  var text: String {
    switch self {
    case .string(let string): Self.quoted(string)
    case .integer(let integer): String(integer)
    case .boolean(let value): value ? "true" : "false"
    case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ string: String) -> String {
    var result = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..<"\u{20}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
