/// The tables of version 0 of the queue's schema that differ from version 1.
///
/// Version 0 was never released; it is the example by which migrations are tested. The tables `payloads` and
/// `reservations` are the same in both versions.
package enum EarlierSchema {
  package static let entries = """
    CREATE TABLE entries( /* PurchaseQueue */
      place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, state TEXT NOT NULL,
      ready_at INTEGER NOT NULL, order_number TEXT, attempts INTEGER NOT NULL, attempted_at INTEGER,
      enqueued_at INTEGER NOT NULL, unprotected INTEGER NOT NULL, payloads TEXT NOT NULL, details TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entries_ready ON entries(lane, place) WHERE state = 'queued' AND ready_at = 0;
    CREATE INDEX entries_postponed ON entries(lane, place, ready_at) WHERE state = 'queued' AND ready_at <> 0;
    CREATE INDEX entries_by_readiness ON entries(ready_at, place) WHERE state = 'queued' AND ready_at <> 0;
    """

  package static let tombstones = """
    CREATE TABLE tombstones(
      key TEXT PRIMARY KEY, lane TEXT NOT NULL, order_number TEXT, outcome TEXT NOT NULL, details TEXT NOT NULL,
      enqueued_at INTEGER NOT NULL, attempts INTEGER NOT NULL, settled_at INTEGER NOT NULL,
      finish_pending INTEGER NOT NULL, unconfirmed INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tombstones_with_duties ON tombstones(settled_at) WHERE finish_pending OR unconfirmed;
    """

  package static let facts = """
    CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    """
}
