/// The tables of the backend's file. `credits` has no constraint on transaction or order: doubling has to show.
enum BackendSchema {
  static let version: Int64 = 2

  static let sql = """
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

    CREATE TABLE reversals (
      environment TEXT NOT NULL, transaction_id TEXT NOT NULL, purchased_at INTEGER, at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE sightings (
      environment TEXT NOT NULL, transaction_id TEXT NOT NULL, purchased_at INTEGER,
      product_id TEXT NOT NULL, quantity INTEGER NOT NULL, at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE device_claims (
      device TEXT NOT NULL, account TEXT NOT NULL, through_sequence INTEGER NOT NULL, at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE verdicts (
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      verdict TEXT NOT NULL,
      order_number TEXT,
      reason TEXT,
      account TEXT,
      device TEXT,
      at INTEGER NOT NULL
    ) STRICT;

    PRAGMA user_version=\(version);
    """

  /// What a restored backup replaces. Not `verdicts`: those are the tests' own log of what was said.
  static let restored = ["orders", "credits", "reversals", "sightings", "device_claims"]
}
