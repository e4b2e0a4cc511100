import PurchaseQueue

/// The store's list of unfinished transactions.
extension SyncEngine {
  /// The most transactions of one commit: other processes of this installation wait for it.
  private static var mostPerCommit: Int { UploadRequest.mostClaims }

  /// Takes over the unfinished transactions of the store. A listing that is asked for while one runs follows it: the first
  /// may have begun too early. One that fails is repeated by itself, after the pauses of the policy's backoff.
  func listStore() {
    // In the background only for a caller: the foreground lists.
    guard presence.place != .background || listed.isWaitedFor else { return }
    switch listing {
    case .idle: break
    case .failed: endListingTimer()
    case .running, .runningAndWanted:
      listing = .runningAndWanted
      return
    case .waiting: return
    }
    guard listings.takes(at: uptime) || isShutDown else {
      return listLater(.waiting, after: listings.wait(at: uptime))
    }
    listing = .running
    guard !isShutDown else { return listed.end() }
    listed.begin()
    saw(.calls(.store))
    let (store, limit) = (self.store, storeLimit(of: "unfinished"))
    let meter = self.meter
    run { engine in
      let interval = meter.begin(.listing)
      let listed = await limit.answer { try await store.unfinished() }
      meter.end(interval, reason: listed == nil ? "failed" : "answered")
      await engine.took(listed)
    }
  }

  private func listLater(_ state: Listing, after wait: Int64) {
    listing = state
    let sleep = configuration.system.sleep
    listingTimer = Task { [weak self] in
      do {
        try await sleep(max(1, wait))
      } catch {
        return  // As below.
      }
      await self?.listWaiting()
    }
  }

  private func listWaiting() {
    guard listing == .waiting || listing == .failed else { return }
    listing = .idle
    listStore()
  }

  private func endListingTimer() {
    listingTimer?.cancel()
    listingTimer = nil
  }

  /// The engine is suspended or shut down, and a listing waits for its moment. The foreground asks for one.
  func endListingWait() {
    endListingTimer()
    guard listing == .waiting || listing == .failed else { return }
    listing = .idle
    listed.begin()
    listed.end(nil)
  }

  /// Lists the store, and returns when what it lists is stored. Nil if the store did not answer.
  func list() async -> StoreListing? {
    guard !isShutDown else { return nil }
    return await withCheckedContinuation { caller in
      listed.wait(caller)
      listStore()
    }
  }

  private func took(_ listed: StoreListing?) {
    presence.callBegins()
    defer { callEnded() }
    let isWanted = if case .runningAndWanted = listing { true } else { false }
    listing = .idle
    defer {
      self.listed.end(listed)
      if isWanted { listStore() }
    }
    guard !isShutDown else { return }
    guard let listed else {
      // On the way to the background the engine itself ended the call. The foreground asks again.
      if !isSuspended {
        report(.store(reason: "the unfinished transactions could not be read"))
        listAgain(unless: isWanted)
      }
      return feed(generation) { (machine, now) throws(QueueError) in machine.storeNotListed(now: now) }
    }
    held = HeldTransactions()
    var intake = Intake(account: listed.account)
    guard take(listed.transactions, &intake) else { return }
    let keys = intake.keys
    held = HeldTransactions(intake.left, account: listed.account)
    takeRestored()
    overflow.formIntersection(keys.union(restoring.map(\.transaction.key)))
    guard listed.isComplete else {
      report(.store(reason: "its list of unfinished transactions did not end"))
      if !isSuspended { listAgain(unless: isWanted) }
      return feed(generation) { (machine, now) throws(QueueError) in machine.storeNotListed(now: now) }
    }
    failedListings = 0
    feed(generation) { (machine, now) throws(QueueError) in
      try machine.storeListed(keys, account: listed.account, now: now)
    }
  }

  private func listAgain(unless isWanted: Bool) {
    failedListings += 1
    guard !isWanted else { return }
    listLater(.failed, after: configuration.retry.ceiling(afterFailures: failedListings))
  }

  /// The machine asks for what the store keeps: what its last list had comes first. False if the store is to be asked.
  func takeHeld() -> Bool {
    if case .running = listing { return false }
    if case .runningAndWanted = listing { return false }
    guard !held.isEmpty, opened != nil else { return false }
    var intake = Intake(account: held.account, isHeld: true)
    let transactions = held.transactions
    held = HeldTransactions()
    guard take(transactions, &intake) else { return true }
    // If nothing fits, a newer list is better than these.
    if !intake.taken.isEmpty { held = HeldTransactions(intake.left, account: intake.account) }
    feed(generation) { (machine, now) throws(QueueError) in machine.heldArrived(now: now) }
    return true
  }

  // MARK: Taking

