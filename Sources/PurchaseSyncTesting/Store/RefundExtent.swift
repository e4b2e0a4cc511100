public import AppStoreReceipts
import PurchaseQueue

/// How much of a charge is refunded, together with earlier refunds of it: one unit of three and then `units(2)` is two of
/// three.
public enum RefundExtent: Sendable, Hashable {
  /// All of it.
  case whole
  /// This many units of the quantity, at least one.
  case units(Int)
  /// A share of the price, above 0.
  case share(RefundedShare)
  /// The price of the rest of a subscription's period.
  case timeLeft

  /// The share of a record's price; nil for all of it.
  func share(of record: StoreTransactionRecord, at now: Timestamp) throws(StoreModelError) -> RefundedShare? {
    let share: RefundedShare?
    switch self {
    case .whole: share = .whole
    case .units(let units): share = RefundedShare(units: units, of: record.quantity)
    case .share(let given): share = given
    case .timeLeft: share = Self.timeLeft(of: record, at: now)
    }
    guard let share, share.milliPercent > 0 else { throw .invalidRefund(record.transactionID) }
    return share == .whole ? nil : share
  }

  private static func timeLeft(of record: StoreTransactionRecord, at now: Timestamp) -> RefundedShare? {
    guard let end = record.expiresAt?.milliseconds else { return nil }
    let begin = record.purchasedAt.milliseconds
    guard begin < end, now.milliseconds < end else { return nil }
    let (length, isTooLong) = end.subtractingReportingOverflow(begin)
    guard !isTooLong else { return nil }
    let left = length - max(0, now.milliseconds - begin)
    return RefundedShare(
      milliPercent: length.dividingFullWidth(left.multipliedFullWidth(by: 100_000)).quotient)
  }
}
