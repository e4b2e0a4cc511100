import Foundation
package import PurchaseQueue

/// The orders of the journal, with the capacity that is reserved for their payments.
extension SyncFile {
  /// How long capacity is reserved for a payment, in milliseconds: longer than a sheet is open. A payment that comes
  /// later, such as an approved one, stays with the store until there is capacity.
  private static var reservationTime: Int64 { 3_600_000 }
  /// For how long an order of another process is used for the same purchase, in milliseconds.
  private static var reuseTime: Int64 { 86_400_000 }

  private func reserve(_ name: String, now: Timestamp) throws(QueueError) {
    // An order that was not paid never blocks the next one: the oldest reservation gives way.
    try queue.reserve(
      name, until: now.adding(milliseconds: Self.reservationTime), displacing: true, now: now)
  }

  // MARK: Making

  /// Reserves capacity for a purchase and commits the key of its order request, before the user pays.
  package func request(
    account: String, product: String, quantity: Int, proposing key: String, waiting: Set<String>,
    now: Timestamp
  ) throws(QueueError) -> String {
    try queue.transaction { () throws(QueueError) in
      let key = try self.journal.request(
        account: account, product: product, quantity: quantity, proposing: key, waiting: waiting)
      try self.reserve(key, now: now)
      return key
    }
  }

