import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Posts notifications to any URL.
enum NotificationPost {
  private static let session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 10
    configuration.httpCookieStorage = nil
    return URLSession(configuration: configuration)
  }()

  /// Posts a body as JSON and returns the status; nil without an answer: the store's queue tries again later.
  static func send(_ body: Data, to url: URL) async -> Int? {
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    request.httpMethod = "POST"
    request.httpBody = body
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    do {
      let (_, response) = try await session.data(for: request)
      return (response as? HTTPURLResponse)?.statusCode
    } catch {
      return nil
    }
  }
}
