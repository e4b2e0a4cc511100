/// How fast the store's time goes for subscriptions: the sandbox renews a month after five minutes.
///
/// Purchases, refunds and everything else happen at the moments that they are given; only lengths are shortened.
public enum StorePace: Sendable, Hashable {
  /// As in production.
  case real
  /// As in the sandbox with its rate of a month in five minutes: a table for the periods, short grace and retry, and
  /// twelve renewals at most.
  case sandbox
  /// Every length divided by so many.
  case faster(Int64)

  static let minute: Int64 = 60_000
  static let day: Int64 = 86_400_000
  /// The store tries to charge for 60 days after a renewal failed (R2.6).
  static let retryDays: Int64 = 60

  /// The plan that a subscription product sells, with the lengths of this pace; nil for other products.
  public func plan(of product: StoreProduct) -> SubscriptionPlan? {
    guard product.kind == .autoRenewable, let period = product.periodMilliseconds else { return nil }
    return SubscriptionPlan(
      productID: product.id, groupID: product.groupID, level: product.level, fullPeriodMilliseconds: period,
      periodMilliseconds: length(period),
      gracePeriodMilliseconds: product.gracePeriodMilliseconds > 0
        ? grace(product.gracePeriodMilliseconds, of: period) : 0,
      retryMilliseconds: retry, trialMilliseconds: product.trialMilliseconds.map(length), price: product.price
    )
  }

  /// After how many renewals in a row the store stops; nil for never.
  public var renewalLimit: Int? { self == .sandbox ? 12 : nil }

  /// How long a period, or a trial, of this length takes. At least a millisecond, so that time passes.
  func length(_ milliseconds: Int64) -> Int64 {
    switch self {
    case .real: return max(1, milliseconds)
    case .faster(let factor): return max(1, milliseconds / max(1, factor))
    case .sandbox:
      for (days, minutes): (Int64, Int64) in [(7, 3), (31, 5), (62, 10), (92, 15), (184, 30)]
      where milliseconds <= days * Self.day {
        return minutes * Self.minute
      }
      return 60 * Self.minute
    }
  }

  private func grace(_ milliseconds: Int64, of period: Int64) -> Int64 {
    guard self == .sandbox else { return length(milliseconds) }
    return (period <= 7 * Self.day ? 3 : 5) * Self.minute
  }

  private var retry: Int64 {
    self == .sandbox ? 10 * Self.minute : length(Self.retryDays * Self.day)
  }
}
