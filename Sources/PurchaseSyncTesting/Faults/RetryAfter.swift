public import PurchaseQueue

/// Correct and incorrect values of the header field `Retry-After` (RFC 9110 10.2.3).
public enum RetryAfter: Sendable, Hashable {
  /// Seconds. A negative number violates the standard, and occurs.
  case seconds(Int64)
  /// A moment, as an HTTP date.
  case date(Timestamp)
  /// Any text.
  case text(String)

  /// The field's value.
  public var value: String {
    switch self {
    case .seconds(let seconds): String(seconds)
    case .date(let moment): Self.httpDate(moment)
    case .text(let text): text
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 5.6.7).
  private static func httpDate(_ moment: Timestamp) -> String {
    let days = Int((Double(moment.milliseconds) / 86_400_000).rounded(.down))
    let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    // 1970 began on a Thursday.
    let weekday = weekdays[((days + 4) % 7 + 7) % 7]
    let parts = moment.utc.split { $0 == "-" || $0 == "T" || $0 == "Z" }
    guard parts.count == 4, let month = Int(parts[1]), months.indices.contains(month - 1) else {
      return moment.utc
    }
    return "\(weekday), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
  }
}
