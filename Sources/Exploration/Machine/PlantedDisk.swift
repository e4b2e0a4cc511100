import Foundation
import PurchaseQueue
import PurchaseSync

extension MachineBug {
  /// The disk with the bug in its storage; nil if the bug is elsewhere.
  func wrap(_ disk: any ExplorationDisk, entries: Int, _ deeds: PlantedDeeds) -> (any ExplorationDisk)? {
    switch self {
    case .evictsOldest, .enqueueNotDurable, .attemptNotStored, .attemptsResetAtLaunch,
      .acknowledgeInTwoCommits,
      .pendingFinishForgotten, .unconfirmedForgotten, .newestFirst, .matchByProduct, .dedupByProduct,
      .redeliveryGoesLast, .budgetNotStored, .postponeNotStored, .quarantineDeletes, .clampForgotten,
      .releasedNeverAgain, .adoptionNotStored, .bindsWhatItIsTold, .retryStateReadOnce, .newerProofForgotten,
      .unconfirmedBlock, .reservationsBlock, .ownerNotStored, .limitIgnored, .refundKnownByDate,
      .arrivalSoon, .verdictSoon, .grantedStaysUnknown:
      PlantedDisk(disk, self, entries: entries, deeds)
    default: nil
    }
  }
}

/// A disk whose storage has a planted bug, and the effects of the bug.
final class PlantedDisk: ExplorationDisk {
  private let inner: any ExplorationDisk
  private let planted: MachineBug
  let deeds: PlantedDeeds
  /// An entry that was not written: the next launch does not find it.
  var unwritten: EntryKey?
  /// What the next commit is about, if it is promised soon by a planted bug.
  private var onlySoon: [EntryKey] = []
  /// Tombstones that wait for the next commit.
  var unburied: [EntryKey] = []
  private(set) var hidden: Set<EntryKey> = []
  /// The token of the newest order of each product.
  private(set) var newestTokens: [String: UUID] = [:]
  /// The tokens of the orders without a payment.
  var unpaid: Set<UUID> = []

  /// Nil once it is mended.
  var bug: MachineBug? { deeds.isMended ? nil : planted }

  var ignoresLimit: Bool { planted == .limitIgnored }

  /// The most entries, for the bugs of capacity.
  let entries: Int

  init(_ inner: any ExplorationDisk, _ bug: MachineBug, entries: Int, _ deeds: PlantedDeeds) {
    self.inner = inner
    planted = bug
    self.deeds = deeds
    self.entries = entries
  }

  var hasVault: Bool { inner.hasVault }
  func setVault(fails: Bool) { inner.setVault(fails: fails) }
  func takeImage() throws(QueueError) { try inner.takeImage() }
  func restoreImage() throws(QueueError) -> Bool { try inner.restoreImage() }
  func remove() { inner.remove() }
  func kill(_ close: () -> Void) { inner.kill(close) }
  func beginSoonCommit() { inner.beginSoonCommit() }
  func dropSoonCommit() { inner.dropSoonCommit() }

  func allIsDurable() {
    // The commit of a planted bug, which only seems durable.
    if onlySoon.isEmpty { inner.allIsDurable() } else { onlySoon.removeFirst() }
  }

  func cutPower(keeping kept: Int) -> Bool {
    onlySoon = []
    return inner.cutPower(keeping: bug == .arrivalSoon || bug == .verdictSoon ? 0 : kept)
  }

  /// The next commit is promised soon by a planted bug; the caller takes it for durable.
  func promiseSoon(_ key: EntryKey) {
    deeds.note(key)
    inner.beginSoonCommit()
    onlySoon = [key]
  }

  func wipe() throws(QueueError) {
    (unwritten, unburied, hidden, unpaid) = (nil, [], [], [])
    try inner.wipe()
  }

  func open(now: Timestamp) throws(QueueError) -> any SyncStorage {
    let base = try inner.open(now: now)
    if let key = unwritten, try base.entry(key) != nil {
      _ = try base.acknowledge([SettledClaim(key: key, verdict: .lapsed)], now: now)
    }
    hidden.formUnion(unburied)
    (unwritten, unburied) = (nil, [])
    if bug == .postponeNotStored {
      for entry in try inner.entries(base) where entry.state == .queued && entry.readyAt.milliseconds != 0 {
        deeds.note(entry.key)
        let over = Wait(.backoff, began: Timestamp(milliseconds: 1), milliseconds: 0)
        try base.postpone(entry.key, over, reason: "", now: now)
      }
    }
    return PlantedStorage(base, self)
  }

  func add(_ order: OrderDocument, account: String, to storage: any SyncStorage) throws(QueueError) {
    newestTokens[order.productID] = order.accountToken
    unpaid.insert(order.accountToken)
    try inner.add(order, account: account, to: (storage as? PlantedStorage)?.base ?? storage)
  }

  func entries(_ storage: any SyncStorage) throws(QueueError) -> [Entry] {
    var entries = try inner.entries((storage as? PlantedStorage)?.base ?? storage)
    guard bug == .attemptsResetAtLaunch else { return entries }
    for index in entries.indices where entries[index].attempts != 0 {
      deeds.note(entries[index].key)
      entries[index].attempts = 0
    }
    return entries
  }
}
