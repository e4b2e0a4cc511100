/// The orders that matching asks for, and their sequence.
struct OrderFilter: Hashable {
  enum Which: CaseIterable {
    /// Orders to which a transaction can still be bound.
    case unbound
    /// Orders that count when the accounts of a span of time are compared.
    case counted
    /// Orders with a transaction.
    case bound
  }

  var which: Which
  var isLatestFirst: Bool

  static var all: [OrderFilter] {
    Which.allCases.flatMap { which in
      [true, false].map { OrderFilter(which: which, isLatestFirst: $0) }
    }
  }

  /// The SQL after WHERE. Its values are product, quantity, from, through, limit.
  var sql: String {
    let condition =
      switch which {
      case .unbound:
        // The sheet of an owned order is closed: no later payment is its own.
        "bound_to IS NULL AND existing_key IS NULL "
          + "AND state NOT IN ('requested', 'cancelled', 'alreadyOwned', 'paid', 'delivered', 'refunded', "
          + "'partlyRefunded')"
      case .counted: "(bound_to IS NOT NULL OR state NOT IN ('requested', 'cancelled', 'alreadyOwned'))"
      case .bound: "bound_to IS NOT NULL"
      }
    // A copied file's orders were made on another device. That device has them, and gets their payments.
    let isOfThisDevice = "origin<>'copied'"
    let direction = isLatestFirst ? "DESC" : "ASC"
    return """
      product=? AND quantity=? AND created_at BETWEEN ? AND ? AND \(condition) AND \(isOfThisDevice)
      ORDER BY created_at \(direction), number \(direction) LIMIT ?
      """
  }
}
