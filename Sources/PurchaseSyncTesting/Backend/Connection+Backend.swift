import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The backend's changes in SQL.
extension Connection {
  /// Makes one change, within the transaction of its request.
  func insert(_ write: BackendWrite, _ statements: StatementCache) throws(SQLiteError) {
    switch write {
    case .order(let order): try BackendTables.orders.insert(order, self, statements)
    case .orderRemoved(let number):
      try statements.prepare(self, "DELETE FROM orders WHERE number = ?").run([.text(number)])
    case .credit(let credit): try BackendTables.credits.insert(credit, self, statements)
    case .creditMoved(let credit):
      try statements.prepare(
        self, "UPDATE credits SET account = ?, device = ?, order_number = ? WHERE sequence = ?"
      ).run([
        credit.owner.account.sql, credit.owner.device.sql, credit.orderNumber.sql, credit.sequence.sql,
      ])
    case .reversal(let reversal): try BackendTables.reversals.insert(reversal, self, statements)
    case .renewal(let renewal): try BackendTables.renewals.insert(renewal, self, statements)
    case .job(let run): try BackendTables.jobRuns.insert(run, self, statements)
    case .verdict(let verdict):
      try BackendTables.verdicts.insert(verdict, self, statements)
      try statements.prepare(
        self, "DELETE FROM verdicts WHERE rowid <= (SELECT max(rowid) FROM verdicts) - ?"
      ).run([.integer(Int64(BackendModel.keptVerdicts))])
    case .proof(let seen): try insert(seen, statements)
    case .newestProof(let newest):
      let number = try BackendTables.proofOrigins.insert(newest, self, statements)
      try BackendTables.newestProofs.insert(newest, row: number, self, statements)
    case .purchase(let purchase):
      let number = try BackendTables.purchaseFacts.insert(purchase, self, statements)
      try BackendTables.purchases.insert(purchase, row: number, self, statements)
    case .device(let record): try BackendTables.devices.insert(record, self, statements)
    case .adoption(let adoption):
      try BackendTables.adoptions.insert(adoption, self, statements)
      try follow(adoption, statements)
    }
  }

  /// Makes one change of the kept store.
  func write(_ row: StoreRowWrite, _ statements: StatementCache) throws(SQLiteError) {
    switch row {
    case .clear: try statements.prepare(self, "DELETE FROM store_rows").run()
    case .clearPart(let part):
      try statements.prepare(self, "DELETE FROM store_rows WHERE part = ?").run([.text(part)])
    case .put(let part, let key, let value):
      try statements.prepare(
        self,
        "INSERT INTO store_rows VALUES (?, ?, ?) ON CONFLICT (part, key) DO UPDATE SET value = excluded.value"
      ).run([.text(part), .text(key), .text(value)])
    case .remove(let part, let key):
      try statements.prepare(self, "DELETE FROM store_rows WHERE part = ? AND key = ?")
        .run([.text(part), .text(key)])
    }
  }

  /// Adds a row to table A, unless an equal one is there.
  private func insert(_ seen: SeenProof, _ statements: StatementCache) throws(SQLiteError) {
    let parts = [
      seen.transactionID, seen.device?.uuidString, seen.account, seen.summary,
      "\(seen.source.createType.rawValue)", seen.source.notifyType, seen.proof.data,
    ]
    let digest = Checksum.of(Array(parts.map { $0 ?? "" }.joined(separator: "\n").utf8))
    try statements.prepare(self, "INSERT OR IGNORE INTO proof_digests VALUES (?)").run([.integer(digest)])
    if changes > 0 { try BackendTables.seenProofs.insert(seen, self, statements) }
  }

  /// Moves the rows of table C with the credits that an adoption moves, as the model does.
  private func follow(_ adoption: AdoptionRecord, _ statements: StatementCache) throws(SQLiteError) {
    try statements.prepare(
      self,
      """
      UPDATE table_c SET uid = ?1, updatetime = ?4 WHERE uid IS NULL AND rowid IN (
        SELECT facts.number FROM credits JOIN purchase_facts AS facts
          ON facts.environment = credits.environment AND facts.transaction_id = credits.transaction_id
            AND facts.purchased_at = ifnull(credits.purchased_at, 0)
        WHERE credits.device = ?2 AND (credits.sequence <= ?3 OR credits.bought_at < ?4))
      """
    ).run([adoption.account.sql, adoption.device.sql, adoption.throughSequence.sql, adoption.at.sql])
  }

  /// Everything in the file, as the changes that lead to it. Without `holdingProofs` only the model's part, which has
  /// no proofs.
  func readWrites(holdingProofs: Bool) throws(BackendStoreError) -> [BackendWrite] {
    var writes = try BackendTables.orders.all(self).map(BackendWrite.order)
    writes += try BackendTables.credits.all(self).map(BackendWrite.credit)
    writes += try BackendTables.reversals.all(self).map(BackendWrite.reversal)
    writes += try BackendTables.purchases.all(self, joining: BackendTables.purchaseFacts)
      .map(BackendWrite.purchase)
    writes += try BackendTables.renewals.all(self).map {
      .renewal(ChainRenewal(chain: $0.chain, renewal: $0.renewal, toldAt: $0.toldAt))
    }
    writes += try BackendTables.newestProofs.all(
      self, joining: BackendTables.proofOrigins, hiding: holdingProofs ? [] : ["receipt"]
    ).map(BackendWrite.newestProof)
    if holdingProofs { writes += try BackendTables.seenProofs.all(self).map(BackendWrite.proof) }
    writes += try BackendTables.jobRuns.all(self).map(BackendWrite.job)
    writes += try BackendTables.adoptions.all(self).map(BackendWrite.adoption)
    writes += try BackendTables.devices.all(self).map(BackendWrite.device)
    writes += try BackendTables.verdicts.all(self).map(BackendWrite.verdict)
    return writes
  }

  /// The proof in table B of a subscription, or nil.
  func newestProof(of chain: ChainKey) throws(SQLiteError) -> ProofDocument? {
    try prepare(
      """
      SELECT o.kind, b.receipt FROM table_b AS b JOIN proof_origins AS o ON o.number = b.rowid
      WHERE o.environment = ? AND o.original_transaction_id = ?
      """
    ).first([chain.environment.sql, chain.originalTransactionID.sql]) {
      ProofDocument(kind: ProofKind(rawValue: $0.text(0)), data: $0.text(1))
    }
  }
}
