extension Duration {
  /// Whole milliseconds, rounded towards zero and clamped to 64 bits.
  var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
