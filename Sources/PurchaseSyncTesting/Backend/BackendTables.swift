import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

extension StoreEnvironment: ColumnValue {}
extension OrderState: ColumnValue {}
extension Verdict: ColumnValue {}
extension PurchaseOwner: ColumnValue {}
extension ProofKind: ColumnValue {}
extension TransactionReason: ColumnValue {}
extension OwnershipType: ColumnValue {}
extension ExpirationIntent: ColumnValue {}
extension PriceIncreaseStatus: ColumnValue {}
extension Credit.Cause: ColumnValue {}
extension Purchase.FeeStatus: ColumnValue {}
extension KnowledgeSource.CreateType: ColumnValue {}

/// The tables of the backend's file.
///
/// Tables A, B and C (R3.5 to R3.7) have exactly their columns; further facts of a row are in a table next to each,
/// under the row's number. Moments are milliseconds since 1970, UUIDs upper case text.
enum BackendTables {
  /// 9: seats. 8: bundles. 7: shares of refunds. 6: the store, and the file's mark. 5: ledger lines that change their owner. 4: devices with secrets, owners of verdicts, reasons. 3: tables A, B and C.
  /// Files of earlier versions are refused: they hold test data that is made again in a moment.
  static let version: Int64 = 9

  static let schema =
    """
    CREATE TABLE identity (
      bundle_id TEXT NOT NULL, seed INTEGER NOT NULL, restorations INTEGER NOT NULL,
      -- How many blocks of transaction ids were given to stores, so that no id is given twice.
      id_blocks INTEGER NOT NULL
    ) STRICT;
    -- The store: its rows by part and key, and a document of the rest.
    CREATE TABLE store_rows (
      part TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, key)
    ) STRICT, WITHOUT ROWID;
    -- The rows of table A, so that a repeated upload adds none: a checksum of each row without its time.
    CREATE TABLE proof_digests (digest INTEGER PRIMARY KEY) STRICT;
    """ + orders.schema + credits.schema + reversals.schema + adoptions.schema + devices.schema
    + jobRuns.schema
    + verdicts.schema + seenProofs.schema + newestProofs.schema + proofOrigins.schema + purchases.schema
    + purchaseFacts.schema + renewals.schema
      + """
      CREATE INDEX credits_by_device ON credits (device) WHERE device IS NOT NULL;
      CREATE UNIQUE INDEX reversals_by_key
        ON reversals (environment, transaction_id, ifnull(purchased_at, 0));
      PRAGMA application_id=\(BackendFile.applicationID);
      PRAGMA user_version=\(version);
      """

  /// The tables that a restored backup replaces, so ordered that no row refers to a missing one. `verdicts` is not
  /// among them: it is the log of the tests.
  static let restored = [
    "orders", "credits", "reversals", "device_adoptions", "devices", "job_runs", "proof_digests", "table_a",
    "proof_origins", "table_b", "purchase_facts", "table_c", "renewals",
  ]

  // Parts of the records that rows are read into.
  private static let zero = Timestamp(milliseconds: 0)
  private static let noDevice = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  private static let noProof = ProofDocument(kind: .appReceipt, data: "")
  private static let key = TransactionKey(environment: .production, transactionID: "", purchasedAt: zero)
  private static let chain = ChainKey(environment: .production, originalTransactionID: "")
  private static let newestProof = NewestProof(
    chain: chain, transactionID: "", proof: noProof, toldAt: 0, createdAt: zero, updatedAt: zero)
  private static let purchase = Purchase(
    VerifiedTransaction(
      transactionID: "", environment: .production, productID: "", quantity: 0, purchaseDate: 0, toldAt: 0),
    at: zero)

  /// The transaction that fulfilled an order.
  private static let fulfilment: [Column<BackendOrder>] = [
    Column(
      "fulfilled_environment", get: { $0.fulfilledBy?.environment },
      set: { order, environment in
        order.fulfilledBy = environment.map {
          TransactionKey(environment: $0, transactionID: "", purchasedAt: zero)
        }
      }),
    Column(
      "fulfilled_transaction", get: { $0.fulfilledBy?.transactionID },
      set: { $0.fulfilledBy?.transactionID = $1 ?? "" }),
    Column(
      "fulfilled_purchased_at", get: { $0.fulfilledBy?.purchasedAt },
      set: { $0.fulfilledBy?.purchasedAt = $1 }),
  ]

