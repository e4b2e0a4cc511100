import AppStoreReceipts
package import Foundation
package import PurchaseQueue
import PurchaseSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks a store about transactions by id over the App Store Server API, as backends do for signed transactions. The
/// signature is checked here; the store returns the transaction's present state.
///
/// `answer` blocks its thread until the store has answered or the time is over; any number of threads may ask at once.
package final class ServerAPIVerifier: ReceiptVerifier {
  private let store: URL
  private let forge: ReceiptForge
  private let session: BlockingSession

  /// - Parameters:
  ///   - store: The URL below which `/inApps/v1` is.
  ///   - forge: Knows the signatures of that store.
  ///   - timeout: How long one call may take, in seconds.
  package init(store: URL, forge: ReceiptForge, timeout: TimeInterval = 10) {
    self.store = store
    self.forge = forge
    session = BlockingSession(timeout: timeout)
  }

  /// Answers `malformed` to receipts, which this interface does not take.
  package func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    StoreAnswer(verification(of: query), at: now.milliseconds)
  }

  private func verification(of query: VerificationQuery) -> StoreVerification {
    switch query {
    // An id is digits; anything else in a path would be another path.
    case .transaction(_, let id) where !Self.isID(id): return .notFound
    case .subscription(_, let id) where !Self.isID(id): return .notFound
    case .transaction(let environment, let id):
      return ask("inApps/v1/transactions/" + id, TransactionInfo.self, environment: environment) {
        [$0.signedTransactionInfo]
      }
    case .subscription(let environment, let id):
      return ask("inApps/v1/history/" + id, TransactionHistory.self, environment: environment) {
        $0.signedTransactions
      }
    case .proof(let proof):
      guard proof.kind == .signedTransaction else { return .malformed }
      do throws(ReceiptDecodingError) {
        let claimed = try SignedTransaction(jws: proof.data)
        guard forge.verify(proof.data) else { return .forged }
        return verification(
          of: .transaction(environment: claimed.environment.rawValue, id: claimed.transactionID))
      } catch {
        return .malformed
      }
    }
  }

  private static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  private func ask<Reply: Decodable>(
    _ path: String, _ type: Reply.Type, environment: String, _ signed: (Reply) -> [String]
  ) -> StoreVerification {
    let request = URLRequest(url: store.appendingPathComponent(path))
    guard let (status, body) = session.answer(to: request) else { return .unavailable }
    // The body must be the store's own error: a wrong address is 404 too.
    let isUnknown = String(decoding: body, as: UTF8.self).contains(TransactionInfo.unknown)
    if status == 404, isUnknown { return .notFound }
    guard status == 200 else { return .unavailable }
    do {
      var transactions: [SignedTransaction] = []
      for jws in signed(try JSONDecoder().decode(type, from: body)) {
        guard forge.verify(jws) else { return .unavailable }
        let transaction = try SignedTransaction(jws: jws)
        if transaction.environment.rawValue == environment { transactions.append(transaction) }
      }
      return transactions.isEmpty ? .notFound : .genuine(transactions)
    } catch {
      // The body is not the store's, so it proves nothing.
      return .unavailable
    }
  }
}
