import PurchaseQueue

/// What a sale sells.
enum SaleKind: Sendable {
  /// A product, to an account: with an order.
  case order
  /// A product, to a guest.
  case guest
  /// What an offer code gives, to an account. The product is known afterwards.
  case redemption
}

/// Decides when the callers of `purchase` get their answers. Without I/O: the shop calls it with what happens.
struct SaleDesk {
  /// A sale whose caller waits.
  private struct Open {
    var order: PurchaseOrder
    var kind: SaleKind
    /// What the sheet has returned, or the store has listed for it.
    var answer: StoreTransaction?
    /// Outcomes since the sale began. The store may deliver the transaction before the sheet returns.
    var seen: [Outcome] = []

    var key: EntryKey? { answer?.key }

    /// When the order's plan takes the place of the one that runs, if the store has answered with that one.
    var changesAt: Timestamp? {
      guard kind != .redemption else { return nil }
      return answer.flatMap { ExistingPayment.change($0, answering: order) }
    }

    /// Whether the outcome is the sale's. That of another account's purchase names no order.
    func ends(with outcome: Outcome) -> Bool {
      if let number = outcome.orderNumber, number == order.number { return true }
      guard outcome.key == key else { return false }
      if changesAt != nil { return true }
      switch kind {
      case .redemption: return true
      case .guest: return isProduct(of: outcome)
      case .order: return outcome.orderNumber == nil && isProduct(of: outcome)
      }
    }

    /// A sheet can return something else than was asked for.
    private func isProduct(of outcome: Outcome) -> Bool {
      outcome.purchase.map { $0.productID == order.productID } ?? true
    }

    func sale(of outcome: Outcome) -> Sale {
      let told: Outcome
      switch kind {
      case .order: told = outcome
      case .redemption: told = outcome.told(toBuyer: order.account, isEarlier: outcome.isAlreadyOwned)
      case .guest:
        told = outcome.told(toBuyer: nil, isEarlier: answer?.accountToken != order.accountToken)
      }
      if told.isFulfilled, let change { return change }
      return Sale(told)
    }

    var change: Sale? { changesAt.map { .scheduled(product: order.productID, from: $0.date) } }
  }

  /// By the number of the order.
  private var sales: [String: Open] = [:]

  mutating func begin(_ order: PurchaseOrder, _ kind: SaleKind = .order) {
    sales[order.number] = Open(order: order, kind: kind)
  }

  mutating func end(_ number: String) { sales[number] = nil }

  /// The answer, if the outcome is known already.
  func known(_ number: String) -> Sale? {
    guard let sale = sales[number] else { return nil }
    return sale.seen.last { sale.ends(with: $0) }.map { sale.sale(of: $0) }
  }

  /// The store has answered with a transaction. Returns the answer of the sale if the outcome is known already.
  mutating func answered(_ number: String, with transaction: StoreTransaction) -> Sale? {
    sales[number]?.answer = transaction
    return known(number)
  }

  /// The answer with an outcome from before the sale.
  func sale(_ number: String, of earlier: Outcome) -> Sale? { sales[number]?.sale(of: earlier) }

  /// The change of a plan that the store has answered with, if it did.
  func change(_ number: String) -> Sale? { sales[number]?.change }

  /// Whether a queued purchase is the sale's.
  func isAbout(_ purchase: SyncSnapshot.Purchase, _ number: String) -> Bool {
    purchase.orderNumber == number || sales[number].map { $0.key == purchase.key } ?? false
  }

  /// `fulfil` has returned for an outcome. Returns the answers, by the numbers of the orders.
  mutating func fulfilled(_ outcome: Outcome) -> [String: Sale] {
    var answers: [String: Sale] = [:]
    for (number, sale) in sales {
      sales[number]?.seen.append(outcome)
      if sale.ends(with: outcome) { answers[number] = sale.sale(of: outcome) }
    }
    return answers
  }

  /// Something that a waiting caller should know. The purchase goes on without it.
  func heard(_ event: SyncEvent) -> [String: Sale] {
    var answers: [String: Sale] = [:]
    for (number, sale) in sales {
      switch event {
      case .quarantined(sale.key, _): answers[number] = .pending(.support)
      case .signInNeeded(.account(sale.order.account)) where sale.key != nil:
        answers[number] = .pending(.signIn)
      default: break
      }
    }
    return answers
  }
}

/// Compares a key with that of a sale, which may have none yet.
private func ~= (key: EntryKey?, other: EntryKey) -> Bool { key == other }
