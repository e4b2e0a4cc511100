/// Which orders matching asks for, and in which sequence.
struct OrderFilter: Hashable {
  enum Which: CaseIterable {
    /// Those that a transaction may yet be bound to.
    case unbound
    /// Those that say whose purchases of a time may be.
    case counted
  }

  var which: Which
  var isLatestFirst: Bool

  static var all: [OrderFilter] {
    Which.allCases.flatMap { which in
      [true, false].map { OrderFilter(which: which, isLatestFirst: $0) }
    }
  }

  /// What follows WHERE: product, quantity, from, through, limit.
  var sql: String {
    let condition =
      switch which {
      case .unbound: "bound_to IS NULL AND state NOT IN ('cancelled', 'paid', 'delivered')"
      case .counted: "(bound_to IS NOT NULL OR state<>'cancelled')"
      }
    let direction = isLatestFirst ? "DESC" : "ASC"
    return """
      product=? AND quantity=? AND created_at BETWEEN ? AND ? AND \(condition)
      ORDER BY created_at \(direction), number \(direction) LIMIT ?
      """
  }
}