  /// Takes transactions, many in one commit. Each lane is looked at once, after the last of them. False if the file
  /// failed: the rest of the list is asked for again, when everything is looked at again.
  private func take(_ transactions: [StoreTransaction], _ intake: inout Intake) -> Bool {
    opened?.machine.holdSends()
    defer { feed(generation) { (machine, now) throws(QueueError) in machine.sendHeld(now: now) } }
    var rest = transactions[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.mostPerCommit)
      rest = rest.dropFirst(part.count)
      guard takeTogether(part, &intake) || takeOneByOne(part, &intake) else { return false }
      if intake.isHeld, intake.full != nil {
        intake.leaves(rest)
        break
      }
    }
    return true
  }

  /// Takes transactions in one commit. False if it failed: then none of them is stored, and no event named them.
  private func takeTogether(_ part: ArraySlice<StoreTransaction>, _ intake: inout Intake) -> Bool {
    guard part.count > 1 else { return false }
    do throws(SyncError) {
      for transaction in part { try noteArrival(of: transaction) }
    } catch {
      return false  // As below.
    }
    var tried = intake
    let actions: [SyncAction]
    do throws(QueueError) {
      actions = try stepTogether { (machine, file, now) throws(QueueError) -> [SyncAction] in
        var actions: [SyncAction] = []
        for transaction in part {
          actions += try self.take(transaction, of: self.user(of: transaction), &tried, &machine, file, now)
        }
        return actions
      }
    } catch {
      // The caller takes them one by one, and reports what fails then.
      return false
    }
    let known = intake.taken.count
    intake = tried
    intake.toldRefused()
    overflow.subtract(tried.taken[known...])
    perform(withWarnings(actions))
    tellRefused(tried.refused)
    return true
  }

  /// Takes one transaction as a part of the open commit.
  private func take(
    _ transaction: StoreTransaction, of user: AppUser, _ intake: inout Intake,
    _ machine: inout SyncMachine<SyncFile>, _ file: SyncFile, _ now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    guard try isToTry(transaction, &intake, file) else { return [] }
    configuration.checkpoint?(.transactionArrived)
    do throws(QueueError) {
      let actions = try file.queue.together { () throws(QueueError) in
        try machine.transactionArrived(transaction, storeAccount: intake.account, user: user, now: now)
      }
      intake.took(transaction.key)
      return actions
    } catch {
      switch error {
      // The others may be updates of known transactions, and an invalid one must not hold them up.
      case .queueFull, .invalid: intake.wasRefused(transaction, .queue(error))
      default: throw error
      }
      return []
    }
  }

  private func takeOneByOne(_ part: ArraySlice<StoreTransaction>, _ intake: inout Intake) -> Bool {
    for transaction in part {
      do throws(SyncError) {
        let isToTry = try withFile { (file) throws(QueueError) in
          try self.isToTry(transaction, &intake, file)
        }
        tellRefused(intake.refused)
        intake.toldRefused()
        guard isToTry else { continue }
        try receive(transaction, storeAccount: intake.account)
        intake.took(transaction.key)
      } catch {
        switch error {
        // The app knows of this one. The others may be updates of known transactions.
        case .queue(.queueFull):
          intake.wasRefused(transaction, error)
          intake.toldRefused()
        // An invalid transaction must not hold up the others.
        case .queue(.invalid): report(error)
        default:
          storeKeepsMore()
          report(error)
          return false
        }
      }
    }
    return true
  }

  /// Whether to try to take the transaction. If the store lists a thousand transactions, one that does not fit costs a
  /// query and no write.
  private func isToTry(
    _ transaction: StoreTransaction, _ intake: inout Intake, _ file: SyncFile
  ) throws(QueueError) -> Bool {
    let isNew = intake.tries(transaction.key)
    if intake.isHeld {
      // Each of them was new at the time of its list.
      guard intake.full == nil else {
        intake.leaves([transaction])
        return false
      }
      // Another proof of one that was taken just now is tried too.
      return try isNew ? !file.queue.isKnown(transaction.key) : intake.taken.contains(transaction.key)
    }
    guard let full = intake.full, transaction.accountToken == nil,
      try !file.queue.isKnown(transaction.key)
    else { return true }
    intake.wasRefused(transaction, full)
    return false
  }

  /// Whether the transaction needs new capacity: it is not known, and no order has reserved capacity for it.
  func isOneMore(_ transaction: StoreTransaction) throws(SyncError) -> Bool {
    guard transaction.accountToken == nil else { return false }
    return try withFile { (file) throws(QueueError) in try !file.queue.isKnown(transaction.key) }
  }

  // MARK: Events

  /// Adds a warning for each entry that the vault does not hold. That is known after the commit.
  private func withWarnings(_ actions: [SyncAction]) -> [SyncAction] {
    guard let file = opened?.file, file.queue.hasVault else { return actions }
    do throws(QueueError) {
      let unprotected = try file.queue.unprotectedKeys()
      guard !unprotected.isEmpty else { return actions }
      return actions.flatMap { action in
        guard case .emit(.queued(let key, _)) = action, unprotected.contains(key) else { return [action] }
        return [action, .emit(.unprotected(key))]
      }
    } catch {
      return actions + [.storageFailed(error)]
    }
  }

  /// Transactions of a commit that were not taken.
  private func tellRefused(_ refused: [(key: EntryKey, error: SyncError)]) {
    var isFull = false
    for (key, error) in refused {
      guard case .queue(.queueFull) = error else {
        report(error)
        continue
      }
      isFull = true
      overflows(key, error)
    }
    guard isFull else { return }
    feed(generation) { (machine, now) throws(QueueError) in machine.capacityLacked(now: now) }
  }

  /// Publishes each transaction that the store keeps for lack of capacity, once.
  func overflows(_ key: EntryKey, _ error: SyncError) {
    if overflow.insert(key).inserted { emit(.queueFull(key, error)) }
  }
}

/// The callers that wait for a listing of the store.
struct ListingCallers {
  private typealias Caller = CheckedContinuation<StoreListing?, Never>

  /// Those of the listing that is under way, which began after they asked, and those of the next one.
  private var present: [Caller] = []
  private var next: [Caller] = []

  mutating func wait(_ caller: CheckedContinuation<StoreListing?, Never>) { next.append(caller) }

  var isWaitedFor: Bool { !present.isEmpty || !next.isEmpty }

  mutating func begin() {
    present += next
    next = []
  }

  mutating func end(_ listing: StoreListing?) {
    for caller in present { caller.resume(returning: listing) }
    present = []
  }

  /// There will be no listing any more.
  mutating func end() {
    begin()
    end(nil)
  }
}
