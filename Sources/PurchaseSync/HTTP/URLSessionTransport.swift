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
  /// The backend's address with a slash at its end; nil if no path can be appended to what the app gave.
  private let root: String?
  private let session: URLSession
  private let exchanges: ExchangeTable
  private let delegateQueue = CallbackQueue()
  private let responseBytes: Int

  /// - Parameters:
  ///   - base: The URL to which paths are appended, such as `https://api.example.com` or
  ///     `https://example.com/api`. It has a host, and neither query nor fragment; otherwise each request fails as
  ///     ``TransportError/Kind/unsendable``, before anything is sent.
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
    root = Self.root(of: base)
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
    guard let root else {
      throw TransportError(
        .unsendable,
        reason:
          "the backend's address is not an http or https address with a host, and without query and fragment")
    }
    guard let url = Self.url(of: request.path, below: root) else {
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

  /// A path that is appended to a query or to a fragment would not be part of the path, and one that is appended to an
  /// address without a host would name a host: credentials would go elsewhere.
  private static func root(of base: URL) -> String? {
    guard let parts = URLComponents(url: base, resolvingAgainstBaseURL: true), let text = parts.string,
      ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false,
      parts.query == nil, parts.fragment == nil
    else { return nil }
    return text.hasSuffix("/") ? text : text + "/"
  }

  /// Nil for a path that leads to another address: credentials are only for the backend. The root ends with a slash, so no
  /// path changes the host. A segment of dots would lead above the root.
  private static func url(of path: String, below root: String) -> URL? {
    let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
    guard !path.hasPrefix("/"), !path.contains("#"), !segments.contains(where: isOfDots) else { return nil }
    return URL(string: root + path)
  }

  private static func isOfDots(_ segment: Substring) -> Bool {
    [".", ".."].contains(segment.lowercased().replacingOccurrences(of: "%2e", with: "."))
  }
}
