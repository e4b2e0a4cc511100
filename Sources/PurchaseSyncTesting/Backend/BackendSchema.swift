/// The tables of the backend's file. `credits` has no constraint on transaction or order: doubling has to show.
enum BackendSchema {
  /// 3: tables A, B and C. Files of earlier versions are refused: they are test worlds, made anew in a moment.
  static let version: Int64 = 3

  static let sql =
    ledger + BackendTables.proofs + BackendTables.purchases + "PRAGMA user_version=\(version);"

  private static let ledger = """
    CREATE TABLE identity (
      bundle_id TEXT NOT NULL, seed INTEGER NOT NULL, restorations INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE orders (
      number TEXT NOT NULL UNIQUE,
      account TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      account_token TEXT NOT NULL UNIQUE,
      product_id TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      state TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      fulfilled_environment TEXT,
      fulfilled_transaction TEXT,
      fulfilled_purchased_at INTEGER,
      UNIQUE (account, idempotency_key)
    ) STRICT;

    CREATE TABLE credits (
      sequence INTEGER NOT NULL,
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      purchased_at INTEGER,
      order_number TEXT,
      account TEXT,
      device TEXT,
      product_id TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      cause TEXT NOT NULL,
      at INTEGER NOT NULL,
      expires_at INTEGER,
      bought_at INTEGER
    ) STRICT;

    CREATE INDEX credits_by_device ON credits (device) WHERE device IS NOT NULL;

    CREATE TABLE reversals (
      environment TEXT NOT NULL, transaction_id TEXT NOT NULL, purchased_at INTEGER, at INTEGER NOT NULL,
      undone_at INTEGER
    ) STRICT;

    CREATE UNIQUE INDEX reversals_by_key
      ON reversals (environment, transaction_id, ifnull(purchased_at, 0));

    CREATE TABLE device_claims (
      device TEXT NOT NULL, account TEXT NOT NULL, through_sequence INTEGER NOT NULL, at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE job_runs (
      at INTEGER NOT NULL, due INTEGER NOT NULL, unanswered INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE verdicts (
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      verdict TEXT NOT NULL,
      order_number TEXT,
      reason TEXT,
      account TEXT,
      device TEXT,
      at INTEGER NOT NULL,
      store_status INTEGER
    ) STRICT;

    """

  /// What a restored backup replaces. Not `verdicts`: those are the tests' own log of what was said.
  static let restored =
    ["orders", "credits", "reversals", "device_claims", "job_runs"] + BackendTables.names
}
