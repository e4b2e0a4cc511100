/// How long to wait after failures: exponential, with full jitter.
///
/// The delay after the n-th attempt is uniform in 0…min(ceiling, base · 2^(n-1)). It spreads senders that failed together.
public struct Backoff: Hashable, Sendable {
  /// The widest delay after the first failure.
  public var base: Duration
  /// The widest delay of all.
  public var ceiling: Duration

  /// By default 2 s at first, and at most an hour. A negative duration counts as none.
  public init(base: Duration = .seconds(2), ceiling: Duration = .seconds(3_600)) {
    self.base = base
    self.ceiling = ceiling
  }

  /// The delay after this many failures in a row, in whole milliseconds.
  public func delay(
    afterFailures failures: Int, using random: inout some RandomNumberGenerator
  ) -> Duration {
    let widest = Self.widest(
      base: base.wholeMilliseconds, ceiling: ceiling.wholeMilliseconds, afterFailures: failures)
    return .milliseconds(Self.uniform(0...widest, using: &random))
  }

  /// The widest delay after this many failures in a row, in milliseconds. A growth below 2 counts as 2.
  package static func widest(
    base: Int64, growth: Int64 = 2, ceiling: Int64, afterFailures failures: Int
  ) -> Int64 {
    let most = max(ceiling, 0)
    var widest = min(max(base, 0), most)
    for _ in 0..<min(max(failures, 1) - 1, 62) where widest < most {
      let (product, overflow) = widest.multipliedReportingOverflow(by: max(growth, 2))
      widest = overflow ? most : min(most, product)
    }
    return widest
  }

  /// One draw. The range is never negative, so its width fits in 64 bits without a sign.
  package static func uniform(
    _ range: ClosedRange<Int64>, using random: inout some RandomNumberGenerator
  ) -> Int64 {
    let width = UInt64(range.upperBound - range.lowerBound)
    return range.lowerBound + Int64(random.next(upperBound: width + 1))
  }
}
