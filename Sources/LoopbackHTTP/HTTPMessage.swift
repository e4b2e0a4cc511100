/// One complete request as the handler gets it.
package struct HTTPRequest: Sendable, Equatable {
  /// The method as sent, for instance "GET". Methods are case-sensitive (RFC 9110 9.1).
  package var method: String
  /// The percent-decoded path without the query, for instance "/v1/orders/7"; "*" for `OPTIONS *`.
  ///
  /// Dot segments are left alone, and an encoded slash (%2F) has become a slash.
  package var path: String
  /// The percent-decoded query; the last one of a repeated name wins, a name without "=" has the
  /// value "". A plus sign stays a plus sign.
  package var query: [String: String]
  /// Path and query as they were sent, still encoded; empty for a request that no client sent.
  package var target = ""
  /// The header fields in the order received. Fields of a chunked body's trailer are not among them.
  package var headers: HTTPHeaders
  /// The whole body in bytes, freed of the chunked coding; empty if there was none.
  package var body: [UInt8]

  /// Makes a request, for calling a handler or a fault plan without a server.
  package init(
    method: String, path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
    body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }
}

/// What a handler answers.
package struct HTTPResponse: Sendable, Hashable {
  /// The status code, 200...999. The server answers 500 in place of a response with any other.
  package var status: Int
  /// The header fields. `Content-Length`, `Transfer-Encoding` and `Connection` are the server's own:
  /// it leaves out a handler's. A field that could not be sent safely (a line break in a value, a
  /// name that is no token) makes the server answer 500 instead.
  package var headers: HTTPHeaders
  /// The body in bytes. Not sent with status 204 or 304, nor in answer to HEAD.
  package var body: [UInt8]

  /// Makes an answer of a status code, headers and the bytes of a body.
  package init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
