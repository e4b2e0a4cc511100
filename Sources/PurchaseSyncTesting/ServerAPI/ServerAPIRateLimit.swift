import PurchaseQueue

/// How many requests the App Store Server API takes at each endpoint in a span of time, before it answers 429.
public struct ServerAPIRateLimit: Sendable, Hashable, Codable {
  /// The number of requests to one endpoint.
  public var requests: Int
  /// The length of a span in milliseconds. Apple counts by the hour.
  public var milliseconds: Int64

  /// A limit; an hour unless said otherwise.
  public init(requests: Int, milliseconds: Int64 = 3_600_000) {
    self.requests = requests
    self.milliseconds = milliseconds
  }
}

/// Counts the requests to each endpoint in spans that begin with a request.
struct ServerAPILimiter: Sendable {
  private struct Span {
    var beginsAt: Timestamp
    var requests = 0
  }

  /// Nil for no limit. A new limit begins to count again.
  var limit: ServerAPIRateLimit? {
    didSet { spans = [:] }
  }
  private var spans: [String: Span] = [:]

  /// Counts a request, or throws 4290000. A refused request does not count.
  mutating func admit(_ endpoint: String, now: Timestamp) throws(ServerAPIError) {
    guard let limit else { return }
    var span = spans[endpoint] ?? Span(beginsAt: now)
    let end = span.beginsAt.adding(milliseconds: max(1, limit.milliseconds))
    if now >= end || now < span.beginsAt { span = Span(beginsAt: now) }
    guard span.requests < limit.requests else { throw .rateLimited(until: end) }
    span.requests += 1
    spans[endpoint] = span
  }
}
