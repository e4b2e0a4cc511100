public import PurchaseQueue

/// Functions for users who ask, and for support.
extension SyncEngine {
  /// The account adopts what was bought on this device before sign-in. Durable, and sent until the backend has taken it
  /// for everything in the device lane: all of the device's purchases that no account has adopted before.
  public func adoptDevicePurchases(for account: String) throws(SyncError) {
    let actions = try step { (machine, now) throws(QueueError) in
      try machine.adoptionRequested(by: account, now: now)
    }
    configuration.checkpoint?(.adoptionCommitted)
    perform(actions)
  }

  /// Takes back an adoption that was not sent: of an account that was deleted, or of a wrong tap. Adoptions are sent in the
  /// order in which they were asked for, so one whose account never signs in holds up later ones. False if there is none,
  /// or if it was sent since the start of the app. An earlier run may have sent it: the backend then has it.
  @discardableResult public func withdrawAdoption(for account: String) throws(SyncError) -> Bool {
    let (isWithdrawn, actions) = try step { (machine, now) throws(QueueError) in
      try machine.adoptionWithdrawn(by: account, now: now)
    }
    perform(actions)
    return isWithdrawn
  }

  /// Discards an entry without delivering it: the only end but a verdict. The person and the reason stay in its case
  /// file. The transaction is finished, if the store still lists it; in the background that is left to the foreground.
  public func discard(_ key: EntryKey, by person: String, reason: String) throws(SyncError) {
    let now = configuration.now()
    try withFile { (file) throws(QueueError) in
      _ = try file.queue.discard(key, by: person, reason: reason, now: now)
    }
    inform { $0.discarded(key) }
    saw(.discarded(key))
    listStore()
  }

  /// The history of one transaction, redacted: the answer to "I paid and got nothing". Nil if the transaction is not
  /// known, or if nothing is kept of it (ids that restart).
  public func caseFile(for key: EntryKey) throws(SyncError) -> CaseFile? {
    var found = try withFile { (file) throws(QueueError) in try file.queue.caseFile(for: key) }
    // The account that proved a purchase of the device is not for the person who asks.
    if let outcome = found?.outcome {
      found?.outcome = outcome.split(separator: "/", omittingEmptySubsequences: false).prefix(2)
        .joined(separator: "/")
    }
    return found
  }

  /// The histories of the transactions of one order.
  public func caseFiles(order number: String) throws(SyncError) -> [CaseFile] {
    try withFile { (file) throws(QueueError) in try file.queue.caseFiles(order: number) }
  }

  /// Everything that is not done yet, and what it waits for: for a "your purchases" screen.
  public func snapshot() throws(SyncError) -> SyncSnapshot {
    let now = configuration.now()
    let account = configuration.currentAccount?()
    return try withFile { (file) throws(QueueError) in
      let entries = try file.queue.allEntries()
      let duties = try file.tombstonesWithDuties()
      var snapshot = SyncSnapshot(
        purchases: entries.map { SyncSnapshot.Purchase($0) },
        pendingFinishes: duties.count(where: \.isFinishPending),
        outcomes: try file.unconfirmedOutcomes().map { $0.addressed(to: account) },
        outcomesForgotten: try file.queue.outcomesForgotten())
      snapshot.droppedEvents = events.dropped
      snapshot.lateCalls = lateCalls.rows
      guard let machine = open.pair?.machine else { return snapshot }
      for lane in try file.lanes() {
        let count = entries.count { $0.lane == lane && $0.state == .queued }
        let state = try machine.status(of: lane, reason: events.reasons[lane], now: now)
        snapshot.lanes.append(LaneStatus(lane: lane, entries: count, state: state))
      }
      for claim in try file.deviceAdoptions() {
        let needsSignIn = machine.adoption(of: claim.account)?.activity == .signInNeeded
        snapshot.deviceAdoptions.append(
          SyncSnapshot.DeviceAdoption(account: claim.account, needsSignIn: needsSignIn))
      }
      snapshot.isStoreHoldingMore = machine.isStoreHoldingMore || !decisions.tray.restoring.isEmpty
      return snapshot
    }
  }

  /// What a payment that is not settled needs of the user, or of support; nil for nothing. It is the order's transaction,
  /// or else the one with which the store has answered.
  func needs(_ payment: (order: String?, transaction: EntryKey?)) throws(SyncError) -> Sale.Wait? {
    let now = configuration.now()
    return try withFile { (file) throws(QueueError) in
      var keys = payment.transaction.map { [$0] } ?? []
      if let number = payment.order, let key = try file.journal.row(number: number)?.boundTo {
        keys.insert(key, at: 0)
      }
      for key in keys {
        guard let entry = try file.queue.entry(key) else { continue }
        guard entry.state == .queued else { return .support }
        let lane = try open.pair?.machine.status(of: entry.lane, reason: nil, now: now)
        return lane == .signInNeeded ? .signIn : nil
      }
      return nil
    }
  }
}
