import PurchaseQueue
import PurchaseSQLite

/// What comes from the store, and what the app has confirmed.
extension SyncEngine {
  /// Takes a transaction from the store. When this returns, it is durable; if it throws, it is not, and the store
  /// will deliver it again.
  public func receive(_ transaction: StoreTransaction) throws(SyncError) {
    try receive(transaction, storeAccount: nil)
  }

  func receive(
    _ transaction: StoreTransaction, storeAccount: String?, isRestored: Bool = false,
    paying order: String? = nil, user: AppUser? = nil
  ) throws(SyncError) {
    configuration.checkpoint?(.transactionArrived)
    decisions.tokens.personActs()
    decisions.presence.callBegins()
    defer { callEnded() }
    decisions.tray.arrives(transaction.key)
    var user = user ?? self.user(of: transaction)
    user.paidOrder = order
    let arrival = user
    let interval = meter.begin(.receive)
    do throws(SyncError) {
      try noteArrival(of: transaction)
      perform(
        try step { (machine, now) throws(QueueError) in
          try machine.transactionArrived(
            transaction, storeAccount: storeAccount, user: arrival, isRestored: isRestored, now: now)
        })
      meter.end(interval, reason: "stored")
    } catch {
      meter.end(interval, reason: "refused")
      switch error {
      case .queue(.queueFull):
        overflows(transaction.key, error)
        feed(open.generation) { (machine, now) throws(QueueError) in machine.capacityLacked(now: now) }
      case .queue(.invalid): break
      // The file failed: the store has it still.
      default: storeKeepsMore()
      }
      throw error
    }
    decisions.tray.stored(CollectionOfOne(transaction.key))
  }

  /// The person who uses the app now, and for whom unclaimed purchases are.
  var user: AppUser {
    var user = AppUser(account: configuration.currentAccount?(), policy: configuration.unclaimed)
    user.isAskedAboutTokens = configuration.accountForToken != nil
    return user
  }

  /// The app has fulfilled, or shown, this outcome: it is not reported again. If it has changed since, such as by a
  /// refund, the later one is still reported.
  ///
  /// Survives a kill at once, and a power cut after a second without another call or at the next durable commit. A power cut
  /// before that reports the outcome once more: fulfil by its key.
  public func confirm(_ outcome: Outcome) throws(SyncError) {
    var isAnswered = true
    // If it cannot be stored, the outcome is published again. One that waits for another account is not: an app that confirms
    // it at once would get it at once, for ever.
    defer { if isAnswered { events.forget(outcome) } }
    if outcome.isAlreadyOwned, let number = outcome.orderNumber {
      return try withFile { (file) throws(QueueError) in try file.confirmOwned(number) }
    }
    let actions = try step { (machine, now) throws(QueueError) in
      try machine.outcomeConfirmed(outcome, now: now)
    }
    isAnswered = actions != nil
    perform(actions ?? [])
    configuration.checkpoint?(.outcomeSeen)
  }

  /// As `confirm(_:)` for several outcomes, in one commit: after many purchases that is much faster. If it throws, none
  /// of them is confirmed.
  public func confirm(all outcomes: [Outcome]) throws(SyncError) {
    guard !outcomes.isEmpty else { return }
    // If they cannot be stored, they are published again.
    var waiting: Set<Outcome.Name> = []
    defer { for outcome in outcomes where !waiting.contains(outcome.name) { events.forget(outcome) } }
    decisions.presence.callBegins()
    defer { callEnded() }
    _ = try file()
    do throws(QueueError) {
      let actions = try stepInOneCommit(.soon) { (machine, file, now) throws(QueueError) -> [SyncAction] in
        var actions: [SyncAction] = []
        for outcome in outcomes {
          if outcome.isAlreadyOwned, let number = outcome.orderNumber {
            try file.confirmOwned(number)
          } else if let confirmed = try machine.outcomeConfirmed(outcome, now: now) {
            actions += confirmed
          } else {
            waiting.insert(outcome.name)
          }
        }
        return actions
      }
      perform(actions)
    } catch {
      throw failed(error)
    }
    for _ in outcomes { configuration.checkpoint?(.outcomeSeen) }
  }
}