  /// Only state and binding of an order change.
  static let orders = BackendTable<BackendOrder>(
    "orders",
    blank: BackendOrder(
      number: "", account: "", idempotencyKey: "", accountToken: noDevice, productID: "", quantity: 0,
      createdAt: zero), constraints: ["UNIQUE (account, idempotency_key)"], key: "number",
    kept: [
      "number", "account", "idempotency_key", "account_token", "product_id", "quantity", "created_at",
      "expires_at",
    ],
    [
      Column("number", \.number, "UNIQUE"), Column("account", \.account),
      Column("idempotency_key", \.idempotencyKey), Column("account_token", \.accountToken),
      Column("product_id", \.productID), Column("quantity", \.quantity), Column("state", \.state),
      Column("created_at", \.createdAt), Column("expires_at", \.expiresAt),
    ] + fulfilment)

  /// Without a constraint on transaction or order, so that a doubled credit shows.
  static let credits = BackendTable<Credit>(
    "credits",
    blank: Credit(
      sequence: 0, transaction: key, owner: .device(noDevice), productID: "", quantity: 0, cause: .granted,
      at: zero),
    isValid: { $0.owner != .device(noDevice) },
    [
      Column("sequence", \.sequence), Column("environment", \.transaction.environment),
      Column("transaction_id", \.transaction.transactionID),
      Column("purchased_at", \.transaction.purchasedAt), Column("order_number", \.orderNumber),
      Column("account", \.owner.account), Column("device", \.owner.device),
      Column("product_id", \.productID), Column("quantity", \.quantity), Column("cause", \.cause),
      Column("at", \.at), Column("expires_at", \.expiresAt), Column("bought_at", \.purchasedAt),
    ])

  static let reversals = BackendTable<Reversal>(
    "reversals", blank: Reversal(transaction: key, at: zero),
    key: "environment, transaction_id, ifnull(purchased_at, 0)",
    [
      Column("environment", \.transaction.environment),
      Column("transaction_id", \.transaction.transactionID),
      Column("purchased_at", \.transaction.purchasedAt), Column("at", \.at),
      Column("undone_at", \.undoneAt), Column("share", \.share), Column("units", \.units),
    ])

  static let adoptions = BackendTable<AdoptionRecord>(
    "device_adoptions",
    blank: AdoptionRecord(device: noDevice, account: "", throughSequence: 0, at: zero),
    [
      Column("device", \.device), Column("account", \.account),
      Column("through_sequence", \.throughSequence), Column("at", \.at),
    ])

  static let devices = BackendTable<DeviceRecord>(
    "devices", blank: DeviceRecord(device: noDevice, secret: ""),
    [Column("device", \.device, "UNIQUE"), Column("secret", \.secret)])

  static let jobRuns = BackendTable<JobRun>(
    "job_runs", blank: JobRun(at: zero, due: 0, unanswered: 0),
    [Column("at", \.at), Column("due", \.due), Column("unanswered", \.unanswered)])

  static let verdicts = BackendTable<RecordedVerdict>(
    "verdicts",
    blank: RecordedVerdict(
      environment: "", transactionID: "", verdict: .pending, uploader: .device(noDevice), at: zero),
    isValid: { $0.uploader != .device(noDevice) },
    [
      Column("environment", \.environment), Column("transaction_id", \.transactionID),
      Column("verdict", \.verdict), Column("owner", \.owner), Column("order_number", \.orderNumber),
      Column("reason", \.reason),
      Column("account", \.uploader.account), Column("device", \.uploader.device), Column("at", \.at),
      Column("store_status", \.storeStatus),
    ])

  /// Table A.
  static let seenProofs = BackendTable<SeenProof>(
    "table_a",
    blank: SeenProof(
      transactionID: "", originalTransactionID: "", proof: noProof, at: zero, summary: "", source: .upload),
    [
      Column("transaction_id", \.transactionID),
      Column("original_transaction_id", \.originalTransactionID),
      Column(
        "receipt_data", get: { $0.proof.data },
        set: { $0.proof = ProofDocument(kind: BackendModel.kind(of: $1), data: $1) }),
      Column("createtime", \.at), Column("uuid", \.device), Column("uid", \.account),
      Column("data", \.summary), Column("create_type", \.source.createType),
      Column("notify_type", \.source.notifyType),
    ])

