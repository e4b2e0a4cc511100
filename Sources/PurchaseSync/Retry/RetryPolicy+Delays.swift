/// The delays that follow from the policy's numbers. The random numbers come in as an argument.
extension RetryPolicy {
  /// The widest delay after so many failures in a row.
  public func ceiling(afterFailures failures: Int) -> Int64 {
    let most = min(max(capMilliseconds, 0), max(horizonMilliseconds, 0))
    let doublings = min(max(failures, 1) - 1, 62)
    let (product, overflow) = max(baseMilliseconds, 0).multipliedReportingOverflow(by: 1 << doublings)
    return overflow ? most : min(most, product)
  }

  /// The delay after so many failures in a row, not below what the backend asked for.
  ///
  /// What it asked for gets up to 20 % of jitter, and all of it stays under `horizonMilliseconds`.
  public func delayMilliseconds(
    afterFailures failures: Int, retryAfterMilliseconds: Int64? = nil,
    using random: inout some RandomNumberGenerator
  ) -> Int64 {
    let delay = Self.uniform(0...ceiling(afterFailures: failures), using: &random)
    guard let asked = retryAfterMilliseconds else { return delay }
    return max(delay, floorMilliseconds(asked: asked, using: &random))
  }

  /// What the backend's Retry-After becomes: itself and up to 20 % of jitter, a day at most with it. 0 for nothing
  /// and for the past.
  package func floorMilliseconds(asked: Int64, using random: inout some RandomNumberGenerator) -> Int64 {
    let horizon = max(horizonMilliseconds, 0)
    let floor = min(max(asked, 0), horizon)
    let percent = min(max(retryAfterJitterPercent, 0), 100)
    // In two steps, since floor · percent may not fit.
    let widest = floor / 100 * percent + floor % 100 * percent / 100
    let (sum, overflow) = floor.addingReportingOverflow(Self.uniform(0...widest, using: &random))
    return overflow ? horizon : min(sum, horizon)
  }

  /// The cap's pace: between half of the cap and the cap. For what will most likely fail again.
  package func capPaceMilliseconds(using random: inout some RandomNumberGenerator) -> Int64 {
    let most = min(max(capMilliseconds, 0), max(horizonMilliseconds, 0))
    return Self.uniform(most / 2...most, using: &random)
  }

  /// How long a lane that is woken early still waits.
  package func wakeDelayMilliseconds(using random: inout some RandomNumberGenerator) -> Int64 {
    Self.uniform(0...min(max(wakeJitterMilliseconds, 0), max(horizonMilliseconds, 0)), using: &random)
  }

  /// One draw. The range is never negative, so its width fits in 64 bits without a sign.
  private static func uniform(
    _ range: ClosedRange<Int64>, using random: inout some RandomNumberGenerator
  ) -> Int64 {
    let width = UInt64(range.upperBound - range.lowerBound)
    return range.lowerBound + Int64(random.next(upperBound: width + 1))
  }
}
