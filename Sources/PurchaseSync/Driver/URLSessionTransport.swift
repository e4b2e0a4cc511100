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
    do {
      let (body, response) = try await session.data(for: wire)
      guard let http = response as? HTTPURLResponse else { throw TransportError(reason: "no HTTP answer") }
      guard body.count <= responseBytes else {
        throw TransportError(reason: "an answer of \(body.count) bytes is not ours")
      }
      return BackendResponse(
        status: http.statusCode, retryAfter: http.value(forHTTPHeaderField: "Retry-After"), body: body)
    } catch let error as TransportError {
      throw error
    } catch {
      throw TransportError(
        reason: (error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "no connection")
    }
  }
}
