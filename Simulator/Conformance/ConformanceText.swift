import AppStoreReceipts
import Foundation

/// Requests and answers for a report: short, printable, and without secrets.
enum ConformanceText {
  private static let longest = 600

  /// `tokens` are removed from every line, also if a backend echoes them.
  static func shortened(_ body: Data, _ json: JSONValue?, without tokens: [String]) -> String {
    var text = json.map { redacted($0).text } ?? String(decoding: body.prefix(longest), as: UTF8.self)
    for token in tokens where !token.isEmpty { text = text.replacing(token, with: "(token)") }
    let line = InspectText.safe(text.replacing("\n", with: " "))
    return line.count <= longest ? line : line.prefix(longest) + "… (\(body.count) bytes)"
  }

  /// Replaces proofs and tokens by their size.
  private static func redacted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let items): return .array(items.map(redacted))
    case .object(let members):
      var shown: [String: JSONValue] = [:]
      for (name, member) in members {
        // The uuid of a device is its credential.
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
