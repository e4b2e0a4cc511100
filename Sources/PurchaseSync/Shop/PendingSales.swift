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

/// The sales whose callers wait, and the answers that they get. Without I/O: the shop reports what happens, and performs
/// the steps.
///
/// ```
/// ordering ──order──▶ paying ──the sheet ends──▶ judging ──paid──▶ delivering
///    │                   │                          │                 │
///    │ last caller       │ the sheet is late:       │ answered        │ an outcome, an obstacle,
///    ▼ leaves            ▼ callers are answered     ▼                 ▼ or the time is over: answered
/// withdrawn             paying                    ended             ended
/// ```
///
/// A sale ends when it has its order, its sheet has ended, and no caller is left. Others may join a sale until its sheet
/// ends.
struct PendingSales<Caller: Sendable>: Sendable {
  typealias Answer = Result<Sale, SyncError>
  typealias Instant = ContinuousClock.Instant
  /// Identifies a sale.
  typealias Name = Int

  /// What the shop does.
  enum Step {
    /// Answer a caller. Only his first answer counts.
    case answer(Caller, Answer)
    /// The caller gets no answer.
    case dismiss(Caller)
    /// The sale has ended: its time limit counts no more.
    case forget(Name)
  }

  /// What becomes of a caller who goes away.
  enum Departure {
    /// He was the last one before the sheet: there is to be none.
    case withdraws
    /// He gets this answer, and the purchase goes on. The store's list may have to show whether it is paid.
    case leaves(Sale, isPaymentOpen: Bool)
  }

  fileprivate enum Stage { case ordering, withdrawn, paying, judging, delivering }

  fileprivate struct Pending {
    var wish: OrderWish
    var kind: SaleKind
    var begin: Instant
    var stage = Stage.ordering
    var order: PurchaseOrder?
    var callers: [Int: (caller: Caller, isInside: Bool)] = [:]
    /// The sheet has been open for longer than its time limit.
    var lateSheet: LateCall?
    /// What the sheet has returned, or the store has listed for the order.
    var answer: StoreTransaction?
    /// Outcomes since the sale began. The store may deliver the transaction before the sheet returns.
    var seen: [Outcome] = []

    var isOpen: Bool { stage == .ordering || stage == .paying }
    var hasEnded: Bool { callers.isEmpty && (stage == .judging || stage == .delivering) }

    func answers(_ answer: Answer) -> [Step] {
      callers.keys.sorted().compactMap { callers[$0] }.map { .answer($0.caller, answer) }
    }
  }

  private var sales: [Name: Pending] = [:]
  private var next = 0
  /// The looks at the store after sheets that did not say how the payment ended.
  var aftermath = SheetAftermath()

  /// How long a sheet is waited for, and how long a second tap joins it. A sheet that never answers must not hold up its
  /// callers, or every later purchase.
  static var sheetLimit: Duration { .seconds(600) }

  // MARK: Callers

  /// The sale that a second tap joins.
  func open(for wish: OrderWish, _ kind: SaleKind, at now: Instant) -> Name? {
    sales.first { _, sale in
      sale.isOpen && sale.kind == kind && sale.wish.isSame(as: wish)
        && now < sale.begin.advanced(by: Self.sheetLimit)
    }?.key
  }

  mutating func begin(_ wish: OrderWish, _ kind: SaleKind, at now: Instant) -> Name {
    next += 1
    sales[next] = Pending(wish: wish, kind: kind, begin: now)
    return next
  }

  /// - Parameter isInside: The caller is in a `fulfil` that is under way, and cannot wait for another one.
  mutating func join(_ name: Name, _ caller: Caller, isInside: Bool) -> Int {
    next += 1
    sales[name]?.callers[next] = (caller, isInside)
    return next
  }

  /// The caller has his answer.
  mutating func leave(_ name: Name, _ caller: Int) -> [Step] {
    sales[name]?.callers[caller] = nil
    return endIfDone(name)
  }

  /// The caller has gone away without an answer, or the shop is closed.
  mutating func goneAway(_ name: Name, _ caller: Int) -> (departure: Departure, steps: [Step]) {
    guard let sale = sales[name] else { return (.leaves(.pending(.payment), isPaymentOpen: false), []) }
    let steps = leave(name, caller)
    if sale.order != nil {
      let isPaid = sale.stage == .delivering
      return (.leaves(.pending(isPaid ? .delivery : .payment), isPaymentOpen: !isPaid), steps)
    }
    guard sale.callers.count == 1 else { return (.leaves(.pending(.payment), isPaymentOpen: false), steps) }
    sales[name]?.stage = .withdrawn
    return (.withdraws, steps)
  }

  /// The shop is closed. What has no sheet yet ends by itself.
  func closed() -> [Step] {
    sales.values.filter { $0.order != nil }.flatMap { $0.callers.values.map { .dismiss($0.caller) } }
  }

  // MARK: The sheet

  /// Whether a sale has this order. Another one must not have it, nor cancel it.
  func isTaken(_ order: PurchaseOrder) -> Bool {
    sales.values.contains { $0.order?.number == order.number }
  }

  /// The order is made, and the sheet is shown.
  mutating func ordered(_ name: Name, _ order: PurchaseOrder) {
    sales[name]?.order = order
    sales[name]?.stage = .paying
  }

  /// The sale has ended without a sheet.
  mutating func refused(_ name: Name, _ sale: Sale) -> [Step] {
    (sales[name]?.answers(.success(sale)) ?? []) + end(name)
  }

  /// The sheet may never answer, and the person may have paid in it.
  mutating func sheetIsLate(_ name: Name, since: Timestamp) -> [Step] {
    guard let sale = sales[name], let order = sale.order else { return [] }
    sales[name]?.lateSheet = LateCall(.sheet, about: order.number, since: since.date)
    return sale.answers(.success(.pending(.payment)))
  }

