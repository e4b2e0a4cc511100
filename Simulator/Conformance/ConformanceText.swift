import AppStoreReceipts
import Foundation

/// Requests and answers as a report may show them: short, printable, and without what is secret.
enum ConformanceText {
  private static let longest = 600

  /// `tokens` stand in no line, whoever echoes them.
  static func shortened(_ body: Data, _ json: JSONValue?, without tokens: [String]) -> String {
    var text = json.map { redacted($0).text } ?? String(decoding: body.prefix(longest), as: UTF8.self)
    for token in tokens where !token.isEmpty { text = text.replacing(token, with: "(token)") }
    let line = InspectText.safe(text.replacing("\n", with: " "))
    return line.count <= longest ? line : line.prefix(longest) + "… (\(body.count) bytes)"
  }

  /// Proofs and tokens are named by their size.
  private static func redacted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let items): return .array(items.map(redacted))
    case .object(let members):
      var shown: [String: JSONValue] = [:]
      for (name, member) in members {
        // A device's uuid is its credential.
        let secrets = [
          "data", "signedPayload", "signedTransaction", "receipt", "receipt-data", "accountToken", "device",
          "uuid",
        ]
        guard secrets.contains(name),
          let text = member.string
        else {
          shown[name] = redacted(member)
          continue
        }
        shown[name] = .string("\(text.utf8.count) bytes")
      }
      return .object(shown)
    default: return value
    }
  }
}
