package import AppStoreDocuments
import AppStoreReceipts
package import Foundation
package import PurchaseQueue
import PurchaseSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks a store over `/verifyReceipt`, as backends do, about receipts. Questions about signed transactions and by id go
/// to another verifier, because `/verifyReceipt` does not answer them.
///
/// `answer` blocks its thread until the store has answered or the time is over; any number of threads may ask at once.
package final class HTTPReceiptVerifier: ReceiptVerifier {
  private let hosts: [StoreEnvironment: URL]
  private let password: SharedSecret?
  private let others: any ReceiptVerifier
  private let session: BlockingSession

  /// - Parameters:
  ///   - production: The URL of `/verifyReceipt` of production.
  ///   - sandbox: The same of the sandbox.
  ///   - password: The app's shared secret.
  ///   - timeout: How long one call may take, in seconds.
  ///   - connections: How many calls may be under way at once; further ones wait.
  ///   - others: Answers what is not about a receipt.
  package init(
    production: URL, sandbox: URL, password: SharedSecret?, timeout: TimeInterval = 10,
    connections: Int = 64, others: any ReceiptVerifier
  ) {
    hosts = [.production: production, .sandbox: sandbox]
    self.password = password
    self.others = others
    session = BlockingSession(timeout: timeout, connections: connections)
  }

  /// Asks the store about a receipt, or the other verifier about everything else.
  package func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    guard case .proof(let proof) = query, proof.kind == .appReceipt || proof.kind == .transactionReceipt
    else {
      return others.answer(to: query, now: now)
    }
    return VerifyReceiptExchange.answer(
      about: proof, password: password, now: now, others: { others.answer(to: $0, now: now) },
      post: { post($0, to: $1) })
  }

  /// Nil if nothing came back.
  private func post(_ body: Data, to host: StoreEnvironment) -> (status: Int, body: Data)? {
    guard let url = hosts[host] else { return nil }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = body
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    return session.answer(to: request)
  }
}
