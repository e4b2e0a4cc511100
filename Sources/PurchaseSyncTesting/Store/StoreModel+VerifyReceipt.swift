package import AppStoreDocuments
package import AppStoreReceipts
package import Foundation
package import PurchaseQueue

/// `verifyReceipt` of both environments, in both styles (StoreFacts a; R1, R2).
extension StoreModel {
  /// The answer to a posted body; every body has one.
  ///
  /// A body that is no JSON object is answered 21000, a request without readable `receipt-data` 21002 (R1.1).
  package mutating func verifyReceipt(
    body: Data, host: StoreEnvironment, now: Timestamp
  ) -> JSONValue {
    let answers = VerifyReceiptForge(bundleID: forge.bundleID, environment: environment)
    do throws(ReceiptDecodingError) {
      guard try JSONValue(json: body).object != nil else { return answers.failure(.badRequest) }
    } catch {
      return answers.failure(.badRequest)
    }
    do throws(ReceiptDecodingError) {
      return verifyReceipt(try VerifyReceiptRequest(json: body), host: host, now: now)
    } catch {
      return answers.failure(.malformed)
    }
  }

  /// The answer of one environment's host to a request.
  package mutating func verifyReceipt(
    _ request: VerifyReceiptRequest, host: StoreEnvironment, now: Timestamp
  ) -> JSONValue {
    advance(to: now)
    if !faults.verifyReceiptAnswers.isEmpty { return faults.verifyReceiptAnswers.removeFirst().json }
    var answers = VerifyReceiptForge(bundleID: forge.bundleID, environment: environment)
    guard let sent = SentReceipt(base64: request.receiptData) else { return answers.failure(.malformed) }
    if let status = refusal(of: sent, host: host) { return answers.failure(status) }
    switch sent {
    case .app(let receipt, _):
      answers.bundleID = receipt.bundleID
      let held = receipt.inApp.compactMap { transaction($0.transactionID) }
      guard isAllowed(request.password, held) else { return answers.failure(.wrongSecret) }
      return unified(
        held, receipt, excludesOld: request.excludesOldTransactions == true, answers, now: now)
    case .transaction(let receipt, _):
      guard let record = transaction(receipt.transactionID) else { return answers.failure(.notAuthenticated) }
      guard isAllowed(request.password, [record]) else { return answers.failure(.wrongSecret) }
      return oldStyle(record, now: now)
    }
  }

  /// The status for a receipt of another environment or another store; nil for this store's receipts.
  private func refusal(of sent: SentReceipt, host: StoreEnvironment) -> ReceiptStatus? {
    guard sent.environment == .production || sent.environment == .sandbox else { return .malformed }
    if sent.environment == environment, !issued.contains(sent.bytes) { return .notAuthenticated }
    guard sent.environment == host else { return host == .production ? .sandboxReceipt : .productionReceipt }
    return sent.environment == environment ? nil : .notAuthenticated
  }

  /// Whether the secret is right: subscriptions need one, and a wrong one is always refused.
  private func isAllowed(_ password: SharedSecret?, _ records: [StoreTransactionRecord]) -> Bool {
    guard let sharedSecret else { return true }
    return password.map { $0 == sharedSecret } ?? !records.contains { $0.kind == .autoRenewable }
  }

  private mutating func unified(
    _ held: [StoreTransactionRecord], _ receipt: AppReceipt, excludesOld: Bool,
    _ answers: VerifyReceiptForge, now: Timestamp
  ) -> JSONValue {
    var latest = held.first.map { told(of: $0.storeAccount) } ?? []
    if excludesOld { latest = Self.newest(of: latest) }
    return answers.unified(
      held: held, latest: latest,
      renewals: pendingRenewals(of: latest), newReceipt: newReceipt(of: latest, now: now),
      createdAt: receipt.receiptCreationDate.map(Timestamp.init), requestedAt: now)
  }

