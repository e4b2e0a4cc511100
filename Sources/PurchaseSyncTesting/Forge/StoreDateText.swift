import AppStoreReceipts
import Foundation
import PurchaseQueue

/// A moment in the three spellings of `verifyReceipt`, by Foundation's time zones: independent of the decoder's code.
enum StoreDateText {
  /// `name`, `name_ms` and `name_pst`; `isNumeric` writes the milliseconds as a number.
  static func members(_ name: String, _ moment: Timestamp, isNumeric: Bool) -> [(String, JSONValue)] {
    let milliseconds = moment.milliseconds
    return [
      (name, .string(text(moment, zone: "Etc/GMT"))),
      (name + "_ms", isNumeric ? .integer(milliseconds) : .string(String(milliseconds))),
      (name + "_pst", .string(text(moment, zone: "America/Los_Angeles"))),
    ]
  }

  /// Stored, because the lookup of a zone takes longer than writing a date.
  private static let zones = ["America/Los_Angeles"].reduce(into: [String: TimeZone]()) {
    $0[$1] = TimeZone(identifier: $1)
  }

  /// `2017-03-07 14:21:49 Etc/GMT`; the zone is that or Los Angeles.
  static func text(_ moment: Timestamp, zone: String) -> String {
    let date = Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)
    let offset = zones[zone]?.secondsFromGMT(for: date) ?? 0
    // `2017-03-07T14:21:49Z`
    let utc = moment.adding(milliseconds: Int64(offset) * 1_000).utc
    return utc.prefix(10) + " " + utc.dropFirst(11).prefix(8) + " " + zone
  }
}
