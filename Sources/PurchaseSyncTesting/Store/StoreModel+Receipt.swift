import AppStoreReceipts
package import PurchaseQueue

/// The app receipt of one store account, as the file lies on its devices.
struct ReceiptFile: Sendable, Hashable, Codable {
  var createdAt: Timestamp
  /// The number of the store's transactions when the file was written: later ones are not in it. Those that changed
  /// since are in it as they were, see ``StoreModel/writtenRecords``.
  var end = 0
  /// The transactions that a reading does not show yet.
  var lacking: [String: Lack] = [:]
  /// Whether the file lacks changes, so that the next writing reads all transactions.
  var isStale = true
  var refreshedAt: Timestamp?
  /// What the last reading showed.
  var last: Reading?

  struct Reading: Sendable, Hashable, Codable {
    var records: [StoreTransactionRecord]
    var createdAt: Timestamp
    var bytes: [UInt8]
  }

  enum Lack: Sendable, Hashable, Codable {
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
struct IssuedProofs: Sendable, Hashable, Codable {
  private struct Present: Sendable, Hashable, Codable {}

  private var digests = StoreRows<UInt64, Present>()

  mutating func insert(_ bytes: [UInt8]) {
    let digest = Self.digest(bytes)
    if digests[digest] == nil { digests[digest] = Present() }
  }

  func contains(_ bytes: [UInt8]) -> Bool { digests[Self.digest(bytes)] != nil }

  mutating func forgetChanges() { digests.forgetChanges() }

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
    let shown = written(file, of: storeAccount).filter { file.lacking[$0.transactionID] == nil }
    file.countReading()
    if receiptFiles[storeAccount] != file { receiptFiles[storeAccount] = file }
    return signedReceipt(of: shown, storeAccount: storeAccount, createdAt: file.createdAt)
  }

  /// An app receipt. The last one is kept, because the same content is read often and an RSA signature takes long.
  private mutating func signedReceipt(
    of records: [StoreTransactionRecord], storeAccount: String, createdAt: Timestamp
  ) -> [UInt8] {
    if faults.brokenProofs == nil, let last = receiptFiles[storeAccount]?.last, last.records == records,
      last.createdAt == createdAt
    {
      return last.bytes
    }
    let bytes = signer.appReceipt(of: records, receiptType: receiptType, createdAt: createdAt)
    guard faults.brokenProofs == nil else { return bytes }
    issued.insert(bytes)
    if forge.signing != .checksum {
      receiptFiles[storeAccount]?.last = ReceiptFile.Reading(
        records: records, createdAt: createdAt, bytes: bytes)
    }
    return bytes
  }

  /// The app receipt as ``receipt(storeAccount:now:)`` shows it, with a defect: no reading, and no receipt of this store.
  package func brokenReceipt(_ defect: BrokenProof, storeAccount: String?, now: Timestamp) -> [UInt8]? {
    receipt(by: forge.breaking(defect), storeAccount: storeAccount, now: now)
  }

  /// The same as the store issues it for another app: genuine, and not this app's.
  package mutating func receipt(
    ofApp bundleID: String, storeAccount: String?, now: Timestamp
  ) -> [UInt8]? {
    let bytes = receipt(by: forge.forApp(bundleID), storeAccount: storeAccount, now: now)
    if let bytes { issued.insert(bytes) }
    return bytes
  }

  private func receipt(by forge: ReceiptForge, storeAccount: String?, now: Timestamp) -> [UInt8]? {
    guard let storeAccount, let file = receiptFiles[storeAccount] ?? downloaded(now: now) else { return nil }
    return forge.appReceipt(
      of: written(file, of: storeAccount).filter { file.lacking[$0.transactionID] == nil },
      receiptType: receiptType,
      createdAt: file.createdAt)
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
      receiptFiles[record.storeAccount]?.end = log.count
    }
    writeReceipt(record.storeAccount, now: now)
  }

  /// Marks the file as stale, so that the next writing includes a charge that the store made by itself.
  mutating func foreseeReceipt(with record: StoreTransactionRecord) {
    if receiptFiles[record.storeAccount]?.isStale == false {
      receiptFiles[record.storeAccount]?.isStale = true
    }
  }

  /// Writes the file of a store account again, if there is one.
  mutating func writeReceipt(_ storeAccount: String, now: Timestamp) {
    guard var file = receiptFiles[storeAccount] else { return }
    file.createdAt = now
    if file.isStale {
      let before = log.receipts[storeAccount] ?? []
      for position in before where writtenRecords[position] != nil { writtenRecords[position] = nil }
      log.hold(before.filter { !isSpent(log[$0]) }, for: storeAccount)
      file.end = log.count
      file.isStale = false
    }
    receiptFiles[storeAccount] = file
  }

  /// The transactions in the file, as they were when it was written.
  private func written(_ file: ReceiptFile, of storeAccount: String) -> [StoreTransactionRecord] {
    (log.receipts[storeAccount] ?? []).filter { $0 < file.end }
      .map { writtenRecords[$0] ?? log[$0] }.filter { !isSpent($0) }
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
