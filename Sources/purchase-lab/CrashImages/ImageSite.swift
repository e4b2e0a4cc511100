import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The app on a disk in memory: its file, open, and the outside around it.
final class ImageSite {
  let disk: FaultDisk
  let discipline: ImageDiscipline
  private(set) var file: SyncFile?
  var outside = OutsideState()
  private(set) var now = OutsideState.noon
  /// Called after each commit of the operations that have several, while a workload is prepared.
  var committed: ((SyncFile) throws(QueueError) -> Void)?
  /// A vault would restore what damage loses.
  var hasVault = true
  /// Orders that were made.
  private var orders = 0

  static let path = DiskImage.root + "/queue.sqlite"

  init(disk: FaultDisk, discipline: ImageDiscipline = .production) {
    self.disk = disk
    self.discipline = discipline
  }

  /// Takes the names and numbers of an earlier site over, on another disk.
  convenience init(disk: FaultDisk, after other: ImageSite) {
    self.init(disk: disk, discipline: other.discipline)
    outside = other.outside
    now = other.now
    orders = other.orders
  }

  // MARK: Opening

  func open() throws(QueueError) {
    let file = try SyncFile(queue: queue(on: disk), newIdentity: { .simulated })
    if let settings = discipline.settings {
      try QueueError.wrap(Self.path) { () throws(SQLiteError) in
        try file.queue.connection.execute(settings)
      }
    }
    self.file = file
    try committed?(file)
  }

  /// Opens the queue on a disk as production does.
  func queue(on disk: FaultDisk) throws(QueueError) -> QueueFile {
    try QueueFile(
      QueueSetup(
        path: Self.path, vault: vault(on: disk), disk: .inMemory, schemas: JournalSchema.schemas), now: now)
  }

  /// The controls have no vault: it would restore the commits that they lose.
  func vault(on disk: FaultDisk) -> DiskVault? {
    discipline == .production && hasVault ? DiskVault(disk) : nil
  }

  func close() { file = nil }

  func opened() throws(QueueError) -> SyncFile {
    if let file { return file }
    try open()
    guard let file else { throw .closed(path: Self.path) }
    return file
  }

  // MARK: Operations

  /// The outside acts first: the person pays, the backend grants, the store finishes.
  func run(_ kind: ImageKind) throws(QueueError) {
    now = now.adding(milliseconds: 1_000)
    disk.leavesOut = discipline.leavesOut(in: kind)
    defer { disk.leavesOut = .none }
    switch kind {
    case .create, .migrate, .reinstall, .salvage: try open()
    case .reopen:
      close()
      try open()
    case .checkpoint, .checkpointPassive, .vacuum: try tidy(kind)
    case .enqueue, .enqueueAgain, .group: try enqueue(kind)
    case .settle, .finish, .confirm, .discard: try end(kind)
    case .order: try makeOrder()
    default: try change(kind)
    }
    if let file { try committed?(file) }
  }

  private func tidy(_ kind: ImageKind) throws(QueueError) {
    let queue = try opened().queue
    // `maintain` does this when enough space would be freed.
    try queue.exclusively { () throws(QueueError) in
      try QueueError.wrap(Self.path) { () throws(SQLiteError) in
        switch kind {
        case .vacuum: try queue.connection.vacuum()
        case .checkpointPassive: try queue.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        default: _ = try queue.connection.checkpoint()
        }
      }
    }
  }

  private func enqueue(_ kind: ImageKind) throws(QueueError) {
    let file = try opened()
    switch kind {
    case .enqueueAgain:
      guard let key = try first(.queued), let number = OutsideState.number(of: key) else { return }
      try enqueue(OutsideState.transaction(number, revision: 1), in: file)
    case .group:
      let both = [outside.pay(), outside.pay()]
      func enqueuing(_ transaction: StoreTransaction) -> QueueFile.Operation {
        { (_) throws(QueueError) in try self.enqueue(transaction, in: file) }
      }
      let operations = both.map { enqueuing($0) }
      for error in file.queue.groupCommit(operations) {
        if let error { throw error }
      }
    default: try enqueue(outside.pay(), in: file)
    }
  }

  private func enqueue(_ transaction: StoreTransaction, in file: SyncFile) throws(QueueError) {
    let match = try OrderMatcher.match(transaction, from: file)
    _ = try file.enqueue(transaction, match, storeAccount: nil, now: now)
  }

