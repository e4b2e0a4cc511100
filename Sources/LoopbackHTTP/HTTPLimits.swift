/// How much a client may send, and how slowly, before the server refuses it.
public struct HTTPLimits: Sendable, Equatable {
  /// The longest request line and header fields together, in bytes; above it the answer is 431.
  /// It bounds a chunked body's trailer, and the sum of its chunk extensions, as well.
  public var headBytes: Int
  /// The longest request target (path and query, still encoded) in bytes; above it the answer is 414.
  public var targetBytes: Int
  /// The most header fields in one request; above it the answer is 431.
  public var headerCount: Int
  /// The longest body in bytes, without its chunked coding; above it the answer is 413.
  public var bodyBytes: Int
  /// The most connections served at once, a thread each. Others wait in the system's backlog.
  public var connections: Int
  /// How long a connection may stay open between requests, in milliseconds; then it is closed
  /// without a word.
  public var idleTimeoutMilliseconds: Int
  /// How long a request may take from its first byte to its last, in milliseconds; then the answer
  /// is 408. Also the longest time in which a client may accept not one byte of an answer.
  public var readTimeoutMilliseconds: Int

  /// Makes limits; every one that is not given has a default fit for tests on one machine.
  public init(
    headBytes: Int = 32 * 1024, targetBytes: Int = 8 * 1024, headerCount: Int = 100,
    bodyBytes: Int = 16 * 1024 * 1024, connections: Int = 256,
    idleTimeoutMilliseconds: Int = 10_000, readTimeoutMilliseconds: Int = 10_000
  ) {
    self.headBytes = headBytes
    self.targetBytes = targetBytes
    self.headerCount = headerCount
    self.bodyBytes = bodyBytes
    self.connections = connections
    self.idleTimeoutMilliseconds = idleTimeoutMilliseconds
    self.readTimeoutMilliseconds = readTimeoutMilliseconds
  }
}
