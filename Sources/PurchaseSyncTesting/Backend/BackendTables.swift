/// Tables A, B and C (R3.5 to R3.7), with exactly their columns; what a row needs besides stands in a table next to each,
/// under the row's number. Moments are milliseconds since 1970, UUIDs upper case text.
enum BackendTables {
  /// Everything here, companions first, so that nothing refers to a row that is gone.
  static let names = [
    "proof_digests", "table_a", "proof_origins", "table_b", "purchase_facts", "table_c", "renewals",
  ]

  static let proofs = """
    CREATE TABLE table_a (
      transaction_id TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      receipt_data TEXT NOT NULL,
      createtime INTEGER NOT NULL,
      uuid TEXT,
      uid TEXT,
      data TEXT NOT NULL,
      create_type INTEGER NOT NULL,
      notify_type TEXT
    ) STRICT;

    -- What table A holds, so that a repeated upload does not fill it: a checksum of the row without its time.
    CREATE TABLE proof_digests (digest INTEGER PRIMARY KEY) STRICT;

    CREATE TABLE table_b (
      transaction_id TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      receipt TEXT NOT NULL,
      createtime INTEGER NOT NULL,
      updatetime INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE proof_origins (
      number INTEGER PRIMARY KEY,
      environment TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      told_at INTEGER NOT NULL,
      UNIQUE (environment, original_transaction_id)
    ) STRICT;

    """

  static let purchases = """
    CREATE TABLE table_c (
      uid TEXT,
      uuid TEXT,
      transaction_id TEXT NOT NULL,
      product_id TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      purchase_date_ms INTEGER NOT NULL,
      original_purchase_date_ms INTEGER,
      expires_date_ms INTEGER,
      cancellation_date_ms INTEGER,
      is_trial_period INTEGER,
      auto_renew_status INTEGER,
      web_order_line_item_id TEXT,
      is_in_intro_offer_period INTEGER,
      is_subscription INTEGER NOT NULL,
      createtime INTEGER NOT NULL,
      updatetime INTEGER NOT NULL,
      subscription_fee_status INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE purchase_facts (
      number INTEGER PRIMARY KEY,
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      purchased_at INTEGER NOT NULL,
      bundle_id TEXT,
      period_end INTEGER,
      is_upgraded INTEGER NOT NULL,
      ownership TEXT,
      group_id TEXT,
      account_token TEXT,
      told_at INTEGER NOT NULL,
      UNIQUE (environment, transaction_id, purchased_at)
    ) STRICT;

    CREATE TABLE renewals (
      environment TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      product_id TEXT,
      auto_renew_product_id TEXT,
      auto_renew_status INTEGER,
      expiration_intent INTEGER,
      is_in_billing_retry INTEGER,
      grace_period_expires INTEGER,
      price_increase_status INTEGER,
      told_at INTEGER NOT NULL,
      PRIMARY KEY (environment, original_transaction_id)
    ) STRICT, WITHOUT ROWID;

    """
}
