import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Reading tables A, B and C.
extension Connection {
  /// Table C, as the changes that lead to it.
  func readPurchases() throws(BackendStoreError) -> [BackendWrite] {
    try rows(
      "table_c",
      """
      SELECT c.uid, c.uuid, c.product_id, c.original_transaction_id, c.quantity, c.purchase_date_ms,
        c.original_purchase_date_ms, c.cancellation_date_ms, c.is_trial_period, c.auto_renew_status,
        c.web_order_line_item_id, c.is_in_intro_offer_period, c.createtime, c.updatetime,
        c.subscription_fee_status, f.environment, f.transaction_id, f.bundle_id, f.period_end,
        f.is_upgraded, f.ownership, f.group_id, f.account_token, f.told_at
      FROM table_c AS c JOIN purchase_facts AS f ON f.number = c.rowid ORDER BY c.rowid
      """
    ) { $0.purchase().map(BackendWrite.purchase) }
  }

  /// What is known of renewals, as the changes that lead to it.
  func readRenewals() throws(BackendStoreError) -> [BackendWrite] {
    try rows("renewals", "SELECT * FROM renewals") { .renewal($0.renewal()) }
  }

  /// Table B. Without `holdingProofs` in outline, for the model, which keeps no proofs.
  func readNewestProofs(holdingProofs: Bool) throws(BackendStoreError) -> [BackendWrite] {
    try rows(
      "table_b",
      """
      SELECT o.environment, o.original_transaction_id, o.kind, o.told_at, b.transaction_id, b.createtime,
        b.updatetime, \(holdingProofs ? "b.receipt" : "''")
      FROM table_b AS b JOIN proof_origins AS o ON o.number = b.rowid ORDER BY b.rowid
      """
    ) { .newestProof($0.newestProof()) }
  }

  /// Table A.
  func readSeenProofs() throws(BackendStoreError) -> [BackendWrite] {
    try rows("table_a", "SELECT * FROM table_a ORDER BY rowid") { $0.seenProof().map(BackendWrite.proof) }
  }

  /// The proof in table B of a subscription, or nil.
  func newestProof(of chain: ChainKey) throws(SQLiteError) -> ProofDocument? {
    try prepare(
      """
      SELECT o.kind, b.receipt FROM table_b AS b JOIN proof_origins AS o ON o.number = b.rowid
      WHERE o.environment = ? AND o.original_transaction_id = ?
      """
    ).first(chain.columns) { ProofDocument(kind: ProofKind(rawValue: $0.text(0)), data: $0.text(1)) }
  }
}

extension Row {
  fileprivate func optionalFlag(_ column: Int32) -> Bool? { optionalInteger(column).map { $0 != 0 } }

  fileprivate func chain(_ first: Int32) -> ChainKey {
    ChainKey(
      environment: StoreEnvironment(rawValue: text(first)), originalTransactionID: text(first + 1))
  }

  fileprivate func purchase() -> Purchase? {
    guard let status = Purchase.FeeStatus(rawValue: Int(integer(14))) else { return nil }
    var facts = VerifiedTransaction(
      transactionID: text(16), environment: StoreEnvironment(rawValue: text(15)), productID: text(2),
      quantity: Int(integer(4)), purchaseDate: integer(5), toldAt: integer(23))
    facts.originalTransactionID = text(3)
    facts.originalPurchaseDate = optionalInteger(6)
    facts.revocationDate = optionalInteger(7)
    facts.isTrial = optionalFlag(8)
    facts.webOrderLineItemID = optionalText(10)
    facts.isInIntroductoryOffer = optionalFlag(11)
    facts.bundleID = optionalText(17)
    facts.expiresDate = optionalInteger(18)
    facts.isUpgraded = flag(19)
    facts.ownership = optionalText(20).map(OwnershipType.init(rawValue:))
    facts.groupID = optionalText(21)
    facts.appAccountToken = optionalText(22)
    var purchase = Purchase(facts, at: timestamp(12))
    purchase.account = optionalText(0)
    purchase.device = optionalText(1).flatMap { UUID(uuidString: $0) }
    purchase.willAutoRenew = optionalFlag(9)
    purchase.updatedAt = timestamp(13)
    purchase.feeStatus = status
    return purchase
  }

  fileprivate func renewal() -> ChainRenewal {
    var said = SubscriptionRenewal()
    said.productID = optionalText(2)
    said.autoRenewProductID = optionalText(3)
    said.willAutoRenew = optionalFlag(4)
    said.expirationIntent = optionalInteger(5).map { ExpirationIntent(rawValue: Int($0)) }
    said.isInBillingRetry = optionalFlag(6)
    said.gracePeriodExpiresDate = optionalInteger(7)
    said.priceIncreaseStatus = optionalInteger(8).map { PriceIncreaseStatus(rawValue: Int($0)) }
    return ChainRenewal(chain: chain(0), renewal: said, toldAt: integer(9))
  }

  fileprivate func newestProof() -> NewestProof {
    NewestProof(
      chain: chain(0), transactionID: text(4),
      proof: ProofDocument(kind: ProofKind(rawValue: text(2)), data: text(7)), toldAt: integer(3),
      createdAt: timestamp(5), updatedAt: timestamp(6))
  }

  fileprivate func seenProof() -> SeenProof? {
    let source: KnowledgeSource
    switch integer(7) {
    case 1: source = .upload
    case 2: source = .job
    case 3: source = .notification(text(8))
    default: return nil
    }
    return SeenProof(
      transactionID: text(0), originalTransactionID: text(1),
      proof: ProofDocument(kind: BackendModel.kind(of: text(2)), data: text(2)), at: timestamp(3),
      device: optionalText(4).flatMap { UUID(uuidString: $0) }, account: optionalText(5), summary: text(6),
      source: source)
  }
}
