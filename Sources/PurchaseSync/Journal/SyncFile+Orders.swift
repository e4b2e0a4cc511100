import Foundation
package import PurchaseQueue
import PurchaseSQLite

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

  /// Reserves capacity for a purchase and commits the key of its order request, before the user pays. Promised soon: the
  /// order is durable before the sheet, and a power cut before that leaves an unpaid order at the backend.
  package func request(
    account: String, product: String, quantity: Int, proposing key: String, waiting: Set<String>,
    now: Timestamp
  ) throws(QueueError) -> String {
    try queue.transaction(.soon) { () throws(QueueError) in
      let wish = OrderWish(account: account, product: product, quantity: quantity)
      let key = try self.journal.request(wish, proposing: key, waiting: waiting, now: now)
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
    _ document: OrderDocument, account: String, note: OrderNote = OrderNote(), answering key: String,
    now: Timestamp
  ) throws(QueueError) -> PurchaseOrder? {
    var order = PurchaseOrder(document, account: account)
    order.note = note
    let made = order
    let new = OrderRow(begun: made, by: .backend, at: now)
    let isMine = try queue.transaction { () throws(QueueError) in
      try self.queue.cancelReservation(key)
      guard try self.journal.endRequest(key) else { return false }
      try self.reserve(made.number, now: now)
      // The backend may answer with an order that was cancelled here: it is open again.
      if try self.journal.update(made.number, { $0.beginAgain(made, at: now) }) == nil {
        try self.journal.write(new)
      }
      return true
    }
    guard isMine else { return nil }
    queue.checkpoint?(.orderCommitted)
    mirror(new)
    return made
  }

  /// Commits an order that the device makes, with its registration, which is pending until the backend acknowledges it.
  func make(_ order: PurchaseOrder, now: Timestamp) throws(QueueError) {
    let row = OrderRow(begun: order, by: .device, at: now)
    try queue.transaction { () throws(QueueError) in
      try self.reserve(order.number, now: now)
      try self.journal.write(row)
    }
    queue.checkpoint?(.orderCommitted)
    mirror(row)
  }

  /// An order of another process for the same purchase, if its sheet cannot be open any more: the app got it last more
  /// than an hour ago, and it was made less than a day ago. Only an order that this installation made: another device may
  /// have given its own to the app, and what the vault knows of an order may be old. A cancelled order is never used
  /// again: its payment may still complete, and two purchases would share one order.
  func reuse(
    _ wish: OrderWish, excluding handedOut: Set<String>, now: Timestamp
  ) throws(QueueError) -> PurchaseOrder? {
    let hour = Self.reservationTime
    let found = try queue.transaction { () throws(QueueError) -> OrderRow? in
      let open = try self.journal.openOrder(
        wish, madeFrom: now.adding(milliseconds: -Self.reuseTime), lastBegun: now.adding(milliseconds: -hour),
        openUntil: now.adding(milliseconds: hour), excluding: handedOut, now: now)
      guard let number = open?.order.number else { return nil }
      try self.reserve(number, now: now)
      return try self.journal.update(number) { $0.beginAgain(with: wish.note, at: now) }
    }
    if let found { mirror(found) }
    return found?.order
  }

  /// Takes over orders as the backend knows them: those of another device or install, and states that changed elsewhere.
  /// Returns why it takes some of them not: what is known here of an order never becomes another account's.
  @discardableResult
  package func take(_ documents: [OrderDocument], account: String) throws(QueueError) -> [String] {
    var refused: [String] = []
    let changed = try queue.transaction { () throws(QueueError) -> [OrderRow] in
      var changed: [OrderRow] = []
      for document in documents {
        if let objection = try self.objection(to: document, of: account) {
          refused.append(objection)
          continue
        }
        let order = PurchaseOrder(document, account: account)
        guard let before = try self.journal.row(number: order.number) else {
          try self.journal.write(OrderRow(order, by: .backend, .listed))
          continue
        }
        guard let now = try self.journal.update(order.number, { $0.update(order) }) else { continue }
        if now.order.state != before.order.state { changed.append(now) }
      }
      return changed
    }
    for row in changed { mirrorState(of: row) }
    return refused
  }

  /// As `KnownOrder.objection`, with what the file knows.
  func objection(
    to document: OrderDocument, of account: String, isAnswer: Bool = false
  ) throws(QueueError) -> String? {
    let known = KnownOrder(
      isRequest: try journal.isRequest(document.number), row: try journal.row(number: document.number),
      tokenAccount: try journal.rows(TokenQuery(document.accountToken, limit: 1)).first?.order.account)
    return known.objection(to: document, of: account, isAnswer: isAnswer)
  }

  /// The unpaid orders of an account that the backend's complete list of open orders lacks: they were paid elsewhere, or
  /// have expired. Not those whose state the backend has not acknowledged.
  func unlisted(in documents: [OrderDocument], account: String) throws(QueueError) -> [String] {
    let listed = Set(documents.map(\.number))
    var numbers: [String] = []
    for row in try journal.unbound() {
      guard row.order.account.hasSameBytes(as: account) else { continue }
      guard [.open, .deferred].contains(row.order.state), !listed.contains(row.order.number) else { continue }
      if row.notice == nil { numbers.append(row.order.number) }
    }
    return numbers
  }

  /// The backend has an order in this state, and has answered with the order as it knows it: when it was made, if the
  /// device made it, and until when the backend waits for its payment.
  func acknowledged(
    _ state: OrderState, of number: String, _ answer: OrderDocument? = nil
  ) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      _ = try self.journal.update(number) { $0.acknowledge(state, answer) }
    }
  }

  /// Orders whose approval can hardly come any more: the backend is asked what has become of them.
  func ordersToAskAbout(now: Timestamp) throws(QueueError) -> [PurchaseOrder] {
    try journal.unbound().map(\.order).filter { order in
      order.state == .deferred && (order.expiresAt.map { $0 <= now } ?? false || order.isFromTheFuture(now))
    }
  }

  // MARK: States

  /// Sets the state that the app gives an unpaid order, pending for the backend. A paid order keeps its state. The
  /// reserved capacity is free again: a payment that is approved later stays with the store until it fits.
  func set(_ state: OrderState, of number: String) throws(QueueError) -> PurchaseOrder? {
    let row = try queue.transaction { () throws(QueueError) -> OrderRow? in
      var isSet = false
      let row = try self.journal.update(number) { isSet = $0.set(state) }
      if isSet { try self.queue.cancelReservation(number) }
      return row
    }
    if let row { mirrorState(of: row) }
    return row?.order
  }

  // MARK: With their notes

  /// The outcome of a tombstone, with the note of its order.
  func outcome(_ tombstone: Tombstone) throws(QueueError) -> Outcome {
    var outcome = Outcome(tombstone)
    outcome.note = try note(of: outcome.orderNumber)
    return outcome
  }

  /// The note of an order; an empty one if the order is not known here.
  func note(of number: String?) throws(QueueError) -> OrderNote {
    guard let number else { return OrderNote() }
    return try journal.row(number: number)?.order.note ?? OrderNote()
  }

  /// The outcomes that the app has not confirmed, oldest first, then those of orders that the user owned already.
  func unconfirmedOutcomes() throws(QueueError) -> [Outcome] {
    var outcomes: [Outcome] = []
    for tombstone in try tombstonesWithDuties() where tombstone.isUnconfirmed {
      outcomes.append(try outcome(tombstone))
    }
    return outcomes + (try ownedOutcomes())
  }

  /// The orders of the journal, by the time they were made.
  func orders() throws(QueueError) -> [PurchaseOrder] { try journal.orders().map(\.order) }

  /// The document that registers an order which this device made; nil for an order of the backend.
  func deviceOrder(_ number: String) throws(QueueError) -> DeviceOrder? {
    guard let row = try journal.row(number: number), row.maker == .device else { return nil }
    return row.order.asDeviceOrder
  }
}
