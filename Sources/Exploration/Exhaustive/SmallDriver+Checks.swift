import PurchaseQueue
import PurchaseSync

/// What a device may do, checked at each commit, request and finish.
extension SmallDriver {
  func broken(_ invariant: MachineInvariant, _ what: String) {
    if fault == nil { fault = SmallFault(invariant, what) }
  }

  private func entry(_ key: EntryKey, _ disk: any BranchingStorage) -> Entry? {
    disk.allEntries.first { $0.key == key }
  }

  func tombstone(_ sale: Int) -> Tombstone? {
    storage.onDisk.allTombstones.first { $0.key == Names.key(sale) }
  }

  func checkSend(_ entry: Entry, _ lane: Int) {
    let stored = self.entry(entry.key, storage.onDisk)
    if stored?.state != .queued { broken(.sendAfterEnqueue, "\(entry.key) is sent, and is not in the queue") }
    if stored.map({ $0.attempts <= entry.attempts }) ?? false {
      broken(.attempts, "attempt \(entry.attempts + 1) of \(entry.key) is not durable")
    }
    if Names.lane(entry.lane) != lane { broken(.ownName, "\(entry.key) is sent in another lane") }
  }

  /// A commit removes nothing but what was settled by a verdict that was received, and keeps what an entry has.
  func checkCommit() {
    let disk = storage.onDisk
    let entries = disk.allEntries
    if entries.count > SmallWorld.limits.entries { broken(.limit, "\(entries.count) entries are queued") }
    for entry in entries { checkWatch(entry) }
    for old in before.allEntries {
      guard let new = entries.first(where: { $0.key == old.key }) else {
        checkLeft(old, disk)
        continue
      }
      if new.place != old.place || new.lane != old.lane { broken(.collapse, "\(old.key) has moved") }
      if new.attempts < old.attempts { broken(.attempts, "\(old.key) lost attempts") }
      if let order = old.orderNumber, new.orderNumber != order {
        broken(.binding, "\(old.key) lost its order")
      }
    }
    let orders = entries.compactMap(\.orderNumber)
    if Set(orders).count < orders.count { broken(.binding, "an order has two transactions") }
    for old in before.allTombstones where !disk.allTombstones.contains(where: { $0.key == old.key }) {
      broken(.prefix, "the tombstone of \(old.key) is gone")
    }
  }

  /// The text of a state leaves out what counts only for such entries.
  private func checkWatch(_ entry: Entry) {
    if Names.transaction(entry.key) == world.seat, entry.lane != .device || entry.orderNumber != nil {
      broken(.seatIsMembers, "\(entry.key) is a seat, and is queued for an account or an order")
    }
    if entry.state != .queued { outside = outside ?? "an entry is in quarantine" }
    if entry.readyAt.milliseconds != 0 { outside = outside ?? "an entry is postponed" }
    do throws(QueueError) {
      let failures = try storage.content.watch(of: entry.key).failedRounds
      if failures >= SmallWorld.policy.poisonRounds {
        outside = outside ?? "an entry failed \(failures) times"
      }
    } catch {
      outside = outside ?? "\(error)"
    }
  }

  private func checkLeft(_ old: Entry, _ disk: any BranchingStorage) {
    let sale = Names.transaction(old.key)
    let said = heard?.verdicts.first { $0.transactionID == Names.id(sale) }?.verdict
    let tombstone = disk.allTombstones.first { $0.key == old.key }
    if let said, said.isSettled, tombstone?.verdict == said { return }
    broken(.leavesSettled, "\(old.key) left the queue, and the backend did not say so")
  }

  /// Outcomes that the app has confirmed, as bits.
  static func seen(on disk: any BranchingStorage) -> Int {
    disk.allTombstones.reduce(0) { $1.isUnconfirmed ? $0 : $0 | 1 << Names.transaction($1.key) }
  }

  /// The outcome of what is settled is kept until the app has confirmed it.
  var silence: SmallFault? {
    let silent = Self.seen(on: storage.onDisk) & ~confirmed
    guard silent != 0 else { return nil }
    return SmallFault(
      .finished,
      "the outcome of \(Names.id(silent.trailingZeroBitCount)) is kept no longer, and the app has not confirmed it"
    )
  }
}