  private mutating func oldStyle(_ record: StoreTransactionRecord, now: Timestamp) -> JSONValue {
    let answers = VerifyReceiptForge(bundleID: forge.bundleID, environment: environment)
    guard record.kind == .autoRenewable else {
      return answers.oldStyle(sent: record, requestedAt: now)
    }
    let chain = transactions(storeAccount: record.storeAccount)
      .filter { $0.originalTransactionID == record.originalTransactionID }
    let latest = chain.last ?? record
    let bytes = forge.transactionReceipt(of: latest)
    issued.insert(bytes)
    return answers.oldStyle(
      sent: record, latest: latest,
      renewal: renewal(of: record.originalTransactionID),
      newReceipt: Data(bytes).base64EncodedString(), requestedAt: now)
  }

  /// The transactions in an answer about a customer: all except finished consumables that were not refunded.
  func told(of storeAccount: String) -> [StoreTransactionRecord] {
    let held = (log.receipts[storeAccount] ?? []).filter { !isSpent(transactions[$0]) }
    let refunded = (log.refunded[storeAccount] ?? []).filter { transactions[$0].revokedAt != nil }
    return Set(held + refunded).sorted().map { transactions[$0] }
  }

  /// Of each subscription only the newest transaction, and all other transactions.
  private static func newest(of records: [StoreTransactionRecord]) -> [StoreTransactionRecord] {
    var last: [String: String] = [:]
    for record in records where record.kind == .autoRenewable {
      last[record.originalTransactionID] = record.transactionID
    }
    return records.filter {
      $0.kind != .autoRenewable || last[$0.originalTransactionID] == $0.transactionID
    }
  }

  /// One for each subscription among the transactions. "A voluntary cancel during grace removes the element" (a.6).
  func pendingRenewals(of records: [StoreTransactionRecord]) -> [ForgedRenewal] {
    var seen: Set<String> = []
    return records.compactMap { record in
      guard record.kind == .autoRenewable, seen.insert(record.originalTransactionID).inserted else {
        return nil
      }
      return renewal(of: record.originalTransactionID)
    }
  }

  func renewal(of original: String) -> ForgedRenewal? {
    guard let subscription = subscriptions[shares.owners[original] ?? original] else { return nil }
    if case .gracePeriod = subscription.phase, !subscription.willRenew { return nil }
    var renewal = ForgedRenewal(of: subscription, originalTransactionID: original)
    if let last = latest(of: subscription.originalTransactionID), last.invitations != nil {
      renewal.seats = renewedSeats(of: subscription, after: last)
    }
    return renewal
  }

  /// `latest_receipt`: an app receipt with the transactions of `latest_receipt_info` (a.3).
  mutating func newReceipt(of records: [StoreTransactionRecord], now: Timestamp) -> String? {
    guard records.contains(where: { $0.expiresAt != nil }) else { return nil }
    let bytes = signer.appReceipt(of: records, receiptType: receiptType, createdAt: now)
    if faults.brokenProofs == nil { issued.insert(bytes) }
    return Data(bytes).base64EncodedString()
  }
}

/// `receipt-data`, decoded.
private enum SentReceipt {
  case app(AppReceipt, [UInt8])
  case transaction(TransactionReceipt, [UInt8])

  /// Nil for a malformed receipt. Base64 has to be exact, as for the real service (a.1).
  init?(base64: String) {
    guard let bytes = Data(base64Encoded: base64).map(Array.init), !bytes.isEmpty else { return nil }
    do throws(ReceiptDecodingError) {
      if bytes[0] == UInt8(ascii: "{") {
        self = .transaction(try TransactionReceipt(decoding: bytes), bytes)
      } else {
        self = .app(try AppReceipt(decoding: bytes), bytes)
      }
    } catch {
      return nil
    }
  }

  var bytes: [UInt8] {
    switch self {
    case .app(_, let bytes), .transaction(_, let bytes): bytes
    }
  }

  var environment: StoreEnvironment {
    switch self {
    case .app(let receipt, _): receipt.environment ?? .production
    case .transaction(let receipt, _): receipt.environment
    }
  }
}
