/// The calls of `QueueFile`, awaited. A call that changes something is durable when it returns.
extension ReceiptQueue {
  /// Queues an entry at the end of its lane; see `QueueFile.enqueue`.
  @discardableResult
  public nonisolated func enqueue(_ new: NewEntry) async throws(QueueError) -> Enqueued {
    try await write { (file, now) throws(QueueError) in try file.enqueue(new, now: now) }
  }

  /// Removes settled entries and leaves a tombstone for each, all in one commit; see `QueueFile.acknowledge`. An entry
  /// that got a newer proof than was sent (`Settlement.init(_:)`) stays.
  @discardableResult
  public nonisolated func acknowledge(_ settlements: [Settlement]) async throws(QueueError) -> [Tombstone] {
    try await write { (file, now) throws(QueueError) in try file.acknowledge(settlements, now: now) }
  }

  /// Counts an attempt of each entry. Call it before the send.
  public nonisolated func recordAttempt(_ keys: [EntryKey]) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in try file.recordAttempt(keys, now: now) }
  }

  /// Keeps an entry from being sent before a moment; the other entries of its lane pass it.
  public nonisolated func postpone(
    _ key: EntryKey, until: Timestamp, reason: String = "postponed"
  ) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in
      try file.postpone(key, until: until, reason: reason, now: now)
    }
  }

  /// Moves an entry that cannot be delivered now to quarantine.
  public nonisolated func quarantine(_ key: EntryKey, reason: String) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in try file.quarantine(key, reason: reason, now: now) }
  }

  /// Releases a quarantined entry to its place in its lane.
  public nonisolated func release(_ key: EntryKey) async throws(QueueError) {
    try await write { (file, now) throws(QueueError) in try file.release(key, now: now) }
  }

  /// Gives up an entry that is not delivered. The person and the reason stay in its case file.
  @discardableResult
  public nonisolated func discard(
    _ key: EntryKey, by person: String, reason: String
  ) async throws(QueueError) -> Tombstone? {
    try await write { (file, now) throws(QueueError) in
      try file.discard(key, by: person, reason: reason, now: now)
    }
  }

  /// Reserves capacity for one entry before a payment; see `QueueFile.reserve`.
  public nonisolated func reserve(_ name: String, bytes: Int = 64 << 10, until: Timestamp)
    async throws(QueueError)
  {
    try await write { (file, now) throws(QueueError) in
      try file.reserve(name, bytes: bytes, until: until, now: now)
    }
  }

  /// Cancels a reservation. An unknown name is fine.
  public nonisolated func cancelReservation(_ name: String) async throws(QueueError) {
    try await write { (file, _) throws(QueueError) in try file.cancelReservation(name) }
  }

  /// Records that the source knows that the entry is done.
  public nonisolated func markFinished(_ key: EntryKey) async throws(QueueError) {
    try await write { (file, _) throws(QueueError) in try file.markFinished(key) }
  }

  /// Records that the app has seen the outcome.
  public nonisolated func markSeen(_ key: EntryKey) async throws(QueueError) {
    try await write { (file, _) throws(QueueError) in try file.markSeen(key) }
  }

  // MARK: Reading

  /// The entry with that key, if it is queued, quarantined or damaged.
  public func entry(_ key: EntryKey) async throws(QueueError) -> Entry? {
    try await read { (file, _) throws(QueueError) in try file.entry(key) }
  }

  /// The first queued entry of a lane, postponed or not.
  public func head(of lane: Lane) async throws(QueueError) -> Entry? {
    try await read { (file, _) throws(QueueError) in try file.head(of: lane) }
  }

  /// The first queued entry of a lane with the bytes of its proofs.
  public func peek(_ lane: Lane) async throws(QueueError) -> (entry: Entry, proofs: [Proof])? {
    try await read { (file, _) throws(QueueError) in try file.peek(lane) }
  }

  /// The first queued entries of a lane in order, at most `limit`.
  public func entries(in lane: Lane, limit: Int = 100) async throws(QueueError) -> [Entry] {
    try await read { (file, _) throws(QueueError) in try file.entries(in: lane, limit: limit) }
  }

  /// The entry to send now, over all lanes; nil if none is ready.
  public func nextReady() async throws(QueueError) -> Entry? {
    try await read { (file, now) throws(QueueError) in try file.nextReady(now: now) }
  }

  /// The moment when the next postponed entry becomes ready; nil if none is postponed.
  public func nextReadyAt() async throws(QueueError) -> Timestamp? {
    try await read { (file, _) throws(QueueError) in try file.nextReadyAt() }
  }

  /// The number of queued entries.
  public func count() async throws(QueueError) -> Int {
    try await read { (file, _) throws(QueueError) in try file.count() }
  }

  /// The lanes that have a queued entry.
  public func lanes() async throws(QueueError) -> [Lane] {
    try await read { (file, _) throws(QueueError) in try file.lanes() }
  }

  /// The entries that are not sent: quarantined and damaged ones.
  public func quarantined() async throws(QueueError) -> [Entry] {
    try await read { (file, _) throws(QueueError) in try file.quarantined() }
  }

  /// The bytes of a proof; nil if they have to be read from their source.
  public func proof(_ reference: ProofReference) async throws(QueueError) -> Proof? {
    try await read { (file, _) throws(QueueError) in try file.proof(reference) }
  }

  /// The tombstone of a settled entry.
  public func tombstone(_ key: EntryKey) async throws(QueueError) -> Tombstone? {
    try await read { (file, _) throws(QueueError) in try file.tombstone(key) }
  }

  /// Tombstones whose finish is owed or whose outcome is unseen, oldest first.
  public func tombstonesWithDuties() async throws(QueueError) -> [Tombstone] {
    try await read { (file, _) throws(QueueError) in try file.tombstonesWithDuties() }
  }

  /// The case file of one entry, queued or settled.
  public func caseFile(for key: EntryKey) async throws(QueueError) -> CaseFile? {
    try await read { (file, _) throws(QueueError) in try file.caseFile(for: key) }
  }

  /// The case files of the entries with one order number, queued or settled.
  public func caseFiles(order number: String) async throws(QueueError) -> [CaseFile] {
    try await read { (file, _) throws(QueueError) in try file.caseFiles(order: number) }
  }

  /// Counts, sizes and ages.
  public func health() async throws(QueueError) -> QueueHealth {
    try await read { (file, _) throws(QueueError) in try file.health() }
  }

  /// Takes the right to send a lane; nil while another holder has it.
  public func lease(_ lane: Lane) async throws(QueueError) -> LaneLease? {
    try await read { (file, _) throws(QueueError) in try file.lease(lane) }
  }

  /// Does the work that no caller waits for. It runs by itself in a pause after the last call.
  public func maintain() async throws(QueueError) {
    try await read { (file, now) throws(QueueError) in try file.maintain(now: now) }
  }
}
