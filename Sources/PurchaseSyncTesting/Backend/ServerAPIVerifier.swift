import AppStoreReceipts
package import Foundation
package import PurchaseQueue
import PurchaseSQLite
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
  private let key: ServerAPIKey
  /// The present token and when it was made: a signature takes longer than a request.
  private let token = Locked<(text: String, madeAt: Timestamp)?>(nil)

  /// - Parameters:
  ///   - store: The URL below which `/inApps` is.
  ///   - forge: Knows the signatures of that store.
  ///   - timeout: How long one call may take, in seconds.
  package init(store: URL, forge: ReceiptForge, timeout: TimeInterval = 10) {
    self.store = store
    self.forge = forge
    key = ServerAPIKey(bundleID: forge.bundleID)
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
      let reply = ask("inApps/v1/transactions/" + id, TransactionInfo.self)
      return reply.verification { transactions(in: [$0.signedTransactionInfo], of: environment) }
    case .subscription(let environment, let id): return history(of: id, environment: environment)
    case .proof(let proof):
      guard proof.kind == .signedTransaction else { return .malformed }
      do throws(ReceiptDecodingError) {
        let claimed = try SignedTransaction(jws: proof.data)
        let signature = forge.signature(of: proof.data)
        guard signature != .forged else { return .forged }
        let record = verification(
          of: .transaction(environment: claimed.environment.rawValue, id: claimed.transactionID))
        return signature == .revoked ? record.withoutProof : record
      } catch {
        return .malformed
      }
    }
  }

  private static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// All transactions of a chain: the store lists every purchase of the customer, 20 on a page.
  private func history(of original: String, environment: String) -> StoreVerification {
    var periods: [SignedTransaction] = []
    var revision: String?
    while true {
      let query = revision.map { ["revision": $0] } ?? [:]
      switch ask("inApps/v2/history/" + original, TransactionHistory.self, query) {
      case .nothing: return .unavailable
      case .unknown: return .notFound
      case .told(let page):
        guard let found = transactions(in: page.signedTransactions, of: environment) else {
          return .unsigned
        }
        periods += found.filter { $0.originalTransactionID == original }
        // A page that leads to itself is no answer of the store.
        guard !page.hasMore || page.revision != revision else { return .unavailable }
        guard page.hasMore else { return periods.isEmpty ? .notFound : .genuine(periods) }
        revision = page.revision
      }
    }
  }

  /// Nil if one of them is not the store's.
  private func transactions(in signed: [String], of environment: String) -> [SignedTransaction]? {
    var transactions: [SignedTransaction] = []
    for jws in signed {
      guard forge.verify(jws) else { return nil }
      do throws(ReceiptDecodingError) {
        let transaction = try SignedTransaction(jws: jws)
        if transaction.environment.rawValue == environment { transactions.append(transaction) }
      } catch {
        return nil
      }
    }
    return transactions
  }

  private enum Reply<Document> {
    case told(Document)
    /// The store knows no such transaction.
    case unknown
    /// No answer, or none of the store.
    case nothing

    func verification(_ transactions: (Document) -> [SignedTransaction]?) -> StoreVerification {
      switch self {
      case .nothing: return .unavailable
      case .unknown: return .notFound
      case .told(let document):
        guard let found = transactions(document) else { return .unsigned }
        return found.isEmpty ? .notFound : .genuine(found)
      }
    }
  }

  private func ask<Document: Decodable>(
    _ path: String, _ type: Document.Type, _ query: [String: String] = [:]
  ) -> Reply<Document> {
    var url = store.appendingPathComponent(path)
    if !query.isEmpty {
      url.append(
        queryItems: query.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) })
    }
    var request = URLRequest(url: url)
    request.setValue("Bearer " + authorization(), forHTTPHeaderField: "Authorization")
    guard let (status, body) = session.answer(to: request) else { return .nothing }
    do {
      // The body must be the store's own error: a wrong address is 404 too.
      if status == 404 {
        let code = try JSONValue(json: body)["errorCode"]?.wholeNumber
        return code == Int64(ServerAPIError.transactionNotFound.code) ? .unknown : .nothing
      }
      guard status == 200 else { return .nothing }
      return .told(try JSONDecoder().decode(type, from: body))
    } catch {
      // The body is not the store's, so it proves nothing.
      return .nothing
    }
  }

  /// A token that is valid for some minutes by the system's clock, by which the store checks it.
  private func authorization() -> String {
    token.withLock { token in
      let now = Timestamp.wallClock()
      if let token, token.madeAt <= now, now < token.madeAt.adding(milliseconds: 240_000) {
        return token.text
      }
      let text = key.token(now: now)
      token = (text, now)
      return text
    }
  }
}
