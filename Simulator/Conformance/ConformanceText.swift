import AppStoreReceipts
import CommandLineTools
import Foundation

/// Requests and answers for a report: short, printable, and without secrets.
enum ConformanceText {
  private static let longest = 600
  /// What is looked at of a body that is not JSON: enough for a proof in front of the shown part.
  private static let read = 64 << 10
  /// Longer runs of base64 are a proof; ids, orders and tokens of tests are shorter.
  private static let longestWord = 80
  /// Base64 in lines has 64 or 76 characters a line.
  private static let proofLine = 60

  /// `tokens` are removed from every line, also if a backend echoes them.
  static func shortened(_ body: Data, _ json: JSONValue?, without tokens: [String]) -> String {
    var text = json.map { redacted($0).text } ?? String(decoding: body.prefix(read), as: UTF8.self)
    for token in tokens where !token.isEmpty { text = text.replacing(token, with: "(token)") }
    let line = SafeText.shown(withoutProofs(text).replacing("\n", with: " "))
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

  /// Replaces everything that has the shape of a proof by its size: long runs of base64 and of a signed transaction's
  /// three parts, wherever a backend puts them, and also in lines.
  static func withoutProofs(_ text: String) -> String {
    let scalars = Array(text.unicodeScalars)
    var shown = ""
    var word = ProofWord()
    var place = 0
    while place < scalars.count {
      let taken = word.take(scalars[place...])
      if taken == 0 {
        shown += word.end() + String(scalars[place])
        place += 1
      }
      place += taken
    }
    return shown + word.end()
  }

  /// A run of characters that may be a proof.
  private struct ProofWord {
    private var text = String.UnicodeScalarView()
    private var bytes = 0
    private var lineBytes = 0

    /// The run as it is, or its size if it is a proof.
    mutating func end() -> String {
      defer { self = ProofWord() }
      return bytes > ConformanceText.longestWord ? "(\(bytes) bytes)" : String(text)
    }

    /// How many scalars of the text belong to the run, of which they are the next ones.
    mutating func take(_ rest: ArraySlice<Unicode.Scalar>) -> Int {
      var count = 0
      if let first = rest.first, Self.isOfProof(first) {
        count = 1
      } else if bytes > 0, rest.starts(with: "\\/".unicodeScalars) {
        count = 2
      }
      if count > 0 {
        bytes += 1
        lineBytes += 1
      } else if lineBytes >= ConformanceText.proofLine {
        // The end of a full line, as it is or escaped: the next line belongs to the proof.
        count = rest.prefix { "\\rn\r\n".unicodeScalars.contains($0) }.count
        if rest.first == "r" || rest.first == "n" { count = 0 }
        lineBytes = 0
      }
      text.append(contentsOf: rest.prefix(count))
      return count
    }

    /// Base64 of both alphabets, and the dots of a signed transaction.
    private static func isOfProof(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar {
      case "A"..."Z", "a"..."z", "0"..."9", "+", "/", "-", "_", "=", ".": true
      default: false
      }
    }
  }
}
