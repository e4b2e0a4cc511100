/// How much a client may send, and how slowly, before the server refuses it.
package struct HTTPLimits: Sendable, Equatable {
  /// The longest request line and header fields together, in bytes; above it the answer is 431.
  /// It bounds a chunked body's trailer, and the sum of its chunk extensions, as well.
  package var headBytes: Int
  /// The longest request target (path and query, still encoded) in bytes; above it the answer is 414.
  package var targetBytes: Int
  /// The most header fields in one request; above it the answer is 431.
  package var headerCount: Int
  /// The longest body in bytes, without its chunked coding; above it the answer is 413.
  package var bodyBytes: Int
  /// The memory in bytes that the bodies of all connections together may take while they are received and handled; the
  /// first 32 KiB of each are free. A body beyond it is answered 503 with Retry-After, and its connection is closed.
  package var bodyBudget: Int
  /// The most connections served at once, a thread each. For another one the connection is closed whose client has let
  /// the server wait longest, between requests or within one. Others wait in the system's backlog while all are busy.
  package var connections: Int
  /// How long a connection may stay open between requests, in milliseconds; then it is closed
  /// without a word.
  package var idleTimeoutMilliseconds: Int
  /// How long a request may take from its first byte to its last, in milliseconds; then the answer
  /// is 408. Also the longest time in which a client may accept not one byte of an answer.
  package var readTimeoutMilliseconds: Int

  /// Makes limits; every one that is not given has a default fit for tests on one machine.
  package init(
    headBytes: Int = 32 * 1024, targetBytes: Int = 8 * 1024, headerCount: Int = 100,
    bodyBytes: Int = 16 * 1024 * 1024, bodyBudget: Int = 48 * 1024 * 1024, connections: Int = 256,
    idleTimeoutMilliseconds: Int = 10_000, readTimeoutMilliseconds: Int = 10_000
  ) {
    self.headBytes = headBytes
    self.targetBytes = targetBytes
    self.headerCount = headerCount
    self.bodyBytes = bodyBytes
    self.bodyBudget = max(bodyBudget, 2 * bodyBytes)
    self.connections = connections
    self.idleTimeoutMilliseconds = idleTimeoutMilliseconds
    self.readTimeoutMilliseconds = readTimeoutMilliseconds
  }
}
