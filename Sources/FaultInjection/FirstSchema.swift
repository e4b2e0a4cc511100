/// The tables of the queue's file and of the order journal in their first versions, as apps still have them.
package enum FirstSchema {
  /// The queue's, without `companions`, which has not changed since.
  package static let queue = """
    CREATE TABLE entries(
      place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, order_number TEXT,
      details TEXT NOT NULL, state TEXT NOT NULL, enqueued_at INTEGER NOT NULL, attempts INTEGER NOT NULL,
      attempted_at INTEGER, ready_at INTEGER NOT NULL, unprotected INTEGER NOT NULL, checksum INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX entries_by_lane ON entries(lane, state, place);
    CREATE TABLE proofs(
      id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL
    ) STRICT;
    CREATE INDEX proofs_by_checksum ON proofs(checksum);
    CREATE TABLE entry_proofs(
      place INTEGER NOT NULL REFERENCES entries(place) ON DELETE CASCADE, kind TEXT NOT NULL,
      proof INTEGER NOT NULL REFERENCES proofs(id), PRIMARY KEY(place, kind)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entry_proofs_by_proof ON entry_proofs(proof);
    CREATE TABLE tombstones(
      key TEXT PRIMARY KEY, lane TEXT NOT NULL, order_number TEXT, outcome TEXT NOT NULL,
      details TEXT NOT NULL, settled_at INTEGER NOT NULL, finish_owed INTEGER NOT NULL,
      unseen INTEGER NOT NULL, checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tombstones_with_duties ON tombstones(settled_at) WHERE finish_owed OR unseen;
    CREATE TABLE totals(
      id INTEGER PRIMARY KEY CHECK (id = 1), entries INTEGER NOT NULL, bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO totals VALUES(1, 0, 0);
    CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// The first of the journal's tables.
  package static let orders = """
    CREATE TABLE orders(
      number TEXT PRIMARY KEY, account_token TEXT NOT NULL UNIQUE, account TEXT NOT NULL, product TEXT NOT NULL,
      quantity INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// The queue's table of the tables that others keep in its file.
  package static let companions = """
    CREATE TABLE companions(name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// What a whole file of that version begins with: its settings, its tables, and whose it is.
  package static let newFile = """
    PRAGMA page_size=1024; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;
    BEGIN; \(queue) \(companions) PRAGMA application_id=1349669169; PRAGMA user_version=1; COMMIT;
    """
}
