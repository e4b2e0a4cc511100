import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Writing tables A, B and C.
extension Connection {
  /// A row of table A, unless one like it is there.
  func insert(_ seen: SeenProof, _ statements: StatementCache) throws(SQLiteError) {
    let row: [SQLValue] = [
      .text(seen.transactionID), .text(seen.originalTransactionID), .text(seen.proof.data),
      .integer(seen.at.milliseconds), .text(seen.device?.uuidString), .text(seen.account),
      .text(seen.summary), .integer(seen.source.createType), .text(seen.source.notifyType),
    ]
    let parts = [
      seen.transactionID, seen.device?.uuidString, seen.account, seen.summary, "\(seen.source.createType)",
      seen.source.notifyType, seen.proof.data,
    ]
    let digest = Checksum.of(Array(parts.map { $0 ?? "" }.joined(separator: "\n").utf8))
    try statements.prepare(self, "INSERT OR IGNORE INTO proof_digests VALUES (?)").run([.integer(digest)])
    guard changes > 0 else { return }
    try statements.prepare(self, "INSERT INTO table_a VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").run(row)
  }

  /// The row of table B of a subscription.
  func put(_ newest: NewestProof, _ statements: StatementCache) throws(SQLiteError) {
    let number = try statements.prepare(
      self,
      """
      INSERT INTO proof_origins VALUES (NULL, ?, ?, ?, ?)
      ON CONFLICT (environment, original_transaction_id) DO UPDATE SET
        kind = excluded.kind, told_at = excluded.told_at
      RETURNING number
      """
    ).first(
      newest.chain.columns + [.text(newest.proof.kind.rawValue), .integer(newest.toldAt)],
      { $0.integer(0) })
    try statements.prepare(
      self,
      """
      INSERT OR REPLACE INTO table_b (
        rowid, transaction_id, original_transaction_id, receipt, createtime, updatetime)
      VALUES (?1, ?2, ?3, ?4, ifnull((SELECT createtime FROM table_b WHERE rowid = ?1), ?5), ?6)
      """
    ).run([
      .integer(number), .text(newest.transactionID), .text(newest.chain.originalTransactionID),
      .text(newest.proof.data), .integer(newest.createdAt.milliseconds),
      .integer(newest.updatedAt.milliseconds),
    ])
  }

  /// The row of table C of a transaction.
  func put(_ purchase: Purchase, _ statements: StatementCache) throws(SQLiteError) {
    let facts = purchase.facts
    let number = try statements.prepare(
      self,
      """
      INSERT INTO purchase_facts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (environment, transaction_id, purchased_at) DO UPDATE SET
        bundle_id = excluded.bundle_id, period_end = excluded.period_end,
        is_upgraded = excluded.is_upgraded, ownership = excluded.ownership, group_id = excluded.group_id,
        account_token = excluded.account_token, told_at = excluded.told_at
      RETURNING number
      """
    ).first(
      [
        .text(facts.environment.rawValue), .text(facts.transactionID),
        .integer(purchase.transaction.purchasedAt?.milliseconds ?? 0), .text(facts.bundleID),
        .integer(facts.expiresDate), .flag(facts.isUpgraded), .text(facts.ownership?.rawValue),
        .text(facts.groupID), .text(facts.appAccountToken), .integer(facts.toldAt),
      ], { $0.integer(0) })
    try statements.prepare(
      self,
      """
      INSERT OR REPLACE INTO table_c (
        rowid, uid, uuid, transaction_id, product_id, original_transaction_id, quantity, purchase_date_ms,
        original_purchase_date_ms, expires_date_ms, cancellation_date_ms, is_trial_period,
        auto_renew_status, web_order_line_item_id, is_in_intro_offer_period, is_subscription, createtime,
        updatetime, subscription_fee_status)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run([
      .integer(number), .text(purchase.account), .text(purchase.device?.uuidString),
      .text(facts.transactionID), .text(facts.productID), .text(facts.originalTransactionID),
      .integer(Int64(facts.quantity)), .integer(facts.purchaseDate), .integer(facts.originalPurchaseDate),
      .integer(facts.endsAt), .integer(facts.revocationDate), .flag(facts.isTrial),
      .flag(purchase.willAutoRenew), .text(facts.webOrderLineItemID), .flag(facts.isInIntroductoryOffer),
      .flag(purchase.isSubscription), .integer(purchase.createdAt.milliseconds),
      .integer(purchase.updatedAt.milliseconds), .integer(Int64(purchase.feeStatus.rawValue)),
    ])
  }

  /// What is known of a subscription's next renewal.
  func put(_ renewal: ChainRenewal, _ statements: StatementCache) throws(SQLiteError) {
    let said = renewal.renewal
    try statements.prepare(self, "INSERT OR REPLACE INTO renewals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
      renewal.chain.columns + [
        .text(said.productID), .text(said.autoRenewProductID), .flag(said.willAutoRenew),
        .integer(said.expirationIntent.map { Int64($0.rawValue) }), .flag(said.isInBillingRetry),
        .integer(said.gracePeriodExpiresDate),
        .integer(said.priceIncreaseStatus.map { Int64($0.rawValue) }), .integer(renewal.toldAt),
      ])
  }

  /// Table C follows the credits that a device's claim moves, as the model's rows do.
  func follow(_ claim: DeviceClaim, _ statements: StatementCache) throws(SQLiteError) {
    try statements.prepare(
      self,
      """
      UPDATE table_c SET uid = ?1, updatetime = ?4 WHERE uid IS NULL AND rowid IN (
        SELECT facts.number FROM credits JOIN purchase_facts AS facts
          ON facts.environment = credits.environment AND facts.transaction_id = credits.transaction_id
            AND facts.purchased_at = ifnull(credits.purchased_at, 0)
        WHERE credits.device = ?2 AND (credits.sequence <= ?3 OR credits.bought_at < ?4))
      """
    ).run([
      .text(claim.account), .text(claim.device.uuidString), .integer(Int64(claim.throughSequence)),
      .integer(claim.at.milliseconds),
    ])
  }
}

extension ChainKey {
  var columns: [SQLValue] { [.text(environment.rawValue), .text(originalTransactionID)] }
}

extension SQLValue {
  static func flag(_ value: Bool?) -> SQLValue { .integer(value.map { $0 ? 1 : 0 }) }
}
