import AppStoreReceipts
import Foundation
package import PurchaseQueue
import PurchaseSync

extension StoreModel {
  /// The store's answer to the backend's question, as of now: a proof may be older than a refund.
  ///
  /// The forge's checksum identifies signed transactions, and the record of issued receipts identifies receipts. A
  /// receipt holds no account token (StoreFacts b.4), so its transactions have none here; a question by id returns the
  /// token.
  package func verify(_ query: VerificationQuery, now: Timestamp) -> StoreVerification {
    switch query {
    case .transaction(let environment, let id): return held([(id, environment)], now: now)
    case .subscription(let environment, let original):
      let account = transaction(original)?.storeAccount ?? ""
      let periods = transactions(storeAccount: account)
        .filter { $0.originalTransactionID == original && $0.expiresAt != nil }
      return held(periods.map { ($0.transactionID, environment) }, now: now)
    case .proof(let proof):
      do throws(ReceiptDecodingError) {
        switch proof.kind {
        case .signedTransaction:
          let claimed = try SignedTransaction(jws: proof.data)
          let signature = forge.signature(of: proof.data)
          guard signature != .forged else { return .forged }
          // Another app's, as signed: an id of ours in it says nothing.
          guard claimed.bundleID == forge.bundleID else { return .genuine([claimed]) }
          let record = held([(claimed.transactionID, claimed.environment.rawValue)], now: now)
          return signature == .revoked ? record.withoutProof : record
        case .appReceipt:
          guard let bytes = Data(base64Encoded: proof.data).map(Array.init) else { return .malformed }
          let receipt = try AppReceipt(decoding: bytes)
          guard issued.contains(bytes) else { return .forged }
          return inReceipt(receipt.inApp.map(\.transactionID), of: receipt.bundleID, now: now)
        case .transactionReceipt:
          guard let bytes = Data(base64Encoded: proof.data).map(Array.init) else { return .malformed }
          let receipt = try TransactionReceipt(decoding: bytes)
          guard issued.contains(bytes) else { return .forged }
          return inReceipt([receipt.transactionID], of: forge.bundleID, now: now)
        default: return .malformed
        }
      } catch {
        return .malformed
      }
    }
  }

  private func inReceipt(_ ids: [String], of bundleID: String, now: Timestamp) -> StoreVerification {
    guard !ids.isEmpty else { return .genuine([]) }
    guard case .genuine(var transactions) = held(ids.map { ($0, environment.rawValue) }, now: now) else {
      return .notFound
    }
    for index in transactions.indices {
      (transactions[index].appAccountToken, transactions[index].bundleID) = (nil, bundleID)
    }
    return .genuine(transactions)
  }

  private func held(_ names: [(id: String, environment: String)], now: Timestamp) -> StoreVerification {
    var found: [SignedTransaction] = []
    for name in names {
      guard let record = transaction(name.id), record.environment.rawValue == name.environment else {
        continue
      }
      do throws(ReceiptDecodingError) {
        found.append(try SignedTransaction(payload: forge.payload(of: record, signedAt: now).data))
      } catch {
        return .malformed
      }
    }
    return found.isEmpty ? .notFound : .genuine(found)
  }
}
