import Foundation
import PurchaseQueue

/// Orders: made before the payment.
extension SyncEngine {
  /// Makes an order, durable *before* the payment. Pass `order.accountToken` to the store with the payment, and the
  /// store's answer to ``receive(_:for:)-(PurchaseResult,_)``. Called again after an error, it continues the same request: no order is made
  /// twice. Where the order is made, ``SyncConfiguration/orderPolicy`` says.
  ///
  /// `context` comes back with the order's outcome, also after a deferred payment and a reinstall; it stays on the device.
  ///
  /// `quantity` is 1 to 10, the most that StoreKit sells at once.
  ///
  /// Throws `queueFull` before anything has happened, if there is no capacity for one more purchase. Orders that were not
  /// paid take no capacity from it.
  public func begin(
    product: String, quantity: Int = 1, account: String, context: PurchaseContext? = nil
  ) async throws(SyncError) -> PurchaseOrder {
    try await begin(
      OrderWish(account: account, product: product, quantity: quantity, note: OrderNote(context: context)))
  }

  /// The same, of a subscription for several people: `seats` is how many it has **in all** after the payment. The store
  /// charges those that are missing; its transaction has their number, and pays this order.
  public func begin(
    product: String, seats: Int, account: String, context: PurchaseContext? = nil
  ) async throws(SyncError) -> PurchaseOrder {
    try await begin(
      OrderWish(account: account, product: product, seats: seats, note: OrderNote(context: context)))
  }

  func begin(_ wish: OrderWish) async throws(SyncError) -> PurchaseOrder {
    decisions.tokens.personActs()
    try wish.note.check()
    try wish.checkQuantity()
    guard try wish.fits(configuration.limits) else {
      throw .encoding(what: "an order whose account and product have \(wish.bytes) bytes")
    }
    let order = try await anOrder(for: wish)
    decisions.sheets.open(for: order.number)
    return order
  }

  private func anOrder(for wish: OrderWish) async throws(SyncError) -> PurchaseOrder {
    let known = try withFile { (file) throws(QueueError) in
      try file.reuse(wish, excluding: decisions.sheets.orders, now: configuration.now())
    }
    if let known { return known }
    var making = OrderMaking(configuration.orderPolicy)
    while true {
      switch making.step {
      case .make: return try makeOrder(for: wish)
      case .fail(let error): throw error
      case .ask(let limit):
        do throws(SyncError) {
          if let order = try await requestOnce(for: wish, within: limit) { return order }
          making.wasTaken(isGivenUp: Task.isCancelled || isShutDown)
        } catch {
          making.failed(error, isGivenUp: Task.isCancelled || isShutDown)
        }
      }
    }
  }

  /// The backend is out of reach, or is not to be asked.
  private func makeOrder(for wish: OrderWish) throws(SyncError) -> PurchaseOrder {
    let now = configuration.now()
    let order = PurchaseOrder(
      number: DeviceOrder.number(configuration.system.uuid()), accountToken: configuration.system.uuid(),
      account: wish.account, productID: wish.product, quantity: wish.quantity, state: .open, createdAt: now,
      note: wish.note)
    try withFile { (file) throws(QueueError) in try file.make(order, now: now) }
    sendNotices()
    return order
  }

  /// Nil if another process has taken the order since, or if it is not open any more.
  private func requestOnce(
    for wish: OrderWish, within limit: Duration?
  ) async throws(SyncError) -> PurchaseOrder? {
    let proposed = configuration.system.uuid().uuidString
    let key = try withFile { (file) throws(QueueError) in
      try file.request(
        account: wish.account, product: wish.product, quantity: wish.quantity, proposing: proposed,
        waiting: decisions.sheets.requests, now: configuration.now())
    }
    decisions.sheets.requests.insert(key)
    defer { decisions.sheets.requests.remove(key) }
    configuration.checkpoint?(.orderRequesting)
    do throws(SyncError) {
      let document = try await call { (engine) async throws(SyncError) in
        try await engine.requestedOrder(wish, key: key, within: limit)
      }
      guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
      configuration.checkpoint?(.orderReceived)
      let isOpen = try OrderMaking.check(document, for: wish) { () throws(SyncError) in
        try withFile { (file) throws(QueueError) in
          try file.objection(to: document, of: wish.account, isAnswer: true)
        }
      }
      guard isOpen else {
        release(key, isFinal: true)
        return nil
      }
      return try withFile { (file) throws(QueueError) in
        try file.save(
          document, account: wish.account, note: wish.note, answering: key, now: configuration.now())
      }
    } catch {
      // There will be no payment, so the capacity is free again. The request stays, and the next call continues it;
      // after a final answer the next call is another request.
      release(key, isFinal: OrderMaking.isFinal(error))
      throw error
    }
  }