  /// The backend refused the request for good: the next order is another request.
  func endRequest(_ key: String) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      try self.queue.cancelReservation(key)
      _ = try self.journal.endRequest(key)
    }
  }

  /// Commits a requested order, then copies it to the vault. If the vault fails, a reinstall loses the
  /// binding, not the purchase. Returns nil and changes nothing if another process found the request
  /// unanswered too and already has the answer.
  package func save(
    _ document: OrderDocument, account: String, context: PurchaseContext? = nil, answering key: String,
    now: Timestamp
  ) throws(QueueError) -> PurchaseOrder? {
    var order = PurchaseOrder(document, account: account)
    order.context = context
    let made = order
    let isMine = try queue.transaction { () throws(QueueError) in
      try self.queue.cancelReservation(key)
      guard try self.journal.endRequest(key) else { return false }
      try self.reserve(made.number, now: now)
      // The backend may answer with an order that was cancelled here: it is open again.
      try self.merge(made, isAnswer: true)
      try self.orderNotes.keep(OrderExtras(context: context), of: made.number)
      try self.orderNotes.noteOwn(made.number, handedOutAt: now)
      return true
    }
    guard isMine else { return nil }
    queue.checkpoint?(.orderCommitted)
    mirror(made, OrderExtras(context: context))
    return made
  }

  /// Commits an order that the device makes, with its registration, which is pending until the backend acknowledges it.
  func make(_ order: PurchaseOrder, now: Timestamp) throws(QueueError) {
    let extras = OrderExtras(context: order.context, isDeviceMade: true)
    try queue.transaction { () throws(QueueError) in
      try self.reserve(order.number, now: now)
      try self.journal.write(JournalRow(order, boundTo: nil))
      try self.orderNotes.keep(extras, of: order.number)
      try self.orderNotes.noteOwn(order.number, handedOutAt: now)
      try self.orderNotes.owe(
        OrderNotice(number: order.number, account: order.account, state: order.state))
    }
    queue.checkpoint?(.orderCommitted)
    mirror(order, extras)
  }

  /// An order of another process for the same purchase, if its sheet cannot be open any more: the app got it last more
  /// than an hour ago, and it was made less than a day ago. Only an order that this installation made: another device may have handed out its
  /// own, and what the vault knows of an order may be old. A cancelled order is never used again: its payment may still
  /// complete, and two purchases would share one order.
  func reuse(
    _ wish: OrderWish, context: PurchaseContext?, excluding handedOut: Set<String>, now: Timestamp
  ) throws(QueueError) -> PurchaseOrder? {
    let hour = Self.reservationTime
    let found = try queue.transaction { () throws(QueueError) -> PurchaseOrder? in
      var order = try self.journal.openOrder(
        wish, madeFrom: now.adding(milliseconds: -Self.reuseTime),
        lastHandedOut: now.adding(milliseconds: -hour), openUntil: now.adding(milliseconds: hour),
        excluding: handedOut, now: now)
      guard let number = order?.number else { return nil }
      try self.reserve(number, now: now)
      try self.orderNotes.noteOwn(number, handedOutAt: now)
      var extras = try self.orderNotes.extras(of: number)
      extras.context = context
      try self.orderNotes.keep(extras, of: number)
      order?.context = context
      return order
    }
    if let found { mirror(found, try orderNotes.extras(of: found.number)) }
    return found
  }

  /// Takes over orders as the backend knows them: those of another device or install, and states that changed elsewhere.
  /// Returns why it takes some of them not: what is known here of an order never becomes another account's.
  @discardableResult
  package func take(_ documents: [OrderDocument], account: String) throws(QueueError) -> [String] {
    var refused: [String] = []
    let changed = try queue.transaction { () throws(QueueError) -> [PurchaseOrder] in
      var changed: [PurchaseOrder] = []
      for document in documents {
        if let objection = try self.objection(to: document, of: account) {
          refused.append(objection)
          continue
        }
        let before = try self.journal.row(number: document.number)?.order.state
        try self.merge(PurchaseOrder(document, account: account))
        guard let before, let order = try self.journal.row(number: document.number)?.order else { continue }
        if order.state != before { changed.append(order) }
      }
      return changed
    }
    for order in changed { try mirrorState(of: order) }
    return refused
  }

  /// Why an order of the backend cannot be an order of this account; nil if it can. `isAnswer`: it answers a request, and
  /// is about to be paid.
  func objection(
    to document: OrderDocument, of account: String, isAnswer: Bool = false
  ) throws(QueueError) -> String? {
    let number = document.number
    guard (1...VerdictBinding.longestNumber).contains(number.utf8.count) else {
      return "it gave an order a number of \(number.utf8.count) bytes"
    }
    if let known = try journal.row(number: number) {
      guard known.order.account.hasSameBytes(as: account) else {
        return "it gave order \(number) to two accounts"
      }
      let isSame = known.order.accountToken == document.accountToken && known.order.isFor(document)
      guard !isAnswer || isSame && known.boundTo == nil else {
        return "it gave order \(number) twice, with other contents or after its payment"
      }
    }
    let owner = try journal.rows(TokenQuery(document.accountToken, limit: 1)).first?.order.account
    guard let owner, !owner.hasSameBytes(as: account) else { return nil }
    return "it gave the account token of order \(number) to two accounts"
  }

  /// The unpaid orders of an account that the backend's complete list of open orders lacks: they were paid elsewhere, or
  /// have expired. Not those whose state the backend has not acknowledged.
  func unlisted(in documents: [OrderDocument], account: String) throws(QueueError) -> [String] {
    let listed = Set(documents.map(\.number))
    var numbers: [String] = []
    for row in try journal.orders() where row.boundTo == nil {
      guard row.order.account.hasSameBytes(as: account) else { continue }
      guard [.open, .deferred].contains(row.order.state), !listed.contains(row.order.number) else { continue }
      if try !orderNotes.owes(noticeOf: row.order.number) { numbers.append(row.order.number) }
    }
    return numbers
  }

  /// Merges an order from the backend. A known order keeps its binding and its account; only its state and
  /// its expiry may change, and its state only if the backend has acknowledged the device's. A list may be older than
  /// that: an order goes back to an earlier state only if it answers a request (`isAnswer`). An order that the device
  /// made has the device's time until the backend has acknowledged it.
  func merge(_ order: PurchaseOrder, isAnswer: Bool = false) throws(QueueError) {
    guard var known = try journal.row(number: order.number) else {
      return try journal.write(JournalRow(order, boundTo: nil))
    }
    guard known.boundTo == nil, known.order.state != .alreadyOwned else { return }
    if isAnswer {
      try orderNotes.endNotices(of: order.number)
      known.order.state = order.state
    } else if order.state.canFollow(known.order.state), try !orderNotes.owes(noticeOf: order.number) {
      known.order.state = order.state
    }
    known.order.expiresAt = order.expiresAt
    if try orderNotes.extras(of: order.number).isDeviceMade { known.order.createdAt = order.createdAt }
    try journal.write(known)
  }

  /// The backend has the order in this state, and has answered with the order as it knows it: when it was made, if the
  /// device made it, and until when the backend waits for its payment.
  func heard(_ notice: OrderNotice, _ answer: OrderDocument? = nil) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      try self.orderNotes.end(notice)
      guard let answer, var row = try self.journal.row(number: notice.number) else { return }
      let before = row.order
      if try self.orderNotes.extras(of: notice.number).isDeviceMade { row.order.createdAt = answer.createdAt }
      row.order.expiresAt = answer.expiresAt ?? before.expiresAt
      if row.order != before { try self.journal.write(row) }
    }
  }

  /// Orders whose approval can hardly come any more: the backend is asked what has become of them.
  func ordersToAskAbout(now: Timestamp) throws(QueueError) -> [PurchaseOrder] {
    try journal.orders().map(\.order).filter { order in
      order.state == .deferred && (order.expiresAt.map { $0 <= now } ?? false || order.isFromTheFuture(now))
    }
  }

  // MARK: States

  /// Sets the state that the app gives an unpaid order, pending for the backend. A paid order keeps its state. The
  /// reserved capacity is free again: a payment that is approved later stays with the store until it fits.
  func set(_ state: OrderState, of number: String) throws(QueueError) -> PurchaseOrder? {
    let order = try queue.transaction { () throws(QueueError) -> PurchaseOrder? in
      guard var row = try self.journal.row(number: number) else { return nil }
      guard row.boundTo == nil, row.order.state != .delivered, row.order.state != .alreadyOwned else {
        return row.order
      }
      try self.queue.cancelReservation(number)
      guard row.order.state != state else { return row.order }
      row.order.state = state
      try self.journal.write(row)
      try self.orderNotes.owe(OrderNotice(number: number, account: row.order.account, state: state))
      return row.order
    }
    if let order { try mirrorState(of: order) }
    return order
  }

  // MARK: With their contexts

  /// The outcome of a tombstone, with the context of its order.
  func outcome(_ tombstone: Tombstone) throws(QueueError) -> Outcome {
    var outcome = Outcome(tombstone)
    if let number = outcome.orderNumber { outcome.context = try orderNotes.extras(of: number).context }
    return outcome
  }

  /// The outcomes that the app has not confirmed, oldest first, then those of orders that the user owned already.
  func unconfirmedOutcomes() throws(QueueError) -> [Outcome] {
    var outcomes: [Outcome] = []
    for tombstone in try tombstonesWithDuties() where tombstone.isUnseen {
      outcomes.append(try outcome(tombstone))
    }
    return outcomes + (try ownedOutcomes())
  }

  /// The orders of the journal, by the time they were made.
  func orders() throws(QueueError) -> [PurchaseOrder] {
    var orders: [PurchaseOrder] = []
    for var order in try journal.orders().map(\.order) {
      order.context = try orderNotes.extras(of: order.number).context
      orders.append(order)
    }
    return orders
  }

  /// The document that registers an order which this device made; nil for an order of the backend.
  func deviceOrder(_ number: String) throws(QueueError) -> DeviceOrder? {
    guard try orderNotes.extras(of: number).isDeviceMade else { return nil }
    return try journal.row(number: number)?.order.asDeviceOrder
  }
}

extension PurchaseOrder {
  fileprivate func isFor(_ document: OrderDocument) -> Bool {
    productID == document.productID && quantity == document.quantity
  }
}

extension OrderState {
  /// Whether an order can come from the known state to this one. Words of a newer protocol can follow each other.
  fileprivate func canFollow(_ known: OrderState) -> Bool {
    switch known {
    case .deferred: self != .open
    case .cancelled, .alreadyOwned: self != .open && self != .deferred
    case .paid, .delivered, .refunded: ![.open, .deferred, .cancelled, .expired].contains(self)
    default: true
    }
  }
}
