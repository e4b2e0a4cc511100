import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

extension Connection {
  /// Makes one change, within the transaction of its request.
  func insert(_ write: BackendWrite, _ statements: StatementCache) throws(SQLiteError) {
    switch write {
    case .order(let order): try put(order, statements)
    case .credit(let credit):
      try statements.prepare(self, "INSERT INTO credits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
        [.integer(Int64(credit.sequence))] + credit.transaction.columns + [.text(credit.orderNumber)]
          + credit.owner.columns + [
            .text(credit.productID), .integer(Int64(credit.quantity)), .text(credit.cause.rawValue),
            .integer(credit.at.milliseconds), .integer(credit.expiresAt?.milliseconds),
            .integer(credit.purchasedAt?.milliseconds),
          ])
    case .reversal(let reversal):
      try statements.prepare(
        self,
        """
        INSERT INTO reversals VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (environment, transaction_id, ifnull(purchased_at, 0))
          DO UPDATE SET at = excluded.at, undone_at = excluded.undone_at
        """
      ).run(
        reversal.transaction.columns + [
          .integer(reversal.at.milliseconds), .integer(reversal.undoneAt?.milliseconds),
        ])
    case .purchase(let purchase): try put(purchase, statements)
    case .renewal(let renewal): try put(renewal, statements)
    case .proof(let seen): try insert(seen, statements)
    case .newestProof(let newest): try put(newest, statements)
    case .job(let run):
      try statements.prepare(self, "INSERT INTO job_runs VALUES (?, ?, ?)").run([
        .integer(run.at.milliseconds), .integer(Int64(run.due)), .integer(Int64(run.unanswered)),
      ])
    case .deviceClaim(let claim):
      try statements.prepare(self, "INSERT INTO device_claims VALUES (?, ?, ?, ?)").run([
        .text(claim.device.uuidString), .text(claim.account), .integer(Int64(claim.throughSequence)),
        .integer(claim.at.milliseconds),
      ])
      try follow(claim, statements)
    case .verdict(let verdict):
      try statements.prepare(self, "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
        [
          .text(verdict.environment), .text(verdict.transactionID), .text(verdict.verdict.rawValue),
          .text(verdict.orderNumber), .text(verdict.reason),
        ] + verdict.uploader.columns + [
          .integer(verdict.at.milliseconds), .integer(verdict.storeStatus.map(Int64.init)),
        ])
    }
  }

  private func put(_ order: BackendOrder, _ statements: StatementCache) throws(SQLiteError) {
    // Only state and binding ever change; the place in the table, which is the order's age, does not.
    let statement = try statements.prepare(
      self,
      """
      INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (number) DO UPDATE SET state = excluded.state,
        fulfilled_environment = excluded.fulfilled_environment,
        fulfilled_transaction = excluded.fulfilled_transaction,
        fulfilled_purchased_at = excluded.fulfilled_purchased_at
      """)
    try statement.run(
      [
        .text(order.number), .text(order.account), .text(order.idempotencyKey),
        .text(order.accountToken.uuidString), .text(order.productID), .integer(Int64(order.quantity)),
        .text(order.state.rawValue), .integer(order.createdAt.milliseconds),
        .integer(order.expiresAt?.milliseconds),
      ] + (order.fulfilledBy?.columns ?? [.null, .null, .null]))
  }
}

/// As values, not as methods of the connection: a reference to a method would capture a type that cannot be copied.
extension TransactionKey {
  fileprivate var columns: [SQLValue] {
    [.text(environment.rawValue), .text(transactionID), .integer(purchasedAt?.milliseconds)]
  }
}

extension Uploader {
  fileprivate var columns: [SQLValue] {
    switch self {
    case .account(let account): [.text(account), .null]
    case .device(let device): [.null, .text(device.uuidString)]
    }
  }
}
