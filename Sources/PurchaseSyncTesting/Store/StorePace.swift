/// The pace of subscriptions: the sandbox renews a month after five minutes.
///
/// Only lengths are shortened. Purchases, refunds and other events happen at the time of the call.
public enum StorePace: Sendable, Hashable, Codable {
  /// As in production.
  case real
  /// As in the sandbox at a month in five minutes: periods by a table, short grace and retry, at most twelve renewals.
  case sandbox
  /// Every length divided by this number.
  case faster(Int64)

  static let minute: Int64 = 60_000
  static let day: Int64 = 86_400_000
  /// The store tries to charge for 60 days after a renewal failed (R2.6).
  static let retryDays: Int64 = 60

  /// The plan that a subscription product sells, with the lengths of this pace; nil for other products.
  package func plan(of product: StoreProduct) -> SubscriptionPlan? {
    guard product.kind.isRenewed, let period = product.period?.inMilliseconds else { return nil }
    return SubscriptionPlan(
      productID: product.id, groupID: product.groupID, level: product.level, fullPeriodMilliseconds: period,
      periodMilliseconds: length(period),
      gracePeriodMilliseconds: product.gracePeriod > .zero
        ? grace(product.gracePeriod.inMilliseconds, of: period) : 0,
      retryMilliseconds: retry, trialMilliseconds: product.trial.map { length($0.inMilliseconds) },
      commitment: product.commitment, price: product.price
    )
  }

  /// After how many renewals in a row the store stops; nil for never.
  package var renewalLimit: Int? { self == .sandbox ? 12 : nil }

  /// The duration of a period or trial of this length, at least 1 ms.
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
