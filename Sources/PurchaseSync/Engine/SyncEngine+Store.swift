import AppStoreReceipts
import Foundation
import PurchaseQueue

/// The engine's calls of the store. Each may fail or hang; none shows a prompt.
extension SyncEngine {
  var storeLimit: TimeLimit {
    TimeLimit(
      milliseconds: configuration.storeTimeLimit.wholeMilliseconds, patience: configuration.system.patience)
  }

  /// Takes over the unfinished transactions of the store. A listing that fails is repeated at the app's next
  /// `wake(_:)`, or at the next start. A listing
  /// that is asked for while one runs follows it: the first may have begun too early.
  func listStore() {
    switch listing {
    case .idle: listing = .running
    case .running, .runningAndWanted:
      listing = .runningAndWanted
      return
    }
    let (store, limit) = (self.store, storeLimit)
    run { engine in
      let listed = await limit.answer { try await store.unfinished() }
      await engine.took(listed)
    }
  }

  private func took(_ listed: StoreListing?) {
    let isWanted = if case .runningAndWanted = listing { true } else { false }
    listing = .idle
    defer { if isWanted { listStore() } }
    guard !isShutDown else { return }
    guard let listed else {
      // On the way to the background the engine itself ended the call. The foreground asks again.
      if !isSuspended { report(.store(reason: "the unfinished transactions could not be read")) }
      return feed(generation) { (machine, now) throws(QueueError) in machine.storeNotListed(now: now) }
    }
    var keys: Set<EntryKey> = []
    // Why there is no capacity for one more entry, once that is known.
    var full: SyncError?
    for transaction in listed.transactions {
      keys.insert(transaction.key)
      do throws(SyncError) {
        if let full, try isOneMore(transaction) {
          overflows(transaction.key, full)
          continue
        }
        try receive(transaction, storeAccount: listed.account)
      } catch {
        switch error {
        // The app was told of this one. The others may be updates of known transactions.
        case .queue(.queueFull(.entries, _, _)): full = error
        case .queue(.queueFull): continue
        // An invalid transaction must not hold up the others.
        case .queue(.invalid): report(error)
        // The rest of the list is asked for again, when everything is looked at again.
        default:
          storeKeepsMore()
          return report(error)
        }
      }
    }
    takeRestored()
    overflow.formIntersection(keys.union(restoring.map(\.transaction.key)))
    feed(generation) { (machine, now) throws(QueueError) in
      try machine.storeListed(keys, account: listed.account, now: now)
    }
  }

  /// Whether the transaction needs new capacity: it is not known, and no order has reserved capacity for it. If the
  /// store lists a thousand transactions, one that does not fit costs a query and no write.
  func isOneMore(_ transaction: StoreTransaction) throws(SyncError) -> Bool {
    guard transaction.accountToken == nil else { return false }
    return try withFile { (file) throws(QueueError) in
      guard try file.queue.entry(transaction.key) == nil else { return false }
      return try file.queue.tombstone(transaction.key) == nil
    }
  }

  /// Tells the app once of each transaction that the store keeps for lack of capacity.
  func overflows(_ key: EntryKey, _ error: SyncError) {
    if overflow.insert(key).inserted { emit(.queueFull(key, error)) }
  }

  /// Begins calls for the finishes that wait.
  func beginFinishes() {
    while !isShutDown, let call = finishCalls.next() {
      configuration.checkpoint?(.finishCalling)
      let (store, limit, generation) = (self.store, storeLimit, self.generation)
      run { engine in
        let ends = await Self.finish(call, in: store, within: limit)
        await engine.finishesEnded(call, ends, generation)
      }
    }
  }

  private static func finish(
    _ call: [Tombstone], in store: any StoreClient, within limit: TimeLimit
  ) async -> [FinishEnd] {
    let ids = call.map { EntryDetails(of: $0).known?.transactionID ?? $0.key.transactionID }
    let results = await limit.answer { try await store.finish(transactionIDs: ids) } ?? [:]
    return ids.map { id in
      switch results[id] {
      case .finished: .finished
      case .notListed: .notListed
      case nil: .failed
      }
    }
  }

  private func finishesEnded(_ call: [Tombstone], _ ends: [FinishEnd], _ generation: Int) {
    configuration.checkpoint?(.finishCalled)
    guard generation == self.generation else { return }
    let failed = zip(call, ends).filter { $1 == .failed }.map(\.0.key)
    finishCalls.ended(call, failed: Set(failed))
    for (tombstone, end) in zip(call, ends) {
      feed(generation) { (machine, now) throws(QueueError) in
        try machine.finishEnded(tombstone.key, end, now: now)
      }
    }
    beginFinishes()
  }

  /// Reads the app receipt silently, and takes it only if, decoded here, it holds the transaction.
  func readReceipt(for key: EntryKey) {
    let (store, limit, generation) = (self.store, storeLimit, self.generation)
    run { engine in
      let read = await limit.answer { try await store.receipt() }
      guard let bytes = read else { return }
      guard Self.holds(key, bytes) else { return }
      await engine.feed(generation) { (machine, now) throws(QueueError) in
        try machine.proofFound(
          Payload(kind: ProofKind.appReceipt.rawValue, bytes: bytes), for: key, now: now)
      }
    }
  }

  private static func holds(_ key: EntryKey, _ bytes: [UInt8]) -> Bool {
    do throws(ReceiptDecodingError) {
      let held = try StoreTransaction.all(in: AppReceipt(decoding: bytes), bytes: bytes)
      return held.contains { $0.key == key }
    } catch {
      return false
    }
  }

  /// The proofs of listed transactions, for entries that were queued without their bytes. Nil if the store does not
  /// answer.
  func proofsFromStore() async -> [EntryKey: Payload]? {
    let store = self.store
    let listed = await storeLimit.answer { try await store.unfinished() }
    return listed.map { listed in
      Dictionary(
        listed.transactions.map { ($0.key, $0.proof) }, uniquingKeysWith: { first, _ in first })
    }
  }
}
