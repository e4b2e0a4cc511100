import AppStoreReceipts
public import Foundation
public import PurchaseQueue
import PurchaseSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks a store about transactions by id, over the App Store Server API, as backends do that are sent signed
/// transactions. The signature is checked here; what has become of the transaction since, the store says.
///
/// `answer` blocks its thread until the store has answered or the time is over; any number of threads may ask at once.
public final class ServerAPIVerifier: ReceiptVerifier {
  private let store: URL
  private let forge: ReceiptForge
  private let session: URLSession

  /// - Parameters:
  ///   - store: The URL below which `/inApps/v1` is.
  ///   - forge: Knows the signatures of that store.
  ///   - timeout: How long one call may take, in seconds.
  public init(store: URL, forge: ReceiptForge, timeout: TimeInterval = 10) {
    self.store = store
    self.forge = forge
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.timeoutIntervalForResource = timeout
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  deinit { session.invalidateAndCancel() }

  /// Receipts are not for this interface: they are malformed here.
  public func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
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
    guard let (status, body) = get(path) else { return .unavailable }
    // Only the store's own word: at a wrong address there is nothing either.
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
      // Not what the store says: nothing is known.
      return .unavailable
    }
  }

  /// Nil if nothing came back.
  private func get(_ path: String) -> (status: Int, body: Data)? {
    let box = Locked<(status: Int, body: Data)?>(nil)
    let arrival = DispatchSemaphore(value: 0)
    session.dataTask(with: store.appendingPathComponent(path)) { data, response, _ in
      if let data, let http = response as? HTTPURLResponse { box.withLock { $0 = (http.statusCode, data) } }
      arrival.signal()
    }.resume()
    arrival.wait()
    return box.withLock { $0 }
  }
}
