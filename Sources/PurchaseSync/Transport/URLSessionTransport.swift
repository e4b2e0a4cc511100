public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The default transport for apps.
///
/// One attempt is one request on the wire. No redirect is followed, so that credentials go to no other
/// address. Nothing is cached, and no cookie or stored credential is sent. The answer's bytes are counted as
/// they arrive; the request ends as soon as there are too many or the time is over.
public final class URLSessionTransport: BackendTransport {
  private let base: URL
  private let session: URLSession
  private let exchanges: ExchangeTable
  private let delegateQueue = CallbackQueue()
  private let responseBytes: Int

  /// - Parameters:
  ///   - base: The URL to which paths are appended, such as `https://api.example.com` or
  ///     `https://example.com/api`.
  ///   - timeout: Seconds for one attempt, from its start to the last byte of the answer.
  ///   - responseBytes: The longest answer that is accepted, in bytes.
  public init(base: URL, timeout: TimeInterval = 30, responseBytes: Int = 1 << 20) {
    let configuration = URLSessionConfiguration.ephemeral
    // `ExchangeTable` keeps the time; these limits only come later. Foundation on Linux cuts off the fraction
    // of a second, which would turn a short time into zero.
    configuration.timeoutIntervalForRequest = timeout.rounded(.up) + 1
    configuration.timeoutIntervalForResource = timeout.rounded(.up) + 1
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    self.base = base
    exchanges = ExchangeTable(timeout: timeout)
    self.responseBytes = responseBytes
    // One callback at a time: `Exchange` cancels in the same queue.
    delegateQueue.maxConcurrentOperationCount = 1
    // The session keeps its delegate until it is invalidated, so the delegate does not refer to this object.
    session = URLSession(
      configuration: configuration, delegate: ExchangeDelegate(table: exchanges), delegateQueue: delegateQueue
    )
  }

  /// At this point no caller waits, and all tasks to be cancelled have been cancelled.
  deinit { session.finishTasksAndInvalidate() }

  /// Sends one request.
  public func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    let exchange = Exchange(responseBytes: responseBytes, delegateQueue: delegateQueue)
    let task = session.dataTask(with: try wireRequest(request))
    exchanges.add(exchange, number: task.taskIdentifier)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        exchange.begin(task) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      exchange.end(.failure(TransportError(.cancelled, reason: "the request was cancelled")))
    }
    exchanges.remove(number: task.taskIdentifier)
    return try result.get()
  }

  private func wireRequest(_ request: BackendRequest) throws(TransportError) -> URLRequest {
    guard let url = url(of: request.path) else {
      throw TransportError(.unsendable, reason: "\(request.path) is not a path below the backend's address")
    }
    var wire = URLRequest(url: url)
    wire.httpMethod = request.method
    wire.setValue("application/json", forHTTPHeaderField: "Accept")
    if !request.body.isEmpty {
      wire.httpBody = request.body
      wire.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    for (name, value) in request.headers {
      // A line break would start another header field or another request. The value may be a credential: do
      // not report it.
      guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw TransportError(
          .unsendable, reason: "the value of the header field \(name) has control characters")
      }
      wire.setValue(value, forHTTPHeaderField: name)
    }
    return wire
  }

  /// Nil for a path that leads to another address: credentials are only for the backend.
  private func url(of path: String) -> URL? {
    let text = base.absoluteString
    guard !path.hasPrefix("/"), let url = URL(string: text + (text.hasSuffix("/") ? "" : "/") + path),
      url.scheme == base.scheme, url.host == base.host, url.port == base.port, url.user == base.user
    else { return nil }
    return url
  }
}
