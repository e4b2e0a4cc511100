package import PurchaseQueue

/// How long a backend asks to be left alone.
///
/// What it says is not trusted: `RetryPolicy` clamps it to a day.
package enum RetryAfterField {
  /// The header `Retry-After` (RFC 9110 10.2.3) in milliseconds from now: seconds, or a date in any of the three forms.
  ///
  /// A date is compared with the answer's own `Date`, since the device's clock may be wrong, and with `now` if there is
  /// none; one of the past is 0. More seconds than there are numbers are as many as there are. Anything else, such as
  /// `-1`, `soon` or two values, is nil: nothing was asked.
  package static func milliseconds(_ header: String, date: String?, now: Timestamp) -> Int64? {
    let text = header.drop(while: isBlank)
    let trimmed = text.prefix(
      upTo: text.lastIndex { !isBlank($0) }.map(text.index(after:)) ?? text.startIndex)
    if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // All digits: nil can only mean that they are too many.
      let (product, overflow) = (Int64(trimmed) ?? .max).multipliedReportingOverflow(by: 1_000)
      return overflow ? .max : product
    }
    let sent = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
    guard let until = HTTPDate.parse(String(trimmed), now: sent) else { return nil }
    return max(0, until.milliseconds(since: sent))
  }

  /// A verdict's `retryAfter` in milliseconds; nil for what is no time: negative, or not a number.
  package static func milliseconds(seconds: Double) -> Int64? {
    guard seconds >= 0 else { return nil }
    // 2^53 milliseconds are 285,000 years; above, Double has no milliseconds any longer.
    return Int64(min(seconds * 1_000, 9_007_199_254_740_992))
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
