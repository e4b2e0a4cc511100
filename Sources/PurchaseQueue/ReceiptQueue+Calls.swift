/// The calls of `QueueFile`, awaited. Those that change something are durable when they return.
extension ReceiptQueue {
  /// Queues an entry at the end of its lane; see `QueueFile.enqueue`.
  @discardableResult
  public func enqueue(_ new: NewEntry) async throws(QueueError) -> Enqueued {
    try await write { (file, now) throws(QueueError) in try file.enqueue(new, now: now) }
  }

  /// Removes settled entries and leaves a tombstone for each, all in one commit.
  @discardableResult
  public func acknowledge(_ settlements: [Settlement]) async throws(QueueError) -> [Tombstone] {
    try await write { (file, now) throws(QueueError) in try file.acknowledge(settlements, now: now) }
  }

  /// Counts an attempt of each entry; to be called before the send.
  public func recordAttempt(_ keys: [EntryKey]) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in try file.recordAttempt(keys, now: now) }
  }

  /// Keeps an entry from being sent before a moment; others of its lane pass it.
  public func postpone(
    _ key: EntryKey, until: Timestamp, reason: String = "postponed"
  ) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in
      try file.postpone(key, until: until, reason: reason, now: now)
    }
  }

  /// Takes an entry out of its lane's turn: it cannot be delivered now.
  public func quarantine(_ key: EntryKey, reason: String) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in try file.quarantine(key, reason: reason, now: now) }
  }

  /// Puts a quarantined entry back at its place in its lane.
  public func release(_ key: EntryKey) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in try file.release(key, now: now) }
  }

  /// Gives an entry up, undelivered; who did it and why stays in its case file.
  @discardableResult
  public func discard(
    _ key: EntryKey, by person: String, reason: String
  ) async throws(QueueError) -> Tombstone? {
    try await write { (file, now) throws(QueueError) in
      try file.discard(key, by: person, reason: reason, now: now)
    }
  }

  /// Reserves room for one entry before anyone pays; see `QueueFile.reserve`.
  public func reserve(_ name: String, bytes: Int = 64 << 10, until: Timestamp) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in
      try file.reserve(name, bytes: bytes, until: until, now: now)
    }
  }

  /// Gives the room back; an unknown name is fine.
  public func cancelReservation(_ name: String) async throws(QueueError) {
    try await write { (file, _) throws(QueueError) in try file.cancelReservation(name) }
  }

  /// The source has been told: nothing is owed to it any more.
  public func markFinished(_ key: EntryKey) async throws(QueueError) {
    try await write { (file, _) throws(QueueError) in try file.markFinished(key) }
  }

  /// The outcome has reached whoever waited for it.
  public func markSeen(_ key: EntryKey) async throws(QueueError) {
    try await write { (file, _) throws(QueueError) in try file.markSeen(key) }
  }

  // MARK: Reading

  /// The entry of that name, if it is queued, quarantined or damaged.
  public func entry(_ key: EntryKey) throws(QueueError) -> Entry? {
    try read { (file, _) throws(QueueError) in try file.entry(key) }
  }

  /// The first entry of a lane that takes its turn, postponed or not.
  public func head(of lane: Lane) throws(QueueError) -> Entry? {
    try read { (file, _) throws(QueueError) in try file.head(of: lane) }
  }

  /// The first entry of a lane with the bytes of its proofs: what is to be sent next.
  public func peek(_ lane: Lane) throws(QueueError) -> (entry: Entry, proofs: [Proof])? {
    try read { (file, _) throws(QueueError) in try file.peek(lane) }
  }

  /// The first entries of a lane in order, at most `limit`; without those in quarantine.
  public func entries(in lane: Lane, limit: Int = 100) throws(QueueError) -> [Entry] {
    try read { (file, _) throws(QueueError) in try file.entries(in: lane, limit: limit) }
  }

  /// The entry to be sent now, over all lanes. Nil if there is none.
  public func nextReady() throws(QueueError) -> Entry? {
    try read { (file, now) throws(QueueError) in try file.nextReady(now: now) }
  }

  /// When the next postponed entry becomes ready, if any is postponed.
  public func nextReadyAt() throws(QueueError) -> Timestamp? {
    try read { (file, _) throws(QueueError) in try file.nextReadyAt() }
  }

  /// Entries that wait for their turn.
  public func count() throws(QueueError) -> Int {
    try read { (file, _) throws(QueueError) in try file.count() }
  }

  /// The lanes in which an entry waits for its turn.
  public func lanes() throws(QueueError) -> [Lane] {
    try read { (file, _) throws(QueueError) in try file.lanes() }
  }

  /// The entries that do not take their turn: quarantined ones and damaged ones.
  public func quarantined() throws(QueueError) -> [Entry] {
    try read { (file, _) throws(QueueError) in try file.quarantined() }
  }

  /// The bytes of a proof; nil if they have to be read from their source.
  public func proof(_ reference: ProofReference) throws(QueueError) -> Proof? {
    try read { (file, _) throws(QueueError) in try file.proof(reference) }
  }

  /// What is left of a settled entry.
  public func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    try read { (file, _) throws(QueueError) in try file.tombstone(key) }
  }

  /// Tombstones whose finish is owed or whose outcome is unseen, oldest first.
  public func tombstonesWithDuties() throws(QueueError) -> [Tombstone] {
    try read { (file, _) throws(QueueError) in try file.tombstonesWithDuties() }
  }

  /// What is known of one entry, queued or settled.
  public func caseFile(for key: EntryKey) throws(QueueError) -> CaseFile? {
    try read { (file, _) throws(QueueError) in try file.caseFile(for: key) }
  }

  /// What is known of the entries of one order, queued or settled.
  public func caseFiles(order number: String) throws(QueueError) -> [CaseFile] {
    try read { (file, _) throws(QueueError) in try file.caseFiles(order: number) }
  }

  /// How the queue is.
  public func health() throws(QueueError) -> QueueHealth {
    try read { (file, _) throws(QueueError) in try file.health() }
  }

  /// Takes the right to send a lane; nil while somebody else has it.
  public func lease(_ lane: Lane) throws(QueueError) -> LaneLease? {
    try read { (file, _) throws(QueueError) in try file.lease(lane) }
  }

  /// Work that nobody has to wait for; it is done by itself after some commits, and at `close`.
  public func maintain() throws(QueueError) {
    try read { (file, now) throws(QueueError) in try file.maintain(now: now) }
  }
}
