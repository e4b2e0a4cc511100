import AppStoreReceipts
import Foundation

/// Requests and answers as a report may show them: short, printable, and without what is secret.
enum ConformanceText {
  private static let longest = 600

  static func shortened(_ body: Data, _ json: JSONValue?) -> String {
    let text = json.map { redacted($0).text } ?? String(decoding: body.prefix(longest), as: UTF8.self)
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
        guard ["data", "signedPayload", "signedTransaction", "receipt", "receipt-data"].contains(name),
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
