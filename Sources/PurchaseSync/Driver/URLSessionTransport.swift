import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transport that apps use unless they bring their own.
public final class URLSessionTransport: BackendTransport {
  private let base: URL
  private let session: URLSession
  private let responseBytes: Int

  /// - Parameters:
  ///   - base: What the paths are relative to, such as `https://api.example.com`.
  ///   - timeout: Seconds for one attempt, from the first byte to the last.
  ///   - responseBytes: A longer answer is not ours.
  public init(base: URL, timeout: TimeInterval = 30, responseBytes: Int = 1 << 20) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.timeoutIntervalForResource = timeout
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    self.base = base
    self.responseBytes = responseBytes
    session = URLSession(configuration: configuration)
  }

  deinit { session.invalidateAndCancel() }

  /// Sends one request.
  public func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard let url = URL(string: request.path, relativeTo: base) else {
      throw TransportError(reason: "\(request.path) is no path")
    }
    var wire = URLRequest(url: url)
    wire.httpMethod = request.method
    for (name, value) in request.headers { wire.setValue(value, forHTTPHeaderField: name) }
    #if os(Linux)
      // On a kept connection that has died, libcurl sends a POST again without its body.
      wire.setValue("close", forHTTPHeaderField: "Connection")
    #endif
    if !request.body.isEmpty {
      wire.httpBody = request.body
      wire.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (body, response, error) = await exchange(wire)
    guard error == nil, let http = response as? HTTPURLResponse else {
      throw TransportError(
        reason: (error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "no HTTP answer")
    }
    let bytes = body ?? Data()
    guard bytes.count <= responseBytes else {
      throw TransportError(reason: "an answer of \(bytes.count) bytes is not ours")
    }
    return BackendResponse(
      status: http.statusCode, retryAfter: http.value(forHTTPHeaderField: "Retry-After"), body: bytes)
  }

  /// `URLSession.data(for:)` of Foundation on Linux cancels under the task's own lock and can deadlock with an
  /// answer that arrives at that moment. Here the cancellation waits for nobody.
  private func exchange(_ request: URLRequest) async -> (Data?, URLResponse?, (any Error)?) {
    let pending = PendingTask()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let task = session.dataTask(with: request) { body, response, error in
          continuation.resume(returning: (body, response, error))
        }
        pending.start(task)
      }
    } onCancel: {
      DispatchQueue.global().async { pending.cancel() }
    }
  }
}

/// A task that may be cancelled before it exists.
private final class PendingTask: @unchecked Sendable {
  private let lock = NSLock()
  private var task: URLSessionDataTask?
  private var isCancelled = false

  func start(_ task: URLSessionDataTask) {
    lock.lock()
    self.task = task
    let isCancelled = self.isCancelled
    lock.unlock()
    task.resume()
    if isCancelled { task.cancel() }
  }

  func cancel() {
    lock.lock()
    isCancelled = true
    let task = self.task
    lock.unlock()
    task?.cancel()
  }
}
