import PurchaseQueue

/// The store's list of unfinished transactions.
extension SyncEngine {
  /// The most transactions of one commit: other processes of this installation wait for it.
  private static var mostPerCommit: Int { UploadRequest.mostClaims }

  /// Takes over the unfinished transactions of the store: now, or when `ListingTurns` says.
  func listStore() {
    // In the background only for a caller: the foreground lists.
    guard decisions.presence.place != .background || listed.isWaitedFor else { return }
    guard !isShutDown else { return listed.end() }
    perform(decisions.listings.wanted(at: uptime))
  }

  private func perform(_ step: ListingTurns.Step) {
    switch step {
    case .nothing: return
    case .list: callStore()
    case .wait(let milliseconds): set(.listing, in: max(1, milliseconds)) { $0.listWaiting() }
    }
  }

  private func callStore() {
    stop(.listing)
    listed.begin()
    saw(.calls(.store))
    let (store, limit) = (ports.store, storeLimit(of: "unfinished"))
    let meter = self.meter
    run { engine in
      let interval = meter.begin(.listing)
      let listed = await limit.answer { try await store.unfinished() }
      meter.end(interval, reason: listed == nil ? "failed" : "answered")
      await engine.took(listed)
    }
  }

  private func listWaiting() {
    guard !isShutDown else { return }
    perform(decisions.listings.momentCame(at: uptime))
  }

  /// The engine is suspended or shut down: callers that wait for a listing that waits for its moment get none.
  func endListingWait() {
    guard decisions.listings.stopped() else { return }
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
    decisions.presence.callBegins()
    defer { callEnded() }
    let isWanted = decisions.listings.ended()
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
      return feed(open.generation) { (machine, now) throws(QueueError) in machine.storeNotListed(now: now) }
    }
    var intake = decisions.tray.listed(for: listed.account)
    guard take(listed.transactions, &intake) else { return }
    let keys = intake.keys
    decisions.tray.keepsRest(of: intake)
    takeRestored()
    decisions.tray.storeHoldsOnly(keys)
    guard listed.isComplete else {
      report(.store(reason: "its list of unfinished transactions did not end"))
      if !isSuspended { listAgain(unless: isWanted) }
      return feed(open.generation) { (machine, now) throws(QueueError) in machine.storeNotListed(now: now) }
    }
    decisions.listings.succeeded()
    feed(open.generation) { (machine, now) throws(QueueError) in
      try machine.storeListed(keys, account: listed.account, now: now)
    }
  }

  private func listAgain(unless isFollowed: Bool) {
    perform(decisions.listings.failed(isFollowed: isFollowed, configuration.retry))
  }

  /// The machine asks for what the store keeps: copies of its last list come first. False if the store is to be asked.
  func takeCopies() -> Bool {
    guard !decisions.listings.isRunning, open.isOpen, let copies = decisions.tray.takesCopies() else {
      return false
    }
    var intake = copies.intake
    guard take(copies.transactions, &intake) else { return true }
    decisions.tray.tookCopies(intake)
    feed(open.generation) { (machine, now) throws(QueueError) in machine.heldArrived(now: now) }
    return true
  }

  // MARK: Taking

  /// Takes transactions, many in one commit. Each lane is looked at once, after the last of them. False if the file
  /// failed: the rest of the list is asked for again, when everything is looked at again.
  private func take(_ transactions: [StoreTransaction], _ intake: inout Intake) -> Bool {
    inform { $0.holdSends() }
    defer { feed(open.generation) { (machine, now) throws(QueueError) in machine.sendHeld(now: now) } }
    var rest = transactions[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.mostPerCommit)
      rest = rest.dropFirst(part.count)
      guard takeInOneCommit(part, &intake) || takeOneByOne(part, &intake) else { return false }
      if intake.isHeld, intake.full != nil {
        intake.leaves(rest)
        break
      }
    }
    return true
  }

  /// Takes transactions in one commit. False if it failed: then none of them is stored, and no event named them.
  private func takeInOneCommit(_ part: ArraySlice<StoreTransaction>, _ intake: inout Intake) -> Bool {
    guard part.count > 1 else { return false }
    do throws(SyncError) {
      for transaction in part { try noteArrival(of: transaction) }
    } catch {
      return false  // As below.
    }
    var tried = intake
    let actions: [SyncAction]
    do throws(QueueError) {
      actions = try stepInOneCommit { (machine, file, now) throws(QueueError) -> [SyncAction] in
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
    intake.publishedRefusals()
    decisions.tray.stored(tried.taken[known...])
    perform(withWarnings(actions))
    publish(tried.refused)
    return true
  }

  /// Takes one transaction as a part of the open commit.
  private func take(
    _ transaction: StoreTransaction, of user: AppUser, _ intake: inout Intake,
    _ machine: inout SyncMachine<SyncFile>, _ file: SyncFile, _ now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let isToTry = try intake.tries(transaction) { () throws(QueueError) in
      try file.queue.isKnown(transaction.key)
    }
    guard isToTry else { return [] }
    configuration.checkpoint?(.transactionArrived)
    do throws(QueueError) {
      let actions = try file.queue.inOneCommit { () throws(QueueError) in
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
          try intake.tries(transaction) { () throws(QueueError) in try file.queue.isKnown(transaction.key) }
        }
        publish(intake.refused)
        intake.publishedRefusals()
        guard isToTry else { continue }
        try receive(transaction, storeAccount: intake.account)
        intake.took(transaction.key)
      } catch {
        switch error {
        // The app knows of this one. The others may be updates of known transactions.
        case .queue(.queueFull):
          intake.wasRefused(transaction, error)
          intake.publishedRefusals()
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

  /// Whether the transaction needs new capacity: it is not known, and no order has reserved capacity for it.
  func isOneMore(_ transaction: StoreTransaction) throws(SyncError) -> Bool {
    guard transaction.ownToken == nil else { return false }
    return try withFile { (file) throws(QueueError) in try !file.queue.isKnown(transaction.key) }
  }

  // MARK: Events

  /// Adds a warning for each entry that the vault does not hold. That is known after the commit.
  private func withWarnings(_ actions: [SyncAction]) -> [SyncAction] {
    guard let file = open.file, file.queue.hasVault else { return actions }
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
  private func publish(_ refused: [(key: EntryKey, error: SyncError)]) {
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
    feed(open.generation) { (machine, now) throws(QueueError) in machine.capacityLacked(now: now) }
  }

  /// Publishes each transaction that the store keeps for lack of capacity, once.
  func overflows(_ key: EntryKey, _ error: SyncError) {
    if decisions.tray.lacksCapacity(for: key) { emit(.queueFull(key, error)) }
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
