import PurchaseQueue

/// Decides when the callers of `purchase` get their answers. Without I/O: the shop tells it what happens.
struct SaleDesk {
  /// A sale whose caller waits.
  private struct Open {
    var account: String
    /// The transaction, once the sheet has returned it.
    var key: EntryKey?
    /// Outcomes since the sale began. The store may deliver the transaction before the sheet returns.
    var seen: [Outcome] = []
  }

  /// By the number of the order.
  private var sales: [String: Open] = [:]

  mutating func begin(_ order: PurchaseOrder) { sales[order.number] = Open(account: order.account) }

  mutating func end(_ number: String) { sales[number] = nil }

  /// The sheet returned a transaction. Returns the answer if the outcome is known already.
  mutating func paid(_ number: String, with key: EntryKey) -> Sale? {
    sales[number]?.key = key
    return sales[number]?.seen.last { Self.ends(number, key, $0) }.map { Sale($0) }
  }

  /// `fulfil` has returned for an outcome. Returns the answers, by the numbers of the orders.
  mutating func fulfilled(_ outcome: Outcome) -> [String: Sale] {
    var answers: [String: Sale] = [:]
    for (number, sale) in sales {
      sales[number]?.seen.append(outcome)
      if Self.ends(number, sale.key, outcome) { answers[number] = Sale(outcome) }
    }
    return answers
  }

  /// Something that a waiting caller should know. The purchase goes on without it.
  func heard(_ event: SyncEvent) -> [String: Sale] {
    var answers: [String: Sale] = [:]
    for (number, sale) in sales {
      switch event {
      case .quarantined(sale.key, _): answers[number] = .pending(.support)
      case .signInNeeded(.account(sale.account)) where sale.key != nil: answers[number] = .pending(.signIn)
      default: break
      }
    }
    return answers
  }

  /// The outcome of another account's purchase names no order.
  private static func ends(_ number: String, _ key: EntryKey?, _ outcome: Outcome) -> Bool {
    outcome.orderNumber == number || (outcome.key == key && outcome.orderNumber == nil)
  }
}

/// Compares a key with that of a sale, which may have none yet.
private func ~= (key: EntryKey?, other: EntryKey) -> Bool { key == other }
