import PurchaseQueue

/// What happens to an order. A transition that does not apply leaves the row as it is.
///
///     requested ──────────▶ open ─────────────▶ deferred        the backend answers; the payment waits for an approval
///        │                   │  │                   │
///        │ refused           │  └─▶ cancelled ◀─────┤           the sheet was closed, the approval is over
///        ▼                   │        │  ▲          │
///     (removed)              │        │  └ again ───┼──▶ open   the backend answers a new request with it
///                            ├────────┼─────────────┤
///                            ▼        ▼             ▼
///                           paid ───────────▶ delivered ─▶ refunded, partlyRefunded
///                            a transaction is bound; its verdict
///
///     open, deferred, cancelled ─▶ alreadyOwned                 the store answered with an earlier transaction
///     open, deferred ─▶ expired, paid, delivered                as the backend's list says
///
/// What the backend lists never takes an order back to an earlier state, and never changes one that it has yet to
/// acknowledge. A binding is for good.
extension OrderRow {
  /// The app gets the order again: the backend answered a new request with it, also one that was cancelled here.
  mutating func beginAgain(_ answer: PurchaseOrder, at now: Timestamp) {
    if isUnpaid {
      notice = nil
      order.state = answer.state
      updateTimes(answer)
    }
    order.note = answer.note
    (maker, origin, begunAt) = (.backend, .begun, now)
  }

  /// The app gets an order that another process has begun.
  mutating func beginAgain(with note: OrderNote, at now: Timestamp) {
    (order.note, begunAt) = (note, now)
  }

  /// The backend lists the order so. Its account, token, product and binding stay. The list may be older than what is
  /// known here.
  mutating func update(_ listed: PurchaseOrder) {
    guard isUnpaid else { return }
    if notice == nil, listed.state.canFollow(order.state) { order.state = listed.state }
    updateTimes(listed)
  }

  /// The app gives an unpaid order a state. Returns false if it has no say in it.
  mutating func set(_ state: OrderState) -> Bool {
    guard isUnpaid, order.state != .delivered else { return false }
    if order.state != state { (order.state, notice) = (state, state) }
    return true
  }

  /// The backend has acknowledged a state, and answered with the order as it knows it. A newer state stays pending.
  mutating func acknowledge(_ state: OrderState, _ answer: OrderDocument?) {
    if notice == state { notice = nil }
    guard let answer else { return }
    if maker == .device { order.createdAt = answer.createdAt }
    order.expiresAt = answer.expiresAt ?? order.expiresAt
  }

  /// The store answered the payment with a transaction that was made before the order.
  mutating func answer(with key: EntryKey) {
    if boundTo == nil, existing?.key != key { existing = Existing(key: key) }
  }

  /// The outcome of the earlier transaction is known: nothing was charged. Returns false if the order was closed
  /// before.
  mutating func close() -> Bool {
    guard isUnpaid else { return false }
    (order.state, notice) = (.alreadyOwned, .cancelled)
    return true
  }

  /// A transaction is the order's payment.
  mutating func bind(_ key: EntryKey) {
    guard boundTo == nil else { return }
    boundTo = key
    if existing?.key == key { existing = nil }
    if ![.delivered, .refunded, .partlyRefunded].contains(order.state) { order.state = .paid }
  }

  /// The order's transaction has a verdict: the backend knows the order, and its state. `leavesUnits`: a refund takes a
  /// part of it back.
  mutating func settle(_ key: EntryKey, _ verdict: Verdict, leavesUnits: Bool = false) {
    notice = nil
    bind(key)
    if verdict == .granted || verdict == .duplicate { order.state = .delivered }
    if verdict == .refunded { order.state = leavesUnits ? .partlyRefunded : .refunded }
  }

  /// Another device gave the order to the app: the file is a copy. Its token still names its owner, and no payment
  /// without a token is taken for it.
  mutating func disown() {
    if boundTo == nil { origin = .copied }
  }

  private var isUnpaid: Bool { boundTo == nil && order.state != .alreadyOwned }

  /// The end of an order is the backend's to say, and so is the time of one that was made by this device's clock.
  private mutating func updateTimes(_ known: PurchaseOrder) {
    order.expiresAt = known.expiresAt
    if maker == .device { order.createdAt = known.createdAt }
  }
}

extension OrderState {
  /// Whether an order can come from the known state to this one. Words of a newer protocol can follow each other.
  fileprivate func canFollow(_ known: OrderState) -> Bool {
    switch known {
    case .deferred: self != .open
    case .cancelled, .alreadyOwned: self != .open && self != .deferred
    case .paid, .delivered, .refunded, .partlyRefunded:
      ![.open, .deferred, .cancelled, .expired].contains(self)
    default: true
    }
  }
}

extension OrderRow {
  /// The outcome for the order's account, from the tombstone of the transaction with which the store answered. Nil if
  /// that does not say whether the purchase is this account's: the device lane's answer depends on who was signed in
  /// then.
  func existingOutcome(in tombstone: Tombstone) -> Tombstone? {
    guard let answer = existing?.answer else { return isAccountKnown(in: tombstone) ? tombstone : nil }
    var answered = tombstone
    answered.lane = .device
    answered.outcome = answer.outcome
    answered.settledAt = answer.settledAt
    return answered
  }

  private func isAccountKnown(in tombstone: Tombstone) -> Bool {
    let (lane, account) = (tombstone.lane, order.account)
    // A question that the app has discarded is not asked again.
    if lane == .account(account) || lane == .question(of: account) { return true }
    if tombstone.outcome == Tombstone.discarded { return true }
    guard tombstone.owner == .yours else { return false }
    return lane.account != nil || tombstone.provenBy.isSameAccount(as: account)
  }
}
