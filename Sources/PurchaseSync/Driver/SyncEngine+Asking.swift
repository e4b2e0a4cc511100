import AppStoreReceipts
public import PurchaseQueue

/// What a person asks for, and what support looks at.
extension SyncEngine {
  /// What was bought on this device before anybody was signed in belongs to this account: explicit, durable, and sent
  /// until the backend has taken it for everything in the device lane.
  public func claimDevicePurchases(for account: String) throws(SyncError) {
    perform(
      try step { (machine, now) throws(QueueError) in
        try machine.deviceClaimed(by: account, now: now)
      })
  }

  /// Fetches a new app receipt and takes over what it holds. **Only when the user asked for it**: the store may ask for
  /// a password.
  public func refreshReceipt() async throws(SyncError) {
    let bytes: [UInt8]?
    do {
      bytes = try await store.refreshReceipt()
    } catch {
      throw .store(reason: "the receipt could not be refreshed")
    }
    guard let bytes else { return }
    let transactions: [StoreTransaction]
    do throws(ReceiptDecodingError) {
      transactions = try StoreTransaction.all(in: AppReceipt(decoding: bytes), bytes: bytes)
    } catch {
      throw .store(reason: "the refreshed receipt is \(error)")
    }
    for transaction in transactions { try receive(transaction) }
    try wake(.userAsked)
  }

  /// Gives an entry up, undelivered: the only way out but a verdict. Who and why stays in its case file; the store is
  /// told that the transaction is done, if it still lists it.
  public func discard(_ key: EntryKey, by person: String, reason: String) throws(SyncError) {
    let file = try self.file()
    let now = configuration.now()
    try Self.storing { () throws(QueueError) in
      _ = try file.queue.discard(key, by: person, reason: reason, now: now)
    }
    listStore()
  }

  /// What happened to one transaction, redacted: the answer to "I paid and got nothing". Nil if it was never here.
  public func caseFile(for key: EntryKey) throws(SyncError) -> CaseFile? {
    let file = try self.file()
    return try Self.storing { () throws(QueueError) in try file.queue.caseFile(for: key) }
  }

  /// What happened to the transactions of one order.
  public func caseFiles(order number: String) throws(SyncError) -> [CaseFile] {
    let file = try self.file()
    return try Self.storing { () throws(QueueError) in try file.queue.caseFiles(order: number) }
  }

  /// How much is still to be done, and for a "your purchases" screen what.
  public func snapshot() throws(SyncError) -> SyncSnapshot {
    let file = try self.file()
    return try Self.storing { () throws(QueueError) in
      let duties = try file.tombstonesWithDuties()
      var purchases: [SyncSnapshot.Purchase] = []
      for entry in try file.queue.allEntries() { purchases.append(try SyncSnapshot.Purchase(entry)) }
      return SyncSnapshot(
        purchases: purchases, finishesOwed: duties.count(where: \.isFinishOwed),
        outcomes: duties.filter(\.isUnseen).map { Outcome($0) },
        claimsOwed: try file.deviceClaims().count)
    }
  }
}