  /// Table B. A newer proof keeps the time of the first one.
  static let newestProofs = BackendTable<NewestProof>(
    "table_b", blank: newestProof, key: "rowid", kept: ["createtime"],
    [
      Column("transaction_id", \.transactionID),
      .derived("original_transaction_id") { $0.chain.originalTransactionID },
      Column("receipt", \.proof.data), Column("createtime", \.createdAt), Column("updatetime", \.updatedAt),
    ])

  static let proofOrigins = BackendTable<NewestProof>(
    "proof_origins", blank: newestProof, number: "number",
    constraints: ["UNIQUE (environment, original_transaction_id)"],
    key: "environment, original_transaction_id",
    [
      Column("environment", \.chain.environment),
      Column("original_transaction_id", \.chain.originalTransactionID), Column("kind", \.proof.kind),
      Column("told_at", \.toldAt),
    ])

  /// Table C.
  static let purchases = BackendTable<Purchase>(
    "table_c", blank: purchase, key: "rowid",
    [
      Column("uid", \.account), Column("uuid", \.device), Column("transaction_id", \.facts.transactionID),
      Column("product_id", \.facts.productID),
      Column("original_transaction_id", \.facts.originalTransactionID),
      Column("quantity", \.facts.quantity), Column("purchase_date_ms", \.facts.purchaseDate),
      Column("original_purchase_date_ms", \.facts.originalPurchaseDate),
      .derived("expires_date_ms") { $0.facts.endsAt },
      Column("cancellation_date_ms", \.facts.revocationDate), Column("is_trial_period", \.facts.isTrial),
      Column("auto_renew_status", \.willAutoRenew),
      Column("web_order_line_item_id", \.facts.webOrderLineItemID),
      Column("is_in_intro_offer_period", \.facts.isInIntroductoryOffer),
      .derived("is_subscription") { $0.isSubscription }, Column("createtime", \.createdAt),
      Column("updatetime", \.updatedAt), Column("subscription_fee_status", \.feeStatus),
    ])

  static let purchaseFacts = BackendTable<Purchase>(
    "purchase_facts", blank: purchase, number: "number",
    constraints: ["UNIQUE (environment, transaction_id, purchased_at)"],
    key: "environment, transaction_id, purchased_at",
    [
      Column("environment", \.facts.environment), Column("transaction_id", \.facts.transactionID),
      .derived("purchased_at") { $0.transaction.purchasedAt?.milliseconds ?? 0 },
      Column("bundle_id", \.facts.bundleID), Column("is_consumable", \.facts.isConsumable),
      Column("period_end", \.facts.expiresDate), Column("refunded_share", \.facts.refundedShare),
      Column("share_told_at", \.facts.shareToldAt),
      Column("revoked_seats", \.facts.revokedSeats), Column("seats_told_at", \.facts.seatsToldAt),
      Column("is_one_of_several", \.facts.isOneOfSeveral),
      Column("is_upgraded", \.facts.isUpgraded), Column("ownership", \.facts.ownership),
      Column("is_upgraded_to_bundle", \.facts.isUpgradedToBundle),
      Column("bundle_product_id", \.facts.bundleProductID), Column("bundle_group_id", \.facts.bundleGroupID),
      Column("bundle_transaction_id", \.facts.bundleTransactionID),
      Column("bundle_original_transaction_id", \.facts.bundleOriginalTransactionID),
      Column("group_id", \.facts.groupID), Column("reason", \.facts.reason),
      Column("account_token", \.facts.appAccountToken),
      Column("told_at", \.facts.toldAt),
    ])

  static let renewals = BackendTable<ChainRenewal>(
    "renewals", blank: ChainRenewal(chain: chain, renewal: SubscriptionRenewal(), toldAt: 0),
    constraints: ["PRIMARY KEY (environment, original_transaction_id)"], options: "STRICT, WITHOUT ROWID",
    key: "environment, original_transaction_id",
    [
      Column("environment", \.chain.environment),
      Column("original_transaction_id", \.chain.originalTransactionID),
      Column("product_id", \.renewal.productID),
      Column("auto_renew_product_id", \.renewal.autoRenewProductID),
      Column("auto_renew_status", \.renewal.willAutoRenew),
      Column("expiration_intent", \.renewal.expirationIntent),
      Column("is_in_billing_retry", \.renewal.isInBillingRetry),
      Column("grace_period_expires", \.renewal.gracePeriodExpiresDate),
      Column("price_increase_status", \.renewal.priceIncreaseStatus),
      Column("will_unbundle", \.renewal.willUnbundle), Column("renewal_seats", \.renewal.seats),
      Column("told_at", \.toldAt),
    ])
}
