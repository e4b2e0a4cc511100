import AppStoreReceipts
public import PurchaseQueue

/// Functions for users who ask, and for support.
extension SyncEngine {
  /// The account adopts what was bought on this device before sign-in. Durable, and sent until the backend has taken it
  /// for everything in the device lane.
  public func adoptDevicePurchases(for account: String) throws(SyncError) {
    let actions = try step { (machine, now) throws(QueueError) in
      try machine.adoptionRequested(by: account, now: now)
    }
    configuration.checkpoint?(.adoptionCommitted)
    perform(actions)
  }

  /// Fetches a new app receipt and takes over its transactions. **Only when the user asked for it**: the store may ask for
  /// a password, for which there are ten times the store's time limit.
  ///
  /// Throws if there is none, or if a transaction of it cannot be stored; the others are.
  public func refreshReceipt() async throws(SyncError) {
    let store = self.store
    let storeLimit = configuration.storeTimeLimit.wholeMilliseconds
    let (limit, isTooLong) = storeLimit.multipliedReportingOverflow(by: 10)
    let patience = TimeLimit(
      milliseconds: isTooLong ? .max : limit, patience: configuration.system.patience)
    let answer = try await call { _ in
      .success(
        await patience.answer { () async throws -> [UInt8]?? in .some(try await store.refreshReceipt()) })
    }
    guard let answer else { throw .store(reason: "the receipt could not be refreshed") }
    guard let bytes = answer else { return }
    let transactions: [StoreTransaction]
    do throws(ReceiptDecodingError) {
      transactions = try StoreTransaction.all(in: AppReceipt(decoding: bytes), bytes: bytes)
    } catch {
      throw .store(reason: "the refreshed receipt is \(error)")
    }
    var failure: SyncError?
    for transaction in transactions {
      do throws(SyncError) { try receive(transaction) } catch { failure = failure ?? error }
    }
    try wake(.userAsked)
    if let failure { throw failure }
  }

  /// Discards an entry without delivering it: the only end but a verdict. The person and the reason stay in its case
  /// file. The store is told that the transaction is done, if it still lists it.
  public func discard(_ key: EntryKey, by person: String, reason: String) throws(SyncError) {
    let now = configuration.now()
    try withFile { (file) throws(QueueError) in
      _ = try file.queue.discard(key, by: person, reason: reason, now: now)
    }
    opened?.machine.discarded(key)
    listStore()
  }

  /// The history of one transaction, redacted: the answer to "I paid and got nothing". Nil if the transaction is not
  /// known, or if nothing is kept of it (ids that restart).
  public func caseFile(for key: EntryKey) throws(SyncError) -> CaseFile? {
    try withFile { (file) throws(QueueError) in try file.queue.caseFile(for: key) }
  }

  /// The histories of the transactions of one order.
  public func caseFiles(order number: String) throws(SyncError) -> [CaseFile] {
    try withFile { (file) throws(QueueError) in try file.queue.caseFiles(order: number) }
  }

  /// Everything that is not done yet, and what it waits for: for a "your purchases" screen.
  public func snapshot() throws(SyncError) -> SyncSnapshot {
    let now = configuration.now()
    return try withFile { (file) throws(QueueError) in
      let entries = try file.queue.allEntries()
      let duties = try file.tombstonesWithDuties()
      var snapshot = SyncSnapshot(
        purchases: entries.map { SyncSnapshot.Purchase($0) },
        finishesOwed: duties.count(where: \.isFinishOwed),
        outcomes: duties.filter(\.isUnseen).map { Outcome($0) })
      snapshot.droppedEvents = events.dropped
      guard let machine = opened?.machine else { return snapshot }
      for lane in try file.lanes() {
        let count = entries.count { $0.lane == lane && $0.state == .queued }
        let state = try machine.status(of: lane, reason: waits[lane], now: now)
        snapshot.lanes.append(LaneStatus(lane: lane, entries: count, state: state))
      }
      for claim in try file.deviceAdoptions() {
        let needsSignIn = machine.adoption(of: claim.account)?.activity == .signInNeeded
        snapshot.deviceAdoptions.append(
          SyncSnapshot.DeviceAdoption(account: claim.account, needsSignIn: needsSignIn))
      }
      snapshot.isStoreHoldingMore = machine.isStoreHoldingMore
      return snapshot
    }
  }
}
