import PurchaseQueue

/// When to try again: a pure value, the same in apps and in simulations.
///
/// Full jitter: uniform in 0…min(cap, base · 2^(n-1)) after the n-th failure. It spreads a fleet that failed
/// together; the long cap keeps the sum of all devices' retries below what a weak backend can take.
public struct RetryPolicy: Sendable, Hashable {
  /// The widest first delay, in milliseconds.
  public var baseMilliseconds: Int64
  /// The widest delay of all, in milliseconds.
  public var capMilliseconds: Int64
  /// No wait that the backend asks for is longer, in milliseconds.
  public var retryAfterCapMilliseconds: Int64

  /// Numbers of the policy: 2 s, one hour and a day unless said otherwise.
  public init(
    baseMilliseconds: Int64 = 2_000, capMilliseconds: Int64 = 3_600_000,
    retryAfterCapMilliseconds: Int64 = 86_400_000
  ) {
    self.baseMilliseconds = baseMilliseconds
    self.capMilliseconds = capMilliseconds
    self.retryAfterCapMilliseconds = retryAfterCapMilliseconds
  }

  /// The same policy on a faster clock: every delay divided.
  public func scaled(by divisor: Int64) -> RetryPolicy {
    RetryPolicy(
      baseMilliseconds: max(1, baseMilliseconds / divisor),
      capMilliseconds: max(1, capMilliseconds / divisor),
      retryAfterCapMilliseconds: max(1, retryAfterCapMilliseconds / divisor))
  }

  /// The widest delay after so many failures in a row.
  public func ceiling(afterFailures failures: Int) -> Int64 {
    let doublings = min(max(failures - 1, 0), 40)
    let (product, overflow) = baseMilliseconds.multipliedReportingOverflow(by: 1 << doublings)
    return overflow ? capMilliseconds : min(capMilliseconds, product)
  }

  /// The delay after so many failures in a row, not below what the backend asked for.
  ///
  /// What it asked for gets up to 20 % of jitter, and all of it stays under `retryAfterCapMilliseconds`.
  public func delayMilliseconds(
    afterFailures failures: Int, retryAfterMilliseconds: Int64? = nil,
    using random: inout some RandomNumberGenerator
  ) -> Int64 {
    let delay = Int64(random.next(upperBound: UInt64(ceiling(afterFailures: failures)) + 1))
    guard let asked = retryAfterMilliseconds, asked > 0 else { return delay }
    let floor = min(asked, retryAfterCapMilliseconds)
    let jitter = Int64(random.next(upperBound: UInt64(floor / 5) + 1))
    return max(delay, min(floor + jitter, retryAfterCapMilliseconds))
  }
}
