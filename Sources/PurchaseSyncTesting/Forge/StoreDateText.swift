import AppStoreReceipts
import Foundation
import PurchaseQueue

/// A moment in the three spellings of `verifyReceipt`, by Foundation's calendar: another way than the
/// decoder's.
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

  /// Kept: to look a zone up takes longer than to write a date.
  private static let calendars = ["Etc/GMT", "America/Los_Angeles"].reduce(into: [String: Calendar]()) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: $1) ?? calendar.timeZone
    $0[$1] = calendar
  }

  /// `2017-03-07 14:21:49 Etc/GMT`; the zone is that or Los Angeles.
  static func text(_ moment: Timestamp, zone: String) -> String {
    let calendar = calendars[zone] ?? Calendar(identifier: .gregorian)
    let date = Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
    func digits(_ value: Int?, _ count: Int) -> String {
      let text = String(value ?? 0)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = "\(digits(parts.year, 4))-\(digits(parts.month, 2))-\(digits(parts.day, 2))"
    return "\(day) \(digits(parts.hour, 2)):\(digits(parts.minute, 2)):\(digits(parts.second, 2)) \(zone)"
  }
}
