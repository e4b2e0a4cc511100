import Foundation
import PurchaseSQLite

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// HTTP calls that block their thread until the answer has come or the time is over.
final class BlockingSession: Sendable {
  private let session: URLSession

  /// - Parameters:
  ///   - timeout: How long one call may take, in seconds.
  ///   - connections: How many calls may be under way at once; nil for Foundation's number.
  init(timeout: TimeInterval, connections: Int? = nil) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.timeoutIntervalForResource = timeout
    if let connections { configuration.httpMaximumConnectionsPerHost = connections }
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  deinit { session.invalidateAndCancel() }

  /// Nil if nothing came back.
  func answer(to request: URLRequest) -> (status: Int, body: Data)? {
    let answer = Locked<(status: Int, body: Data)?>(nil)
    let arrival = DispatchSemaphore(value: 0)
    session.dataTask(with: request) { data, response, _ in
      if let data, let http = response as? HTTPURLResponse {
        answer.withLock { $0 = (http.statusCode, data) }
      }
      arrival.signal()
    }.resume()
    arrival.wait()
    return answer.value
  }
}