  private func end(_ kind: ImageKind) throws(QueueError) {
    let file = try opened()
    switch kind {
    case .settle:
      guard let key = try first(.queued) else { return }
      outside.granted.insert(key)
      _ = try file.acknowledge([SettledClaim(key: key, verdict: .granted)], now: now)
    case .discard:
      var key = try first(.quarantined)
      if key == nil { key = try first(.queued) }
      guard let key else { return }
      outside.discarded.insert(key)
      try file.queue.discard(key, by: "support", reason: "asked for", now: now)
    case .finish:
      guard let pending = try file.tombstonesWithDuties().first(where: \.isFinishPending) else { return }
      outside.finished.insert(pending.key)
      try file.markFinished(pending.key)
    default:
      guard let unconfirmed = try file.tombstonesWithDuties().first(where: \.isUnconfirmed) else { return }
      try file.markConfirmed(unconfirmed.key)
    }
  }

  private func change(_ kind: ImageKind) throws(QueueError) {
    let file = try opened()
    switch kind {
    case .claim: _ = try file.keepAdoption(of: OutsideState.account)
    case .epoch: try file.keepLedgerEpoch("epoch-\(now.milliseconds)", offeringAgain: true)
    case .release:
      guard let key = try first(.quarantined) else { return }
      _ = try file.release(key, nil, now: now)
    default:
      guard let key = try first(.queued) else { return }
      switch kind {
      case .attempt: try file.recordAttempt([key], keeping: RetryState(), now: now)
      case .postpone:
        try file.postpone(
          key, Wait(.backoff, began: now, milliseconds: 60_000), reason: "pending", now: now)
      default: _ = try file.quarantine(key, reason: "rejected", now: now)
      }
    }
  }

  private func makeOrder() throws(QueueError) {
    let file = try opened()
    orders += 1
    let key = try file.request(
      account: OutsideState.account, product: OutsideState.product, quantity: 1,
      proposing: "request-\(orders)", waiting: [], now: now)
    try committed?(file)
    outside.requests.insert(key)
    let document = OutsideState.document(orders)
    outside.orders.insert(document.number)
    _ = try file.save(document, account: OutsideState.account, answering: key, now: now)
  }

  private func first(_ state: Entry.State) throws(QueueError) -> EntryKey? {
    try opened().queue.allEntries().first { $0.state == state }?.key
  }
}

/// How the file is written: as in production, or in a way that loses acknowledged commits. The controls show that the
/// search would find a loss.
enum ImageDiscipline: String, CaseIterable, Sendable {
  case production
  /// A log that is synced only at checkpoints.
  case walNormal = "wal-normal"
  /// A rollback journal whose removal is not made durable.
  case rollbackFull = "rollback-full"
  /// The arrival of a purchase that is promised soon only.
  case arrivalSoon = "arrival-soon"
  /// A verdict that is promised soon only.
  case verdictSoon = "verdict-soon"
  /// A log that starts again, and frames follow before its header is durable.
  case headerUnsynced = "header-unsynced"

  /// As the address of an image begins.
  func name(of workload: ImageWorkload) -> String {
    self == .production ? workload.name : rawValue + ":" + workload.name
  }

  /// Workloads that lose a commit with it.
  var losing: [String] {
    switch self {
    case .production: []
    case .walNormal, .rollbackFull: ["enqueue", "settle", "postpone", "enqueue,settle"]
    case .arrivalSoon: ["enqueue", "enqueue,enqueue", "group"]
    case .verdictSoon: ["settle", "enqueue,settle"]
    case .headerUnsynced: ["checkpoint-passive,enqueue", "checkpoint-passive,settle"]
    }
  }

  /// The syncs that are left out in an operation.
  func leavesOut(in kind: ImageKind) -> FaultDisk.SyncsLeftOut {
    switch (self, kind) {
    case (.arrivalSoon, .enqueue), (.arrivalSoon, .group), (.verdictSoon, .settle): .all
    case (.headerUnsynced, _): .ofHeaders
    default: .none
    }
  }

  /// SQL to be run after the opening, on the connection of this harness only.
  var settings: String? {
    switch self {
    case .production, .arrivalSoon, .verdictSoon, .headerUnsynced: nil
    case .walNormal: "PRAGMA synchronous=NORMAL"
    case .rollbackFull: "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL"
    }
  }
}
