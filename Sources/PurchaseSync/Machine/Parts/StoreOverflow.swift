import PurchaseQueue

/// Transactions that the store keeps because the queue has no capacity for them.
///
/// ```
///            full                      capacityFreed, or the moment comes
///   none ───────────▶ full(askAt) ─────────────────────────────────▶ capacityFreed
///    ▲                 ▲   ▲  └── waitForCapacity: a later moment ──┘      │ ask
///    │                 │   └────── full, or the store did not answer ──┐   ▼
///    └─────────────────┴──────── listed ─────────────────────────── askingStore
/// ```
///
/// The store is asked when the lane that freed capacity has nothing more to send, or when nothing is in flight: with a
/// thousand transactions in the store, asking after each settled one would cost a thousand listings. What its last list had
/// and what did not fit comes first (`heldArrived`): then a thousand cost two listings, and not one for each time that the
/// queue was empty.
enum StoreOverflow: Hashable {
  /// The store keeps nothing for lack of capacity.
  case none
  /// The store keeps something. It is asked again at this moment even if no capacity is freed here: another process
  /// may free some, and a reservation for an order ends by itself. Nil until the first wait was computed.
  case full(askAt: Timestamp?)
  /// There may be capacity now. The store has not been asked yet.
  case capacityFreed
  /// The store was asked and has not answered.
  case askingStore

  /// Whether the store is known to keep something.
  var isStoreHoldingMore: Bool {
    switch self {
    case .full, .capacityFreed: true
    case .none, .askingStore: false
    }
  }

  /// A transaction did not fit.
  mutating func full() {
    switch self {
    case .none, .askingStore: self = .full(askAt: nil)
    case .full, .capacityFreed: break
    }
  }

  /// The store still keeps something that could not be stored here, for another reason than capacity.
  mutating func storeKeepsMore() { self = .capacityFreed }

  /// There may be capacity. True if the store keeps something: it comes first.
  mutating func freed() -> Bool {
    guard isStoreHoldingMore else { return false }
    self = .capacityFreed
    return true
  }

  /// The store answered with its list.
  mutating func listed() {
    if self == .askingStore { self = .none }
  }

  /// Transactions of an earlier list came in place of an answer. If all of them fitted, the store is asked next.
  mutating func heldArrived() {
    if self == .askingStore { self = .capacityFreed }
  }

  /// The store did not answer: it may keep as much as before.
  mutating func notListed() {
    if self == .askingStore { self = .full(askAt: nil) }
  }

  /// Something on the list did not fit: ask again after the backoff ceiling.
  mutating func waitForCapacity(now: Timestamp, policy: RetryPolicy) {
    if case .full = self { self = .full(askAt: now.adding(milliseconds: policy.ceilingMilliseconds)) }
  }

  /// The clock went back: the store is asked as soon as before.
  mutating func follow(_ jump: ClockJump) {
    guard case .full(let askAt?) = self else { return }
    self = .full(askAt: askAt.adding(milliseconds: -jump.distance))
  }

  /// The moment at which this is to be looked at again; nil if there is nothing to wait for, or if the moment has come.
  mutating func wakeUp(now: Timestamp, policy: RetryPolicy) -> Timestamp? {
    guard case .full(let askAt) = self else { return nil }
    let due = (askAt ?? .distantFuture).clamped(to: policy.ceilingMilliseconds, after: now)
    guard due <= now else {
      self = .full(askAt: due)
      return due
    }
    self = .capacityFreed
    return nil
  }

  /// True if the store is to be asked now.
  mutating func ask() -> Bool {
    guard self == .capacityFreed else { return false }
    self = .askingStore
    return true
  }
}

/// The machine's view of the store: transactions to finish, transactions that it keeps, and its account.
struct StoreSide: Hashable {
  var finishes = FinishTable()
  var overflow = StoreOverflow.none
  /// Whether the last transaction that did not fit lacked the capacity that duties of settled entries take.
  var isFullOfDuties = false
  /// The store account of the last listing; nil if it is not known.
  var account: String?

  /// The clock went back.
  mutating func follow(_ jump: ClockJump) {
    finishes.follow(jump)
    overflow.follow(jump)
  }
}
