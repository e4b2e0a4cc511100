import CommandLineTools
import Foundation
import PurchaseQueue

/// The options of `decode`.
struct DecodeOptions: Equatable, CommandOptions {
  static let command = "decode"

  /// A path; "-" for standard input.
  var path = ""
  var json = false
  /// The moment at which subscriptions are judged; nil for now.
  var moment: Timestamp?

  static var table: OptionTable<Self> {
    OptionTable(
      [
        .flag("--json", \.json, "one document"),
        .value(
          "--at", of: "MOMENT", "judge subscriptions as of then, such as 2026-11-21T08:00:00Z (default: now)"
        ) {
          $0.moment = try moment($1)
        },
      ], takesStandardInput: true
    ) { options, word in
      guard options.path.isEmpty else {
        throw UsageError(message: "decode takes one file, not '\(word)' as well")
      }
      options.path = word
    }
  }

  func complete() throws {
    guard !path.isEmpty else {
      throw UsageError(message: "decode needs the path of a file, or - for standard input")
    }
  }

  private static func moment(_ text: String) throws(UsageError) -> Timestamp {
    do {
      let date = try Date(text, strategy: .iso8601)
      return Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1_000))
    } catch {
      throw UsageError(message: "--at needs a moment such as 2026-11-21T08:00:00Z, not '\(text)'")
    }
  }
}
