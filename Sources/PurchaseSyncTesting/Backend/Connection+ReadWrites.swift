import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

extension Connection {
  /// Everything in the file, as the changes that lead to it. Without `holdingProofs` only what the model keeps, which
  /// is no proof.
  func readWrites(holdingProofs: Bool) throws(BackendStoreError) -> [BackendWrite] {
    var writes = try rows("orders") { $0.order(0).map(BackendWrite.order) }
    writes += try rows("credits") { $0.credit(0).map(BackendWrite.credit) }
    writes += try rows("reversals") { row in
      .reversal(
        Reversal(
          transaction: row.transactionKey(0), at: row.timestamp(3), undoneAt: row.optionalTimestamp(4)))
    }
    writes += try readPurchases()
    writes += try readRenewals()
    writes += try readNewestProofs(holdingProofs: holdingProofs)
    if holdingProofs { writes += try readSeenProofs() }
    writes += try rows("job_runs") { row in
      .job(JobRun(at: row.timestamp(0), due: Int(row.integer(1)), unanswered: Int(row.integer(2))))
    }
    writes += try rows("device_claims") { $0.deviceClaim(0).map(BackendWrite.deviceClaim) }
    writes += try rows("verdicts") { $0.verdict(0).map(BackendWrite.verdict) }
    return writes
  }

  private func rows(
    _ table: String, _ read: (borrowing Row) -> BackendWrite?
  ) throws(BackendStoreError) -> [BackendWrite] {
    try rows(table, "SELECT * FROM \(table) ORDER BY rowid", read)
  }

  /// `read` gives nil for a row that this version did not write.
  func rows(
    _ table: String, _ sql: String, _ read: (borrowing Row) -> BackendWrite?
  ) throws(BackendStoreError) -> [BackendWrite] {
    let found: [BackendWrite?]
    do throws(SQLiteError) {
      found = try prepare(sql).all([], read)
    } catch {
      throw BackendStoreError(error)
    }
    var writes: [BackendWrite] = []
    for write in found {
      guard let write else { throw BackendStoreError(unreadable: "a row of \(table)") }
      writes.append(write)
    }
    return writes
  }
}

/// Each reads a value from the columns that `Connection.insert` wrote, beginning at `first`.
extension Row {
  func timestamp(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }

  func optionalTimestamp(_ column: Int32) -> Timestamp? {
    optionalInteger(column).map(Timestamp.init(milliseconds:))
  }

  func transactionKey(_ first: Int32) -> TransactionKey {
    var key = TransactionKey(
      environment: StoreEnvironment(rawValue: text(first)), transactionID: text(first + 1),
      purchasedAt: timestamp(first + 2))
    key.purchasedAt = optionalTimestamp(first + 2)
    return key
  }

  func uploader(_ first: Int32) -> Uploader? {
    if let account = optionalText(first) { return .account(account) }
    return UUID(uuidString: text(first + 1)).map(Uploader.device)
  }

  func order(_ first: Int32) -> BackendOrder? {
    guard let token = UUID(uuidString: text(first + 3)) else { return nil }
    return BackendOrder(
      number: text(first), account: text(first + 1), idempotencyKey: text(first + 2), accountToken: token,
      productID: text(first + 4), quantity: Int(integer(first + 5)),
      state: OrderState(rawValue: text(first + 6)), createdAt: timestamp(first + 7),
      expiresAt: optionalTimestamp(first + 8),
      fulfilledBy: isNull(first + 9) ? nil : transactionKey(first + 9))
  }

  func credit(_ first: Int32) -> Credit? {
    guard let owner = uploader(first + 5), let cause = Credit.Cause(rawValue: text(first + 9)) else {
      return nil
    }
    return Credit(
      sequence: Int(integer(first)), transaction: transactionKey(first + 1),
      orderNumber: optionalText(first + 4),
      owner: owner, productID: text(first + 7), quantity: Int(integer(first + 8)), cause: cause,
      at: timestamp(first + 10), expiresAt: optionalTimestamp(first + 11),
      purchasedAt: optionalTimestamp(first + 12))
  }

  func deviceClaim(_ first: Int32) -> DeviceClaim? {
    guard let device = UUID(uuidString: text(first)) else { return nil }
    return DeviceClaim(
      device: device, account: text(first + 1), throughSequence: Int(integer(first + 2)),
      at: timestamp(first + 3))
  }

  func verdict(_ first: Int32) -> RecordedVerdict? {
    guard let uploader = uploader(first + 5) else { return nil }
    return RecordedVerdict(
      environment: text(first), transactionID: text(first + 1), verdict: Verdict(rawValue: text(first + 2)),
      orderNumber: optionalText(first + 3), reason: optionalText(first + 4), uploader: uploader,
      at: timestamp(first + 7), storeStatus: optionalInteger(first + 8).map { Int($0) })
  }
}
