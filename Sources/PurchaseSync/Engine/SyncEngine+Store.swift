import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The engine's calls of the store. Each may fail or hang; none shows a prompt.
extension SyncEngine {
  /// The limit of a function of the store.
  func storeLimit(of function: String) -> TimeLimit {
    limit(configuration.storeTimeLimit, of: .store, about: function)
  }

  func limit(_ time: Duration, of callback: LateCall.Callback, about subject: String) -> TimeLimit {
    var limit = TimeLimit(milliseconds: time.wholeMilliseconds, patience: configuration.system.patience)
    limit.watch = LateCallWatch(
      calls: lateCalls, callback: callback, subject: subject, now: configuration.now)
    return limit
  }

  /// Begins calls for the finishes that wait.
  func beginFinishes() {
    while !isShutDown, let call = decisions.finishes.next() {
      configuration.checkpoint?(.finishCalling)
      saw(.calls(.store))
      let (store, limit, generation, meter) = (
        ports.store, storeLimit(of: "finish"), open.generation, self.meter
      )
      run { engine in
        let ends = await Self.finish(call, in: store, within: limit, meter)
        await engine.finishesEnded(call, ends, generation)
      }
    }
  }

  private static func finish(
    _ call: [Tombstone], in store: any StoreClient, within limit: TimeLimit, _ meter: Meter
  ) async -> [FinishEnd] {
    let ids = call.map { EntryDetails(of: $0).known?.transactionID ?? $0.key.transactionID }
    let interval = meter.begin(.finish)
    let answer = await limit.answer { try await store.finish(transactionIDs: ids) }
    meter.end(interval, reason: answer == nil ? "failed" : "answered")
    let results = answer ?? [:]
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
    guard generation == open.generation else { return }
    let failed = zip(call, ends).filter { $1 == .failed }.map(\.0.key)
    decisions.finishes.ended(call, failed: Set(failed))
    if !recordInOneCommit(call, ends) {
      for (tombstone, end) in zip(call, ends) {
        feed(generation) { (machine, now) throws(QueueError) in
          try machine.finishEnded(tombstone.key, end, now: now)
        }
      }
    }
    beginFinishes()
  }

  /// Records in one commit how the finishes of a call ended. False if it failed: then nothing of it has happened.
  private func recordInOneCommit(_ call: [Tombstone], _ ends: [FinishEnd]) -> Bool {
    guard call.count > 1 else { return false }
    do throws(QueueError) {
      let actions = try stepInOneCommit(.soon) { (machine, _, now) throws(QueueError) -> [SyncAction] in
        var actions: [SyncAction] = []
        for (tombstone, end) in zip(call, ends) {
          actions += try machine.finishEnded(tombstone.key, end, now: now)
        }
        return actions
      }
      perform(actions)
      return true
    } catch {
      // The caller records them one by one, and reports what fails then.
      return false
    }
  }

  /// Looks silently for a newer proof: the transaction as the store signs it now, if it is listed, because the chain of the
  /// earlier one may have expired; otherwise the app receipt if, decoded here, it holds the transaction.
  func readProof(for key: EntryKey) {
    saw(.calls(.store))
    let (store, limit, generation) = (ports.store, storeLimit(of: "receipt"), open.generation)
    run { engine in
      var proof = await engine.proofsFromStore()?[key]
      if proof?.kind != ProofKind.signedTransaction.rawValue {
        let read = await limit.answer { try await store.receipt() }
        if let read, Self.holds(key, read) {
          proof = Payload(kind: ProofKind.appReceipt.rawValue, bytes: read)
        } else if proof == nil {
          // What is finished is in no list of unfinished transactions. The store signs what its account owns.
          let owned = await limit.answer { try await store.currentEntitlements() }
          proof = owned?.first { $0.key == key }?.proof
        }
      }
      guard let proof else { return }
      await engine.feed(generation) { (machine, now) throws(QueueError) in
        try machine.proofFound(proof, for: key, now: now)
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
    saw(.calls(.store))
    let store = ports.store
    let listed = await storeLimit(of: "unfinished").answer { try await store.unfinished() }
    return listed.map { listed in
      Dictionary(
        listed.transactions.map { ($0.key, $0.proof) }, uniquingKeysWith: { first, _ in first })
    }
  }
}
