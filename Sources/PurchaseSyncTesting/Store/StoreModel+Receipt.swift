import AppStoreReceipts
package import PurchaseQueue

/// The app receipt of one store account, as the file lies on its devices.
struct ReceiptFile: Sendable, Hashable {
  var createdAt: Timestamp
  /// The transactions as they were when the file was written: what happened since is not in it.
  var records: [StoreTransactionRecord] = []
  /// The transactions that a reading does not show yet.
  var lacking: [String: Lack] = [:]
  /// Whether the file lacks changes, so that the next writing reads all transactions.
  var isStale = true
  var refreshedAt: Timestamp?

  enum Lack: Sendable, Hashable {
    case readings(Int)
    case untilRefresh
  }

  /// Counts one reading.
  mutating func countReading() {
    for (transactionID, lack) in lacking {
      guard case .readings(let left) = lack else { continue }
      lacking[transactionID] = left > 1 ? .readings(left - 1) : nil
    }
  }
}

/// Digests of the issued receipts. Nothing in an app receipt proves that this store issued it.
struct IssuedProofs: Sendable, Hashable {
  private var digests: Set<UInt64> = []

  mutating func insert(_ bytes: [UInt8]) { digests.insert(Self.digest(bytes)) }

  func contains(_ bytes: [UInt8]) -> Bool { digests.contains(Self.digest(bytes)) }

  /// FNV-1a. It distinguishes the model's own receipts and protects nothing.
  private static func digest(_ bytes: [UInt8]) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes {
      hash ^= UInt64(byte)
      hash &*= 0x0000_0100_0000_01B3
    }
    return hash
  }
}

extension StoreModel {
  /// Reads the app receipt of a store account without a prompt. Nil without a signed-in account, and in the sandbox
  /// before the first purchase or refresh.
  ///
  /// A purchase and a refresh write the file; a reading does not. Finished consumables stay in it until the next
  /// writing, other products for ever (StoreFacts a.4).
  package mutating func receipt(storeAccount: String?, now: Timestamp) -> [UInt8]? {
    guard let storeAccount else { return nil }
    advance(to: now)
    receiptReadings += 1
    guard var file = receiptFiles[storeAccount] ?? downloaded(now: now) else { return nil }
    let shown = file.records.filter { file.lacking[$0.transactionID] == nil }
    file.countReading()
    receiptFiles[storeAccount] = file
    let bytes = forge.appReceipt(of: shown, receiptType: receiptType, createdAt: file.createdAt)
    issued.insert(bytes)
    return bytes
  }

  /// Fetches a new app receipt, which prompts for a password.
  ///
  /// Throws `refreshFailed` for a planned fault. A throttled refresh returns the unchanged file.
  package mutating func refreshReceipt(
    storeAccount: String?, now: Timestamp
  ) throws(StoreModelError) -> [UInt8]? {
    prompts += 1
    guard let storeAccount else { throw .noStoreAccount }
    advance(to: now)
    if faults.failingRefreshes > 0 {
      faults.failingRefreshes -= 1
      throw .refreshFailed
    }
    var file = receiptFiles[storeAccount] ?? ReceiptFile(createdAt: now)
    let isThrottled = file.refreshedAt.map {
      now < $0.adding(milliseconds: faults.refreshInterval.inMilliseconds)
    }
    if isThrottled != true {
      file.refreshedAt = now
      file.lacking = file.lacking.filter { $0.value != .untilRefresh }
      file.isStale = true
      receiptFiles[storeAccount] = file
      writeReceipt(storeAccount, now: now)
    }
    return receipt(storeAccount: storeAccount, now: now)
  }

  /// Writes the file again after a purchase, with the purchase in it.
  mutating func updateReceipt(with record: StoreTransactionRecord, now: Timestamp) {
    if receiptFiles[record.storeAccount] == nil {
      receiptFiles[record.storeAccount] = ReceiptFile(createdAt: now)
    }
    if faults.lackedPurchases > 0 {
      faults.lackedPurchases -= 1
      receiptFiles[record.storeAccount]?.lacking[record.transactionID] =
        faults.lackingReadings.map { .readings(max(1, $0)) } ?? .untilRefresh
    }
    if receiptFiles[record.storeAccount]?.isStale == false {
      receiptFiles[record.storeAccount]?.records.append(record)
    }
    writeReceipt(record.storeAccount, now: now)
  }

  /// Marks the file as stale, so that the next writing includes a charge that the store made by itself.
  mutating func foreseeReceipt(with record: StoreTransactionRecord) {
    receiptFiles[record.storeAccount]?.isStale = true
  }

  /// Writes the file of a store account again, if there is one.
  mutating func writeReceipt(_ storeAccount: String, now: Timestamp) {
    guard var file = receiptFiles[storeAccount] else { return }
    file.createdAt = now
    if file.isStale {
      let held = (receiptPositions[storeAccount] ?? []).filter { !isSpent(transactions[$0]) }
      receiptPositions[storeAccount] = held
      file.records = held.map { transactions[$0] }
      file.isStale = false
    }
    receiptFiles[storeAccount] = file
  }

  /// Whether it is a finished consumable: those leave the receipt for ever.
  func isSpent(_ record: StoreTransactionRecord) -> Bool { record.kind == .consumable && record.isFinished }

  /// In production, the download of the app includes a receipt.
  private func downloaded(now: Timestamp) -> ReceiptFile? {
    environment == .production ? ReceiptFile(createdAt: now) : nil
  }

  var receiptType: String {
    switch environment {
    case .production: "Production"
    case .sandbox: "ProductionSandbox"
    default: environment.rawValue
    }
  }
}
