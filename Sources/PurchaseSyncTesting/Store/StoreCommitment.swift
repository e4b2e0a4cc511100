public import PurchaseQueue

/// The place of a period in a subscription that is paid in instalments: monthly, with a commitment (StoreFacts c.2).
public struct StoreCommitment: Sendable, Hashable, Codable {
  /// Which payment it is; 1 for the first.
  public var payment: Int
  /// How many payments the customer agreed to.
  public var payments: Int
  /// When the last of them ends.
  public var endsAt: Timestamp
  /// The price of all payments, in thousandths of the currency's unit; nil for unknown.
  public var price: Int64?
}

extension Subscription {
  /// The place of the last period in its commitment; nil without one.
  package var commitment: StoreCommitment? {
    guard let payments = plan.commitment, let payment = last.payment else { return nil }
    let left = Int64(max(0, payments - payment))
    return StoreCommitment(
      payment: payment, payments: payments,
      endsAt: last.endsAt.adding(milliseconds: left * plan.periodMilliseconds),
      price: last.price.map { $0 * Int64(payments) })
  }

  /// Whether one more payment is due, whatever follows the commitment.
  package var isBound: Bool { commitment.map { $0.payment < $0.payments } ?? false }
}
