import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

#if canImport(FoundationNetworking)
  /// Runs callbacks one after the other, directly on a dispatch queue. A URL session on Linux adds four per
  /// request, and an operation object for each costs about a twentieth of the request's time.
  final class CallbackQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "purchase-sync.transport")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
  }
#else
  typealias CallbackQueue = OperationQueue
#endif

/// Passes the callbacks of a URL session to the exchange of their task.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private let table: ExchangeTable

  init(table: ExchangeTable) { self.table = table }

  private func exchange(of task: URLSessionTask) -> Exchange? { table.exchange(number: task.taskIdentifier) }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.received(response)
    // Never `.cancel`: on Linux it cancels from within the callback.
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.received(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    exchange(of: task)?.completed(error)
  }

  /// A redirect is an answer like any other, with a status of 3xx.
  ///
  /// On Linux the question stays without an answer. Foundation there ends the process if the answer comes after
  /// the task was cancelled or timed out ("we're not waiting for it"), and no caller can know that it does not.
  /// The exchange ends with the head instead, and cancels its task.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      exchange(of: task)?.redirected(response)
    #else
      completionHandler(nil)
    #endif
  }

  /// Ends the attempt as one without an answer. On Linux, libcurl repeats a request by itself if a kept
  /// connection dies before the first byte of an answer, and asks here for the body again. Without a body it
  /// would send only the head and wait for an answer to half a request. With a body it would send a request
  /// that the engine has not counted.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    exchange(of: task)?.end(.failure(TransportError(reason: "the connection ended before an answer")))
    completionHandler(nil)
  }
}
