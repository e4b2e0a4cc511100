public import AppStoreReceipts
public import Foundation
public import PurchaseQueue
import PurchaseSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks a store over `/verifyReceipt`, as backends do. Receipts only: a signed transaction is checked by its signature,
/// and there is no such call by id, so those questions go to another verifier.
///
/// `answer` blocks its thread until the store has answered or the time is over; any number of threads may ask at once.
public final class HTTPReceiptVerifier: ReceiptVerifier {
  private let hosts: [StoreEnvironment: URL]
  private let password: SharedSecret?
  private let others: any ReceiptVerifier
  private let session: URLSession

  /// - Parameters:
  ///   - production: The URL of `/verifyReceipt` of production.
  ///   - sandbox: The same of the sandbox.
  ///   - password: The app's shared secret.
  ///   - timeout: How long one call may take, in seconds.
  ///   - connections: How many calls may be under way at once; further ones wait.
  ///   - others: Answers what is not about a receipt.
  public init(
    production: URL, sandbox: URL, password: SharedSecret?, timeout: TimeInterval = 10,
    connections: Int = 64, others: any ReceiptVerifier
  ) {
    hosts = [.production: production, .sandbox: sandbox]
    self.password = password
    self.others = others
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.timeoutIntervalForResource = timeout
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  deinit { session.invalidateAndCancel() }

  /// Asks the store about a receipt, and the other verifier about everything else.
  public func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    guard case .proof(let proof) = query, proof.kind == .appReceipt || proof.kind == .transactionReceipt
    else {
      return others.answer(to: query, now: now)
    }
    var exchange = VerifyReceiptExchange(receiptData: proof.data, password: password)
    while true {
      switch exchange.step {
      case .done(let answer): return answer
      case .post(let request, let host): exchange.received(post(request, to: host), now: now)
      }
    }
  }

  /// Nil if nothing came back.
  private func post(_ body: VerifyReceiptRequest, to host: StoreEnvironment) -> (status: Int, body: Data)? {
    guard let url = hosts[host] else { return nil }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = body.json
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let box = Locked<(status: Int, body: Data)?>(nil)
    let arrival = DispatchSemaphore(value: 0)
    session.dataTask(with: request) { data, response, _ in
      if let data, let http = response as? HTTPURLResponse {
        box.withLock { $0 = (http.statusCode, data) }
      }
      arrival.signal()
    }.resume()
    arrival.wait()
    return box.withLock { $0 }
  }
}
