import AppStoreReceipts
import PurchaseQueue

/// One transaction of a receipt that the user restored.
struct RestoredTransaction: Sendable {
  var transaction: StoreTransaction
  /// Whether the user asked for it in this run of the app. Then another account's purchase is asked about again.
  var isAsked: Bool
}

/// Restoring purchases.
extension SyncEngine {
  /// Fetches a new app receipt and takes over its transactions. **Only when the user asked for it**: the store may ask for
  /// a password, for which there are ten times the store's time limit.
  ///
  /// Transactions for which there is no capacity are taken over later, as soon as there is some, also after a restart:
  /// until then ``SyncSnapshot/isStoreHoldingMore`` is true. Throws if there is no receipt, or if the file fails.
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
    do throws(ReceiptDecodingError) {
      restoring = try Self.restored(from: bytes, isAsked: true)
    } catch {
      throw .store(reason: "the refreshed receipt is \(error)")
    }
    let failure = takeRestored()
    try wake(.userAsked)
    if let failure { throw failure }
  }

  private static func restored(
    from bytes: [UInt8], isAsked: Bool
  ) throws(ReceiptDecodingError) -> [RestoredTransaction] {
    try StoreTransaction.all(in: AppReceipt(decoding: bytes), bytes: bytes).map {
      RestoredTransaction(transaction: $0, isAsked: isAsked)
    }
  }

  /// Takes what there is capacity for; the rest stays for the next listing. Returns the first failure that is not lack of
  /// capacity.
  @discardableResult
  func takeRestored() -> SyncError? {
    guard !restoring.isEmpty else { return nil }
    var left: [RestoredTransaction] = []
    var failure: SyncError?
    // Why there is no capacity for one more entry, once that is known.
    var full: SyncError?
    for restored in restoring {
      let transaction = restored.transaction
      do throws(SyncError) {
        if let full, try isOneMore(transaction) {
          overflows(transaction.key, full)
          left.append(restored)
          continue
        }
        try receive(transaction, storeAccount: nil, isRestored: restored.isAsked)
      } catch {
        switch error {
        case .queue(.queueFull(.entries, _, _)): full = error
        case .queue(.queueFull): break
        case .queue(.invalid):
          failure = failure ?? error
          continue
        default: failure = failure ?? error
        }
        left.append(restored)
      }
    }
    restoring = left
    note(isRestoring: !left.isEmpty)
    return failure
  }

  private static var fact: String { "restoring" }

  /// Keeps across a restart that a restored receipt is not taken over completely.
  private func note(isRestoring: Bool) {
    let text = isRestoring ? "yes" : "no"
    do throws(SyncError) {
      try withFile { (file) throws(QueueError) in
        let known = try file.queue.fact(Self.fact) ?? "no"
        if known != text { try file.queue.setFact(Self.fact, text) }
      }
    } catch {
      report(error)
    }
  }

  /// A restart ended the takeover of a restored receipt: reads the receipt that is on the device, silently.
  func continueRestoring() {
    do throws(SyncError) {
      guard try withFile({ (file) throws(QueueError) in try file.queue.fact(Self.fact) == "yes" }) else {
        return
      }
    } catch {
      return report(error)
    }
    let (store, limit) = (self.store, storeLimit)
    run { engine in
      let read = await limit.answer { try await store.receipt() }
      await engine.foundAgain(read)
    }
  }

  private func foundAgain(_ bytes: [UInt8]?) {
    guard !isShutDown, restoring.isEmpty, let bytes else { return }
    do throws(ReceiptDecodingError) {
      restoring = try Self.restored(from: bytes, isAsked: false)
    } catch {
      return report(.store(reason: "the receipt is \(error)"))
    }
    if let failure = takeRestored() { report(failure) }
  }
}
