package import PurchaseSQLite

/// The durable FIFO queue, in one SQLite file: the synchronous core.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut; when it throws, the stored state is as it was. An entry leaves the queue only by `settle`; nothing is
/// evicted. Delivery is at least once: a crash between the delivery and `settle` delivers again.
///
/// Calls block for the disk and belong to one thread or actor at a time; no database lock is held between them, so
/// several processes can use one file.
public final class QueueFile {
  let statements: QueueStatements
  package let connection: Connection
  /// Where the file is.
  public let path: String
  /// How much it holds.
  public let limits: QueueLimits
  let vault: (any ReceiptVault)?
  /// Told at each boundary between two durable steps. Nil unless a test or the simulator sets it.
  package var hook: ((String) -> Void)?

  /// Opens the file, or makes it. A fresh file is filled from the vault.
  ///
  /// Throws without having changed anything if there is something else at the path, or a newer version's file.
  public init(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any ReceiptVault)? = nil, now: Timestamp
  ) throws(QueueError) {
    self.path = path
    self.limits = limits
    self.vault = vault
    let isNew = try QueueOpening.probe(path)
    connection = try QueueError.wrap(path) { () throws(SQLiteError) in try Connection(path: path) }
    try QueueOpening.prepare(connection, isNew: isNew)
    statements = try QueueStatements.all(connection)
    if try fact("restored") == nil { try restoreFromVault(now: now) }
  }

  // MARK: Entries

  /// Queues an entry at the end of its lane. One that is there already keeps its account, order, attempts and
  /// place; a missing order is filled in, and a newer proof of a kind replaces the older one.
  public func enqueue(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    try enqueue(new, now: now) { () throws(QueueError) in }
  }

  /// As `enqueue`; what `companion` writes is committed with the entry.
  package func enqueue(
    _ new: NewEntry, now: Timestamp, with companion: () throws(QueueError) -> Void
  ) throws(QueueError) -> Enqueued {
    hook?("enqueue.begin")
    let result = try transaction { () throws(QueueError) in
      let result = try self.insertOrCollapse(new, now: now)
      if case .inserted = result { try companion() }
      return result
    }
    hook?("enqueue.committed")
    switch result {
    case .inserted(let entry), .collapsed(let entry): mirror(entry)
    case .settled: break
    }
    hook?("enqueue.mirrored")
    return result
  }

  /// The entry of that name, if it is queued.
  public func entry(_ key: EntryKey) throws(QueueError) -> Entry? {
    let stored = try read { () throws(SQLiteError) in
      try statements.entryByKey.first([.text(key.rawValue)]) { StoredEntry($0) }
    }
    guard let stored else { return nil }
    return try withProofs(stored)
  }

  /// The first entry of a lane that takes its turn.
  public func head(of lane: Lane) throws(QueueError) -> Entry? {
    let stored = try read { () throws(SQLiteError) in
      try statements.headOfLane.first([.text(lane.text)]) { StoredEntry($0) }
    }
    guard let stored else { return nil }
    return try withProofs(stored)
  }

  /// The first entries of a lane in order, at most `limit`.
  public func entries(
    in lane: Lane, state: Entry.State = .queued, limit: Int = 100
  ) throws(QueueError) -> [Entry] {
    let stored = try read { () throws(SQLiteError) in
      try statements.entriesOfLane.all([.text(lane.text), .text(state.rawValue), .integer(Int64(limit))]) {
        StoredEntry($0)
      }
    }
    return try withProofs(stored)
  }

  /// Every entry, in the order of the places.
  public func allEntries() throws(QueueError) -> [Entry] {
    let stored = try read { () throws(SQLiteError) in try statements.allEntries.all { StoredEntry($0) } }
    return try withProofs(stored)
  }

  /// The lanes that hold an entry.
  public func lanes() throws(QueueError) -> [Lane] {
    try read { () throws(SQLiteError) in try statements.lanes.all { Lane(text: $0.text(0)) } }
  }

  /// The bytes of a proof, checked against their checksum.
  public func proof(_ reference: ProofReference) throws(QueueError) -> Proof {
    let found = try read { () throws(SQLiteError) in
      try statements.proofBytes.first([.integer(reference.id)]) { ($0.bytes(0), $0.integer(1)) }
    }
    guard let (bytes, checksum) = found, Checksum.of(bytes) == checksum else {
      throw .damaged(path: path, what: "the bytes of proof \(reference.id) do not match their checksum")
    }
    return Proof(kind: reference.kind, bytes: bytes)
  }

  /// Counts an attempt of each entry; to be called before the send.
  public func recordAttempt(_ keys: [EntryKey], now: Timestamp) throws(QueueError) {
    try update(keys) { entry in
      entry.attempts += 1
      entry.attemptedAt = now
    }
    hook?("attempt.committed")
  }

  /// Keeps an entry from being sent before a moment; others of its lane pass it.
  public func postpone(_ key: EntryKey, until: Timestamp) throws(QueueError) {
    try update([key]) { $0.readyAt = until }
  }

  /// Takes an entry out of its lane's turn, or puts it back.
  public func setState(_ state: Entry.State, of key: EntryKey) throws(QueueError) {
    try update([key]) { $0.state = state }
  }

  /// Removes delivered entries and leaves a tombstone for each, all in one commit; then removes their mirrors.
  /// One that is not queued is passed over: it was settled before.
  @discardableResult
  public func settle(_ settlements: [Settlement], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try settle(settlements, now: now) { (_) throws(QueueError) in }
  }

  /// As `settle`; what `companion` writes of each tombstone is committed with it.
  package func settle(
    _ settlements: [Settlement], now: Timestamp, with companion: (Tombstone) throws(QueueError) -> Void
  ) throws(QueueError) -> [Tombstone] {
    guard !settlements.isEmpty else { return [] }
    let tombstones = try transaction { () throws(QueueError) in
      var tombstones: [Tombstone] = []
      for settlement in settlements {
        guard let tombstone = try self.bury(settlement, now: now) else { continue }
        try companion(tombstone)
        tombstones.append(tombstone)
      }
      return tombstones
    }
    hook?("settle.committed")
    for tombstone in tombstones { removeMirror("entry." + tombstone.key.rawValue) }
    hook?("settle.mirrored")
    return tombstones
  }

  // MARK: Tombstones

  /// What is left of a settled entry.
  public func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    try tombstones { () throws(SQLiteError) in
      try statements.tombstoneByKey.all([.text(key.rawValue)]) { StoredTombstone($0) }
    }.first
  }

  /// Tombstones whose finish is owed or whose outcome is unseen, oldest first.
  public func tombstonesWithDuties() throws(QueueError) -> [Tombstone] {
    try tombstones { () throws(SQLiteError) in
      try statements.tombstonesWithDuties.all { StoredTombstone($0) }
    }
  }

  /// The source has been told: nothing is owed to it any more.
  public func markFinished(_ key: EntryKey) throws(QueueError) {
    try updateDuties(key) { $0.isFinishOwed = false }
    hook?("finish.committed")
  }

  /// The outcome has reached whoever waited for it.
  public func markSeen(_ key: EntryKey) throws(QueueError) {
    try updateDuties(key) { $0.isUnseen = false }
  }

  /// Entries and bytes of proofs, now.
  public func totals() throws(QueueError) -> (entries: Int, bytes: Int) {
    let totals = try read { () throws(SQLiteError) in
      try statements.totals.first { (entries: Int($0.integer(0)), bytes: Int($0.integer(1))) }
    }
    guard let totals else { throw .damaged(path: path, what: "the totals are missing") }
    return totals
  }
}