  private func requestedOrder(
    _ wish: OrderWish, key: String, within limit: Duration?
  ) async throws(SyncError) -> OrderDocument {
    guard let limit else { return try await requestOrder(wish, key: key) }
    let time = TimeLimit(milliseconds: limit.wholeMilliseconds, patience: configuration.system.patience)
    let answer = await time.answer { () async -> Result<OrderDocument, SyncError>? in
      do throws(SyncError) {
        return .success(try await self.requestOrder(wish, key: key))
      } catch {
        return .failure(error)
      }
    }
    guard let answer else { throw .backendUnreachable(reason: "no order came in time") }
    return try answer.get()
  }

  /// The app gets the error of the request; an error here is only reported, and a reservation that stays ends by its
  /// time. The freed capacity is for transactions that the store keeps.
  private func release(_ key: String, isFinal: Bool) {
    decisions.presence.callBegins()
    defer { callEnded() }
    do throws(SyncError) {
      // In the background it was closed while the backend was asked.
      if !isShutDown { _ = try file() }
    } catch {
      return report(error)
    }
    do throws(QueueError) {
      // Also while the engine ends: the next one is to have the capacity.
      if isFinal { try open.file?.endRequest(key) } else { try open.file?.queue.cancelReservation(key) }
    } catch {
      return report(failed(error))
    }
    if !isShutDown { takeFreedCapacity() }
  }

  /// Frees the capacity of unanswered requests before the file is closed. Their callers get an error and do not pay.
  func releaseRequests() {
    do throws(QueueError) {
      for key in decisions.sheets.requests.sorted() { try open.file?.queue.cancelReservation(key) }
    } catch {
      report(failed(error))
    }
  }

  /// The sheet was closed, and no payment is known. That is no proof that nothing was charged: some payments complete
  /// later, in another app of the bank. The order stays matchable by its token. The notice for the backend is durable.
  @discardableResult
  public func cancel(order number: String) throws(SyncError) -> PurchaseOrder? {
    let order = try withFile { (file) throws(QueueError) in try file.set(.cancelled, of: number) }
    freed()
    return order
  }

  /// The payment waits for an approval (Ask to Buy, a slow bank), perhaps for days. The notice for the backend is
  /// durable.
  @discardableResult
  public func deferPayment(of number: String) throws(SyncError) -> PurchaseOrder? {
    let order = try withFile { (file) throws(QueueError) in try file.set(.deferred, of: number) }
    freed()
    return order
  }

  /// A reservation has ended: its capacity is for transactions that the store keeps.
  private func freed() {
    takeFreedCapacity()
    sendNotices()
  }

  /// The order is done. After an error, what the store keeps is asked for again later.
  private func takeFreedCapacity() {
    reporting { () throws(SyncError) in
      perform(try step { (machine, now) throws(QueueError) in machine.capacityFreed(now: now) })
    }
  }

  /// Takes the store's answer to the payment of an order: a transaction (``receive(_:for:)-(StoreTransaction,_)``), a
  /// payment that waits, or a closed sheet.
  public func receive(_ result: PurchaseResult, for order: PurchaseOrder) throws(SyncError) {
    switch result {
    case .purchased(let transaction): try receive(transaction, for: order)
    case .pending: try deferPayment(of: order.number)
    case .cancelled: try cancel(order: order.number)
    }
  }