  mutating func sheetEnded(_ name: Name) {
    sales[name]?.stage = .judging
    sales[name]?.lateSheet = nil
  }

  var lateSheets: [LateCall] { sales.values.compactMap(\.lateSheet) }

  // MARK: The store's answer

  /// The answer, if the outcome is known already.
  func known(_ name: Name) -> Sale? {
    guard let sale = sales[name] else { return nil }
    return sale.seen.last { sale.ends(with: $0) }.flatMap { sale.sale(of: $0) }
  }

  /// The store has answered with a transaction. Returns the answer of the sale if the outcome is known already.
  mutating func answered(_ name: Name, with transaction: StoreTransaction) -> Sale? {
    sales[name]?.answer = transaction
    return known(name)
  }

  /// The answer with an outcome from before the sale.
  func sale(_ name: Name, of earlier: Outcome) -> Sale? { sales[name]?.sale(of: earlier) }

  /// The change of a plan that the store has answered with, if it did.
  func change(_ name: Name) -> Sale? { sales[name]?.change }

  /// What is known of the sale's payment: its order, and the transaction with which the store has answered.
  func payment(of name: Name) -> (order: String?, transaction: EntryKey?) {
    (sales[name]?.order?.number, sales[name]?.answer?.key)
  }

  // MARK: Answers

  /// The callers get an answer.
  mutating func settled(_ name: Name, _ answer: Answer) -> [Step] {
    (sales[name]?.answers(answer) ?? []) + endIfDone(name)
  }

  /// The backend has to answer. Who asks from within `fulfil` does not wait for it.
  ///
  /// - Returns: Whether a caller waits.
  mutating func paid(_ name: Name) -> (isAwaited: Bool, steps: [Step]) {
    sales[name]?.stage = .delivering
    let callers = sales[name]?.callers.values ?? [:].values
    let steps: [Step] = callers.filter(\.isInside).map { .answer($0.caller, .success(.pending(.delivery))) }
    return (!callers.isEmpty, steps + endIfDone(name))
  }

  /// The callers have waited for the backend as long as they do.
  func waitIsOver(_ name: Name) -> [Step] { sales[name]?.answers(.success(.pending(.delivery))) ?? [] }

  /// `fulfil` has returned for an outcome.
  mutating func fulfilled(_ outcome: Outcome) -> [Step] {
    var steps: [Step] = []
    for (name, sale) in sales where sale.order != nil {
      sales[name]?.seen.append(outcome)
      if sale.ends(with: outcome), let answer = sale.sale(of: outcome) {
        steps += sale.answers(.success(answer))
      }
    }
    return steps
  }

  /// Something that a waiting caller should know. The purchase goes on without it.
  func published(_ event: SyncEvent) -> [Step] {
    sales.values.flatMap { sale -> [Step] in
      guard let key = sale.answer?.key, let order = sale.order else { return [] }
      switch event {
      case .quarantined(key, _): return sale.answers(.success(.pending(.support)))
      case .signInNeeded(.account(order.account)): return sale.answers(.success(.pending(.signIn)))
      default: return []
      }
    }
  }

  // MARK: The end

  private mutating func endIfDone(_ name: Name) -> [Step] {
    sales[name]?.hasEnded == true ? end(name) : []
  }

  private mutating func end(_ name: Name) -> [Step] {
    guard let sale = sales.removeValue(forKey: name) else { return [] }
    return [.forget(name)] + sale.callers.values.map { .dismiss($0.caller) }
  }
}

extension PendingSales.Pending {
  /// When the order's plan takes the place of the one that runs, if the store has answered with that one.
  private var changesAt: Timestamp? {
    guard kind != .redemption, let order, let answer else { return nil }
    return SheetAnswer.change(answer, answering: order)
  }

  /// Whether the outcome is the sale's. That of another account's purchase names no order.
  fileprivate func ends(with outcome: Outcome) -> Bool {
    if let number = outcome.orderNumber, number == order?.number { return true }
    guard outcome.key == answer?.key else { return false }
    if changesAt != nil { return true }
    switch kind {
    case .redemption: return true
    case .guest: return isProduct(of: outcome)
    case .order: return outcome.orderNumber == nil && isProduct(of: outcome)
    }
  }

  /// A sheet can return something else than was asked for. Of a bundle, it returns a subscription that is part of it.
  private func isProduct(of outcome: Outcome) -> Bool {
    outcome.purchase.map { [$0.productID, outcome.bundleProductID].contains(order?.productID) } ?? true
  }

  fileprivate func sale(of outcome: Outcome) -> Sale? {
    guard let order else { return nil }
    let published: Outcome
    switch kind {
    case .order: published = outcome
    case .redemption: published = outcome.addressed(toBuyer: order.account, isEarlier: outcome.isAlreadyOwned)
    case .guest:
      published = outcome.addressed(toBuyer: nil, isEarlier: isEarlier(than: order))
    }
    return published.isFulfilled ? change ?? Sale(published) : Sale(published)
  }

  /// Without the guest's token it was bought before. What the sheet returns of a bundle may lack it: then only the times say
  /// so, and the device's clock may be wrong.
  private func isEarlier(than order: PurchaseOrder) -> Bool {
    guard let answer, answer.ownToken == nil, answer.bundle != nil else {
      return answer?.ownToken != order.accountToken
    }
    let paid = answer.purchasedAt.adding(milliseconds: MatchWindow().tokenToleranceMilliseconds)
    return paid < order.createdAt
  }

  fileprivate var change: Sale? {
    guard let order, let moment = changesAt else { return nil }
    return .scheduled(product: order.productID, from: moment.date)
  }
}
