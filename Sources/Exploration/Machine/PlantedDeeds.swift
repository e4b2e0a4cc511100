import AppStoreReceipts
import PurchaseQueue
import PurchaseSync

/// What a planted bug did in a run: each event in which its code did otherwise than the right code does, and the
/// purchase that it was about.
package final class PlantedDeeds {
  package struct Deed: Hashable, Sendable {
    package var event: Int
    /// -1 where the code is about no single purchase.
    package var sale: Int
  }

  package private(set) var all: [Deed] = []
  /// The event that happens now.
  var event = 0
  /// Whether the right code runs now.
  var isMended = false

  func note(_ sale: Int = -1) {
    guard !isMended, all.last != Deed(event: event, sale: sale) else { return }
    all.append(Deed(event: event, sale: sale))
  }

  /// Notes a deed whose result is this value.
  func done<Value>(_ value: Value, _ sale: Int = -1) -> Value {
    note(sale)
    return value
  }

  func note(_ key: EntryKey) { note(Names.transaction(key)) }
}

extension MachineSimulation {
  /// A planted bug changed verdicts: the purchases whose verdict is another one now.
  func note(_ verdicts: [ClaimVerdict], insteadOf truth: [ClaimVerdict]) {
    for (verdict, right) in zip(verdicts, truth)
    where verdict.transactionID != right.transactionID || verdict.verdict != right.verdict {
      deeds.note(Names.order(right.transactionID))
    }
  }
}

extension MachineSimulation {
  /// A planted bug: an entry of a purchase that was not paid.
  func enqueueGhost(_ process: Process) {
    guard process.isAlive else { return }
    deeds.note()
    var ghost = StoreTransaction(
      environment: .production, transactionID: "99999", originalTransactionID: "99999", productID: "gems",
      quantity: 1, purchasedAt: Timestamp(milliseconds: storeNow), accountToken: nil,
      proof: LeanStore.receipt(0))
    ghost.isVerified = false
    _ = step(process) { (machine, now) throws(QueueError) in
      try machine.transactionArrived(ghost, storeAccount: nil, now: now)
    }
  }
}
