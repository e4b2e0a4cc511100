/// What happens with the seats of a subscription, while the app does not run.
package enum SeatStep: Hashable {
  /// The purchaser of the n-th charge gives a seat to this Apple ID. `carriesToken`: its transaction has the purchaser's
  /// account token.
  case assigned(purchase: Int, to: String, carriesToken: Bool)
  /// The purchaser takes the seat of this Apple ID back.
  case taken(purchase: Int, from: String)
  /// The store refunds so many seats of the n-th charge.
  case refunded(purchase: Int, count: Int)
  /// So many seats renew.
  case renewing(purchase: Int, count: Int)

  /// For a report.
  package var words: String {
    switch self {
    case .assigned(let number, let member, let carriesToken):
      "\(member) gets a seat of charge \(number), \(carriesToken ? "with" : "without") the purchaser's token"
    case .taken(let number, let member): "\(member) loses the seat of charge \(number)"
    case .refunded(let number, let count): "\(count) seats of charge \(number) are refunded"
    case .renewing(let number, let count): "\(count) seats of charge \(number) renew"
    }
  }
}
