import PurchaseQueue

/// What becomes of the transactions of one list while they are taken.
struct Intake {
  /// The store account of the list.
  let account: String?
  /// Whether the list is an earlier one. What is known here by now is left to the next list, which is newer.
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

  /// True if the transaction was not tried before.
  mutating func tries(_ key: EntryKey) -> Bool { keys.insert(key).inserted }

  mutating func took(_ key: EntryKey) { taken.append(key) }

  /// There is no capacity, as is known already.
  mutating func leaves(_ transactions: some Sequence<StoreTransaction>) { left += transactions }

  /// The queue refused the transaction. Another limit than that of entries may hold for ever: such a transaction waits
  /// for the next list, so that it holds up no other.
  mutating func wasRefused(_ transaction: StoreTransaction, _ error: SyncError) {
    refused.append((transaction.key, error))
    guard case .queue(.queueFull(.entries, _, _)) = error else { return }
    full = error
    left.append(transaction)
  }

  /// The event was published.
  mutating func toldRefused() { refused = [] }
}
