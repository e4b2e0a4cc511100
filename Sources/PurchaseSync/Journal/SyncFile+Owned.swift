import PurchaseQueue

/// Orders that the store answered with a transaction that was made before them.
extension SyncFile {
  /// What the store's answer to the payment of the order is. `isTakenBefore`: the transaction did not come after this
  /// process handed out the order.
  func answer(
    _ transaction: StoreTransaction, for order: PurchaseOrder, isTakenBefore: Bool
  ) throws(QueueError) -> SheetAnswer.Kind {
    var answer = SheetAnswer(transaction: transaction, order: order)
    answer.known = try journal.row(number: order.number)
    guard let known = answer.known else { return answer.kind }
    answer.boundTo = try knownTransaction(transaction.key)?.orderNumber
    (answer.isTakenBefore, answer.isSettled) = (isTakenBefore, try queue.tombstone(transaction.key) != nil)
    answer.isTokenShared = try journal.rows(TokenQuery(known.order.accountToken, limit: 2)).count > 1
    return answer.kind
  }

  /// Keeps that the order's outcome is that of an earlier transaction. If that is settled, and it is known whether it is
  /// this account's, the order is closed now. Otherwise a verdict closes it.
  func close(_ number: String, as key: EntryKey) throws(QueueError) {
    let closed = try queue.transaction { () throws(QueueError) -> [OrderRow] in
      guard let row = try self.journal.row(number: number), row.boundTo == nil else { return [] }
      try self.journal.update(number) { $0.answer(with: key) }
      try self.queue.cancelReservation(number)
      guard try self.queue.entry(key) == nil else { return [] }
      return try self.closeOwned(by: key)
    }
    for row in closed { mirrorState(of: row) }
  }

  /// Closes the orders whose outcome is that of a transaction that is settled, as far as it is known. Returns them. Inside
  /// a transaction.
  func closeOwned(by key: EntryKey) throws(QueueError) -> [OrderRow] {
    guard let tombstone = try queue.tombstone(key) else { return [] }
    var closed: [OrderRow] = []
    for owned in try journal.rows(answeredWith: key) where owned.existingOutcome(in: tombstone) != nil {
      var isClosed = false
      let row = try journal.update(owned.order.number) { isClosed = $0.close() }
      if isClosed, let row { closed.append(row) }
    }
    return closed
  }

  // MARK: Questions

  /// The orders that wait for the backend to say whose a settled transaction is, with its tombstone.
  func questions(about key: EntryKey? = nil) throws(QueueError) -> [(order: OrderRow, of: Tombstone)] {
    var questions: [(order: OrderRow, of: Tombstone)] = []
    for row in try journal.rows(answeredWith: key) where row.boundTo == nil {
      guard let key = row.existing?.key, let tombstone = try queue.tombstone(key) else { continue }
      if row.existingOutcome(in: tombstone) == nil { questions.append((row, tombstone)) }
    }
    return questions
  }

  /// Queues the question for this order with the proof that has just come. Without capacity it is queued later, without
  /// the proof. The question of another account gives way: that account may never sign in, and this one waits for its
  /// payment sheet.
  func ask(
    about transaction: StoreTransaction, for number: String, now: Timestamp
  ) throws(QueueError) {
    let asked = try questions(about: transaction.key)
    guard let question = asked.first(where: { $0.order.order.number == number }) else { return }
    do throws(QueueError) {
      try queue.undoableInGroup { () throws(QueueError) in
        try self.withdrawQuestion(about: transaction.key, exceptOf: question.order.order.account, now: now)
        let details = try TransactionDetails(transaction).keeping(from: question.of).text()
        _ = try self.ask(question, details: details, proofs: [transaction.proof], now: now)
      }
    } catch {
      guard case .queueFull = error else { throw error }
    }
  }

  /// Takes a question out of the queue. It is queued again when the transaction has no entry (`questions`): everything else
  /// about the transaction comes before it, because an account that asks may never sign in again.
  func withdrawQuestion(
    about key: EntryKey, exceptOf account: String? = nil, now: Timestamp
  ) throws(QueueError) {
    guard let asker = try queue.entry(key)?.lane.asker, !Optional(asker).isSameAccount(as: account) else {
      return
    }
    var end = Settlement(key: key, outcome: "withdrawn", hasPendingFinish: false, isUnconfirmed: false)
    end.keepsTombstone = true
    _ = try queue.acknowledge([end], now: now) { (_, _) throws(QueueError) in }
  }

  /// Queues the question next to the tombstone. Nil if the transaction is queued already: it is asked about afterwards.
  func ask(
    _ question: (order: OrderRow, of: Tombstone), details: String, proofs: [Payload] = [], now: Timestamp
  ) throws(QueueError) -> Entry? {
    let (account, tombstone) = (question.order.order.account, question.of)
    guard try queue.entry(tombstone.key) == nil else { return nil }
    var new = NewEntry(
      key: tombstone.key, lane: .question(of: account), orderNumber: tombstone.orderNumber, details: details,
      payloads: proofs)
    new.isUpdate = true
    switch try queue.enqueue(new, now: now) {
    case .inserted(let entry), .collapsed(let entry): return entry
    case .settled: return nil
    }
  }

  /// The backend has answered an account's question. The tombstone stays as it was: it may hold what another account was
  /// published. True if the answer says something new about the transaction itself. Inside a transaction.
  func answered(_ entry: Entry, by asker: String, _ outcome: String, now: Timestamp) throws(QueueError)
    -> Bool
  {
    let answer = OrderRow.Answer(outcome: outcome, settledAt: now)
    for row in try journal.rows(answeredWith: entry.key) where row.order.account.hasSameBytes(as: asker) {
      try journal.update(row.order.number) { $0.existing?.answer = answer }
    }
    guard let tombstone = try queue.tombstone(entry.key) else { return false }
    return Tombstone.isNews(outcome, since: tombstone.outcome)
  }

  // MARK: Outcomes

  /// The outcomes of orders that the store answered with this settled transaction; with all of them if `key` is nil.
  func ownedOutcomes(of key: EntryKey? = nil) throws(QueueError) -> [Outcome] {
    var outcomes: [Outcome] = []
    for row in try journal.rows(answeredWith: key) {
      guard let existing = row.existing, let tombstone = try queue.tombstone(existing.key),
        let outcome = row.existingOutcome(in: tombstone)
      else { continue }
      // An update is under way, and its verdict is the outcome.
      if existing.answer == nil, try queue.entry(existing.key) != nil { continue }
      outcomes.append(Outcome(outcome, closing: row.order))
    }
    return outcomes
  }

  /// The app has confirmed the outcome of such an order.
  func confirmOwned(_ number: String) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      _ = try self.journal.update(number) { $0.existing = nil }
    }
  }
}

extension Verdict {
  /// Whether the period is over, or something of the purchase was refunded, whichever account has it.
  package var isOver: Bool { self == .refunded || self == .lapsed }
}
