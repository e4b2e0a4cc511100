package import PurchaseQueue

/// Reads how long a backend asks clients to wait.
///
/// The value is not trusted: `RetryPolicy` limits it to a day.
package enum RetryAfterField {
  /// The header `Retry-After` (RFC 9110 10.2.3) in milliseconds from now. It holds seconds, or a date in any
  /// of the three forms.
  ///
  /// A date is compared with the answer's own `Date`, because the device's clock may be wrong, or with `now`
  /// if there is none. A past date gives 0. Too many seconds for an `Int64` give its maximum. Any other text,
  /// such as `-1`, `soon` or two values, gives nil: the backend asked for no wait.
  package static func milliseconds(_ header: String, date: String?, now: Timestamp) -> Int64? {
    let text = header.drop(while: isBlank)
    let trimmed = text.prefix(
      upTo: text.lastIndex { !isBlank($0) }.map(text.index(after:)) ?? text.startIndex)
    if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // Only digits: nil means that the number is too large.
      let (product, overflow) = (Int64(trimmed) ?? .max).multipliedReportingOverflow(by: 1_000)
      return overflow ? .max : product
    }
    let sent = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
    guard let until = HTTPDate.parse(String(trimmed), now: sent) else { return nil }
    return max(0, until.milliseconds(since: sent))
  }

  /// A verdict's `retryAfter` in milliseconds; nil if it is negative or not a number.
  package static func milliseconds(seconds: Double) -> Int64? {
    guard seconds >= 0 else { return nil }
    // 2^53 milliseconds are 285,000 years. Above that, a Double cannot hold single milliseconds.
    return Int64(min(seconds * 1_000, 9_007_199_254_740_992))
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
