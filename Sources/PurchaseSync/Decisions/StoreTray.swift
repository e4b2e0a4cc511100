import PurchaseQueue

/// The transactions on their way from the store into the queue: those of a list, and those that a user restored.
///
/// ```
///            there is capacity
///   listed ────────────────────────────────▶ stored
///     │ no capacity                            ▲
///     ▼              capacity became free      │
///   published once, ───────────────────────────┤
///   and a copy waits                           │
///     │ arrived by itself, or a newer list     │ there is capacity
///     ▼                                        │
///   the copy is forgotten           restored ──┘ (the rest waits for the next list)
/// ```
///
/// Copies let the store list a thousand transactions once, and not again for every 64 of them. The store keeps every one of
/// them unfinished, and lists them again after a restart. When the last copy is stored, the store is asked again: its list
/// then has what is missing here.
struct StoreTray {
  /// Transactions that the store keeps for lack of capacity, and that were published.
  private var published: Set<EntryKey> = []
  private var copies = Copies()
  /// Transactions of a restored receipt that are not stored yet.
  private(set) var restoring: [RestoredTransaction] = []

  /// The file is closed: the store is asked again when it is open again.
  mutating func fileClosed() { copies = Copies() }

  /// The transaction arrives by itself: it is newer than its copy.
  mutating func arrives(_ key: EntryKey) {
    if published.contains(key) { copies.forget(key) }
  }

  mutating func stored(_ keys: some Sequence<EntryKey>) { published.subtract(keys) }

  /// The queue lacks capacity for the transaction. True the first time: then it is published.
  mutating func lacksCapacity(for key: EntryKey) -> Bool { published.insert(key).inserted }

  // MARK: Lists

  /// The store has listed its transactions: older copies are of no use.
  mutating func listed(for account: String?) -> Intake {
    copies = Copies()
    return Intake(account: account)
  }

  /// What of the list found no capacity stays as copies.
  mutating func keepsRest(of intake: Intake) { copies = Copies(intake.left, account: intake.account) }

  /// What the store does not list any more is not waiting there.
  mutating func storeHoldsOnly(_ keys: Set<EntryKey>) {
    published.formIntersection(keys.union(restoring.map(\.transaction.key)))
  }

  /// Capacity became free: the copies, and how they are taken. Nil if there are none: the store is to be asked.
  mutating func takesCopies() -> (transactions: [StoreTransaction], intake: Intake)? {
    guard !copies.transactions.isEmpty else { return nil }
    defer { copies = Copies() }
    return (copies.transactions, Intake(account: copies.account, isHeld: true))
  }

  /// Copies were taken. If nothing fits, a newer list is better than these.
  mutating func tookCopies(_ intake: Intake) {
    if !intake.taken.isEmpty { keepsRest(of: intake) }
  }

  // MARK: Restoring

  /// What the user restored, instead of what is left of an earlier restore.
  mutating func restores(_ transactions: [RestoredTransaction]) { restoring = transactions }

  /// The oldest transactions of a list for which there was no capacity.
  struct Copies {
    /// The most bytes of proofs: 16 MiB. The rest of a longer list is listed again.
    static var mostBytes: Int { 16 << 20 }

    /// The store account of the list.
    let account: String?
    private(set) var transactions: [StoreTransaction] = []

    /// None.
    init() { account = nil }

    /// Transactions of one list, oldest first. A proof that several of them share counts once.
    init(_ listed: [StoreTransaction], account: String?) {
      self.account = account
      var bytes = 0
      var last: Payload?
      for transaction in listed {
        if transaction.proof != last { bytes += transaction.proof.bytes.count }
        last = transaction.proof
        guard bytes <= Self.mostBytes || transactions.isEmpty else { return }
        transactions.append(transaction)
      }
    }

    mutating func forget(_ key: EntryKey) { transactions.removeAll { $0.key == key } }
  }
}

/// One transaction that the user restored.
struct RestoredTransaction: Sendable {
  var transaction: StoreTransaction
  /// Whether the user asked for it in this run of the app. Then another account's purchase is asked about again.
  var isAsked: Bool
}
