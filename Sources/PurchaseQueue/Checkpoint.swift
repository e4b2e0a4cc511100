/// A boundary between two durable steps, at which a test or the simulator can kill the process.
///
/// The raw value is the name that the simulator prints and takes on its command line. `crash-matrix` kills at every
/// case, except those that it names as exempt.
package enum Checkpoint: String, CaseIterable, Sendable {
  // MARK: Opening the file

  /// The queue's file is about to get its schema.
  case schemaCreating = "schema.creating"
  /// The schema is durable.
  case schemaCreated = "schema.created"
  /// A file of an earlier version was found and is about to be migrated.
  case migrationBegin = "migration.begin"
  /// The migrated file is durable.
  case migrationCommitted = "migration.committed"
  /// A damaged file is about to be salvaged.
  case salvageBegin = "salvage.begin"
  /// The salvaged file has taken the place of the damaged one.
  case salvageDone = "salvage.done"
  /// Damaged rows are marked, and the totals are counted again.
  case entriesIsolated = "entries.isolated"
  /// The sync engine's own tables are ready.
  case journalPrepared = "journal.prepared"
  /// Items of an earlier install were put into the queue.
  case vaultRestored = "vault.restored"

  // MARK: Ordering

  /// Capacity is reserved, and the key of the order request is durable. The request is sent next.
  case orderRequesting = "order.requesting"
  /// The backend's order has arrived and is not written yet.
  case orderReceived = "order.received"
  /// The order is durable.
  case orderCommitted = "order.committed"

  // MARK: Queueing

  /// The store has handed over a transaction; nothing is written yet.
  case transactionArrived = "transaction.arrived"
  /// An entry is about to be written.
  case enqueueBegin = "enqueue.begin"
  /// The entry is durable, and not mirrored yet.
  case enqueueCommitted = "enqueue.committed"
  /// One chunk of a payload is in the vault.
  case vaultChunk = "vault.chunk"
  /// The entry was mirrored, or flagged as unprotected.
  case enqueueMirrored = "enqueue.mirrored"
  /// The adoption of the device's purchases is durable.
  case adoptionCommitted = "adoption.committed"

  // MARK: Sending

  /// The attempt is counted. The upload is sent next.
  case attemptCommitted = "attempt.committed"
  /// The upload is about to be handed to the transport.
  case uploadSending = "upload.sending"
  /// The reply to an upload is read; nothing of it is written yet.
  case uploadReceived = "upload.received"
  /// The request to adopt the device's purchases is about to be sent.
  case adoptionSending = "adoption.sending"
  /// The reply to it has arrived.
  case adoptionAnswered = "adoption.answered"

  // MARK: Settling

  /// The entry is removed, and its tombstone is durable.
  case settleCommitted = "settle.committed"
  /// The vault's copy of the entry is removed.
  case settleMirrored = "settle.mirrored"
  /// The entry is in quarantine.
  case quarantineCommitted = "quarantine.committed"
  /// The entry is back in its lane.
  case releaseCommitted = "release.committed"
  /// The store is about to finish a transaction.
  case finishCalling = "finish.calling"
  /// The store has finished the transaction; that is not written yet.
  case finishCalled = "finish.called"
  /// The tombstone's finish is no longer pending.
  case finishCommitted = "finish.committed"
  /// The app has confirmed an outcome.
  case outcomeSeen = "outcome.seen"
}