  /// Takes the transaction with which the store answered the payment of an order. As ``receive(_:)``, and more: if the
  /// user owned the product already, the store answers with the *earlier* transaction and charges nothing. Then its
  /// outcome is reported for this order too (`isAlreadyOwned`), now or when it is known, and the order is closed. If it is
  /// not known whether the earlier purchase is this account's, the backend is asked.
  public func receive(_ transaction: StoreTransaction, for order: PurchaseOrder) throws(SyncError) {
    decisions.presence.callBegins()
    defer { callEnded() }
    let number = order.number
    let isTakenBefore = decisions.sheets.came(transaction.key, before: number)
    let answer = try withFile { (file) throws(QueueError) in
      try file.answer(transaction, for: order, isTakenBefore: isTakenBefore)
    }
    try receive(transaction, storeAccount: nil, paying: answer == .payment ? number : nil)
    listBundle(of: transaction)
    var isEarlier = answer == .earlier
    // What cannot be bound is the payment of an order that is not known here, and the store has charged nothing else. A
    // payment for something else leaves the order open.
    if answer == .payment, transaction.agrees(with: order) { isEarlier = try !isPaid(number) }
    guard isEarlier else { return }
    let outcomes = try withFile { (file) throws(QueueError) in
      try file.close(number, as: transaction.key)
      try file.ask(about: transaction, for: number, now: configuration.now())
      return try file.ownedOutcomes(of: transaction.key)
    }
    for outcome in outcomes where outcome.orderNumber == number { emit(SyncEvent(publishing: outcome)) }
    perform(try step { (machine, now) throws(QueueError) in machine.questionCame(now: now) })
    freed()
  }

  /// A sheet returns one transaction of a bundle. The store lists the others.
  func listBundle(of transaction: StoreTransaction) {
    if transaction.bundle != nil { listStore() }
  }

  /// Whether a transaction belongs to the order.
  func isPaid(_ number: String) throws(SyncError) -> Bool {
    try withFile { (file) throws(QueueError) in try file.journal.row(number: number)?.boundTo != nil }
  }

  /// Whether a transaction is one of the account of this order.
  func isOwn(_ key: EntryKey, of order: PurchaseOrder) throws(SyncError) -> Bool {
    try withFile { (file) throws(QueueError) in
      try file.knownTransaction(key)?.lane == .account(order.account)
    }
  }

  /// Remembers whether a transaction came before an order was handed out.
  func noteArrival(of transaction: StoreTransaction) throws(SyncError) {
    let key = transaction.key
    guard decisions.sheets.isToNote(key) else { return }
    let isNew = try withFile { (file) throws(QueueError) in
      guard try file.queue.entry(key) == nil else { return false }
      return try file.queue.tombstone(key) == nil
    }
    if isNew { decisions.sheets.arrived(key) }
  }

  /// The orders of the journal, by the time they were made. Old ones without a payment are removed: the newest 20 stay, and
  /// of the rest those of the last 60 days, 200 in all.
  public func orders() throws(SyncError) -> [PurchaseOrder] {
    try withFile { (file) throws(QueueError) in try file.orders() }
  }

  /// Fetches the account's open orders from the backend into the journal: after a reinstall without a vault, or on a
  /// second device. Asks for each unpaid order that is not among them, and takes its state: it may be paid elsewhere.
  public func fetchOrders(of account: String) async throws(SyncError) {
    decisions.tokens.personActs()
    let documents = try await call { (engine) async throws(SyncError) in
      try await engine.requestOpenOrders(account: account)
    }
    let (refused, unlisted) = try withFile { (file) throws(QueueError) in
      (try file.take(documents, account: account), try file.unlisted(in: documents, account: account))
    }
    for reason in refused { emit(.backendFault(reason: reason)) }
    for number in unlisted {
      let known = try await call { (engine) async throws(SyncError) in
        try await engine.requestOrder(number, account: account)
      }
      guard let known else { continue }
      _ = try withFile { (file) throws(QueueError) in try file.take([known], account: account) }
    }
  }
}
