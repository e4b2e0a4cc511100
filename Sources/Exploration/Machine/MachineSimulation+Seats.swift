import PurchaseQueue
import PurchaseSync

/// Seats of subscriptions that another person has paid. The store gives each member a transaction of their own.
extension MachineSimulation {
  func isSeat(_ sale: Int) -> Bool { store.sales.indices.contains(sale) && store.sales[sale].isSeat }

  /// The Apple ID of a phone gets a seat. No source says whether it has its purchaser's token, nor whether its first
  /// transaction is the purchaser's: both follow from the number of purchases.
  func assignSeat(_ phone: Phone, _ place: Int) {
    let number = store.sales.count
    let order = number % 3 == 0 ? -1 : purchasersOrder(phone)
    let paid =
      number % 4 == 1 ? store.sales.lastIndex { $0.canHaveSeats && $0.buyer != phone.storeAccount } : nil
    let sale = store.charge(
      LeanStore.Sale(
        buyer: phone.storeAccount, product: 2, paidAt: storeNow, order: -1,
        original: paid.map { store.sales[$0].original } ?? number, forgetsToken: false, proofs: .signed,
        poison: .none, expiresAt: storeNow + LeanStore.period, phone: phone.number, seat: order))
    checker.mark(order < 0 ? .seatWithoutToken : .seatWithToken)
    if paid != nil { checker.mark(.seatOfPurchasersChain) }
    saleOfAct[place] = sale
    noted(sale, -1)
    figures.purchases += 1
    tell(
      "phone \(phone.number + 1): \(Names.storeAccounts[phone.storeAccount]) gets a seat as \(Names.id(sale))"
        + (order < 0 ? "" : ", with the token of order \(order + 1)"))
    plan(.delivery, at: now + Int64(1 + shop.below(knobs.latency)), sale)
  }

  /// An order that waits for its payment. If none does, another account has just made one on the same phone.
  private func purchasersOrder(_ phone: Phone) -> Int {
    let open = backend.orders.lastIndex {
      $0.account != phone.user && $0.product == 2 && $0.fulfilledBy == nil
    }
    let process = processes[phone.number]
    guard open == nil, process.isAlive else { return open ?? -1 }
    return makeOrder(phone, process, 2, for: (phone.user + 1) % knobs.accounts)
  }

  /// A planted bug: the app hands over a seat as what its buyer has paid.
  func misread(_ transaction: inout StoreTransaction, _ sale: Int) {
    guard bug == .seatsPaid, transaction.ownership != nil else { return }
    transaction.ownership = nil
    deeds.note(sale)
  }

  /// What the device makes of a seat: it is for no order, and no account has it because of a token or an order.
  func checkSeat(_ sale: Int, _ match: OrderMatch) {
    guard isSeat(sale) else { return }
    checker.expect(
      .seatIsMembers, match.kind == .none && match.lane == .device,
      "\(Names.id(sale)) is a seat, and is queued for \(match.lane.rawValue), \(match.kind)")
  }
}
