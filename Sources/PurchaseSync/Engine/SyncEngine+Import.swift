import Foundation
import PurchaseQueue

/// Taking over the list of an earlier version of the app.
extension SyncEngine {
  /// Puts the purchases of an old list into the queue's file. Call it **before the engine or the shop is made**: the
  /// store's own listing does not know whose a purchase without an account token is, and the list does.
  ///
  /// What is reported as `taken` is durable when this returns, in the file and, if there is a vault, in the vault.
  /// Remove it from the old list then, and not before. After a kill in between, import the same list again: a transaction that
  /// the queue holds or has delivered is recognised by its id and is not taken twice.
  ///
  /// Waits for the disk on the caller's thread: one commit for each transaction, some milliseconds. Sends nothing.
  ///
  /// Throws if the file fails as a whole. Then remove nothing, and call it again at the next launch.
  public static func importPurchases(
    _ old: [EarlierPurchase], into configuration: SyncConfiguration
  ) throws(SyncError) -> ImportReport {
    var report = ImportReport()
    guard !old.isEmpty else { return report }
    try configuration.makeFolder()
    var setup = configuration.queueSetup
    setup.changes = Meter(configuration).changes
    let session = QueueSession(setup, now: configuration.now)
    defer { session.close() }
    do throws(QueueError) {
      let system = configuration.system
      let file = try SyncFile(
        queue: session.open(), newIdentity: { DeviceIdentity(from: system.uuid) })
      report.salvage = file.queue.salvage
      for item in old {
        if let kept = try file.take(item, limits: configuration.limits, now: configuration.now()) {
          report.kept.append(ImportReport.Kept(id: item.id, reason: kept.reason, detail: kept.detail))
        } else {
          report.taken.append(item.id)
        }
      }
    } catch {
      throw .queue(error)
    }
    return report
  }
}

extension SyncFile {
  /// Queues the transactions of an item. Returns nil if all of them are durable, and otherwise why the item has to stay
  /// where it is. Throws if the file fails.
  fileprivate func take(
    _ item: EarlierPurchase, limits: QueueLimits, now: Timestamp
  ) throws(QueueError) -> EarlierPurchase.Refusal? {
    let transactions: [StoreTransaction]
    do throws(EarlierPurchase.Refusal) {
      transactions = try item.transactions()
    } catch {
      return error
    }
    for transaction in transactions {
      let bytes = transaction.proof.bytes.count
      // The queue would store its name only, and read it from the store again: which may not have it any more.
      guard bytes <= limits.payloadBytes else {
        return .init(reason: .tooLong, detail: "\(bytes) bytes; \(limits.payloadBytes) are allowed")
      }
      do throws(QueueError) {
        let known = try knownTransaction(transaction.key)
        let found = try OrderMatcher.match(transaction, from: self)
        if let known, found.isDenied(by: item, known) {
          return .init(reason: .ownerDiffers, detail: "\(transaction.key) is known here as another owner's")
        }
        let match = found.imported(as: item, known: known)
        _ = try enqueue(transaction, match, storeAccount: nil, now: now)
      } catch {
        switch error {
        // That limit is the same tomorrow.
        case .queueFull(.textBytes, _, _): return .init(reason: .refused, detail: error.description)
        case .queueFull: return .init(reason: .queueFull, detail: error.description)
        case .invalid: return .init(reason: .refused, detail: error.description)
        default: throw error
        }
      }
      // The old list may be one that survives an uninstall.
      if queue.hasVault, let entry = try queue.entry(transaction.key), queue.lacksMirror(entry) {
        return .init(reason: .unprotected, detail: "the vault does not hold \(transaction.key)")
      }
    }
    return nil
  }
}

extension OrderMatch {
  /// Whether the list names another owner than this file does, and nothing proves whose it is. The store's own listing came
  /// first, and did not know.
  func isDenied(by item: EarlierPurchase, _ known: KnownTransaction) -> Bool {
    guard orderNumber == nil, !evidence.contains(.ownerByToken),
      let named = item.account.map({ Lane.account($0) })
    else { return false }
    return known.lane != named && !(known.lane == .device && item.orderNumber != nil)
  }

  /// Whether the transaction itself says whose it is.
  private var isProven: Bool { evidence.contains(.ownerByToken) || evidence.contains(.ownerByOriginal) }

  /// The match of a transaction that the app's old list has, too.
  ///
  /// What the transaction itself proves comes first: the order and the lane that it has in this file already, its
  /// account token, and the owner of its original transaction. Then the list counts, before the times of orders.
  func imported(as item: EarlierPurchase, known: KnownTransaction?) -> OrderMatch {
    guard orderNumber == nil, !isProven, item.account != nil || item.orderNumber != nil else { return self }
    let named = item.account.map { Lane.account($0) }
    var match = self
    if let number = item.orderNumber { match.kind = .bound(orderNumber: number) }
    if let known {
      // An entry never changes its lane. An order is filled in, unless the purchase is another account's.
      let isFree = known.lane == .device || named == nil || known.lane == named
      guard isFree, item.orderNumber != nil else { return self }
      match.lane = known.lane
    } else {
      if item.orderNumber == nil { match.kind = .none }
      match.lane = named ?? .device
    }
    match.evidence = [.imported]
    return match
  }
}

extension SyncConfiguration {
  /// How the engine opens its file.
  var queueSetup: QueueSetup {
    QueueSetup(
      path: path, limits: limits, vault: vault, schemas: JournalSchema.schemas, checkpoint: checkpoint,
      diagnostics: diagnostics)
  }
}
