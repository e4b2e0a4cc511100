import PurchaseQueue

/// What becomes of the transactions of one list while they are taken.
struct Intake {
  /// The store account of the list.
  let account: String?
  /// Whether these are copies of an earlier list. What is known here by now is left to the next list, which is newer.
  let isHeld: Bool
  /// The transactions that were tried.
  private(set) var keys: Set<EntryKey> = []
  private(set) var taken: [EntryKey] = []
  /// Transactions for which there was no capacity. The store keeps them.
  private(set) var left: [StoreTransaction] = []
  /// Why there is no capacity for one more entry, once that is known.
  private(set) var full: SyncError?
  /// What is published once the others are committed, and why.
  private(set) var refused: [(key: EntryKey, error: SyncError)] = []

  init(account: String?, isHeld: Bool = false) { (self.account, self.isHeld) = (account, isHeld) }

  /// Whether to try to take the transaction. If the store lists a thousand transactions, one that does not fit costs a query
  /// and no write. `isKnown`: whether the queue has it.
  mutating func tries(
    _ transaction: StoreTransaction, isKnown: () throws(QueueError) -> Bool
  ) throws(QueueError) -> Bool {
    let isNew = keys.insert(transaction.key).inserted
    if isHeld {
      // Each of them was new at the time of its list.
      guard full == nil else {
        left.append(transaction)
        return false
      }
      // Another proof of one that was taken just now is tried too.
      return try isNew ? !isKnown() : taken.contains(transaction.key)
    }
    guard let full, transaction.ownToken == nil, try !isKnown() else { return true }
    wasRefused(transaction, full)
    return false
  }

  mutating func took(_ key: EntryKey) { taken.append(key) }

  /// Copies for which there is no capacity, as is known already.
  mutating func leaves(_ transactions: some Sequence<StoreTransaction>) { left += transactions }

  /// The queue refused the transaction. Another limit than that of entries may hold for ever: such a transaction waits
  /// for the next list, so that it holds up no other.
  mutating func wasRefused(_ transaction: StoreTransaction, _ error: SyncError) {
    refused.append((transaction.key, error))
    guard case .queue(.queueFull(.entries, _, _)) = error else { return }
    full = error
    left.append(transaction)
  }

  /// The refusals were published.
  mutating func publishedRefusals() { refused = [] }
}

/// What becomes of restored transactions while they are taken.
struct RestoreIntake {
  /// The first failure that is not lack of capacity.
  private(set) var failure: SyncError?
  /// What stays for the next list.
  private(set) var left: [RestoredTransaction] = []
  /// Why there is no capacity for one more entry, once that is known.
  private(set) var full: SyncError?

  /// There is no capacity, as is known already.
  mutating func leaves(_ restored: RestoredTransaction) { left.append(restored) }

  mutating func failed(_ restored: RestoredTransaction, _ error: SyncError) {
    switch error {
    case .queue(.queueFull(.entries, _, _)): full = error
    case .queue(.queueFull): break
    default: failure = failure ?? error
    }
    // An invalid one stays invalid.
    if case .queue(.invalid) = error { return }
    left.append(restored)
  }
}
