import PurchaseQueue

/// The oldest transactions of the store's last list for which the queue had no capacity. They wait here for capacity,
/// so that the store lists a thousand transactions once, and not again for every 64 of them.
///
/// They are copies. The store keeps every one of them unfinished, and lists them again after a restart. A transaction
/// that arrives by itself in between is newer than its copy, which is forgotten. When the last copy was taken, the
/// store is asked again: its list then has what is missing here.
struct HeldTransactions: Sendable {
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

  var isEmpty: Bool { transactions.isEmpty }

  /// The transaction arrived by itself.
  mutating func forget(_ key: EntryKey) { transactions.removeAll { $0.key == key } }
}
