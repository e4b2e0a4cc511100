/// A request, and what of it concerns the connection rather than the handler.
package struct ParsedRequest: Equatable {
  package let request: HTTPRequest
  package let minorVersion: Int
  /// Whether the connection stays open after the answer, RFC 9112 9.3.
  package let keepsAlive: Bool

  init(request: HTTPRequest, minorVersion: Int) {
    self.request = request
    self.minorVersion = minorVersion
    let closes = request.headers.list("Connection", contains: "close")
    let asksToStay = request.headers.list("Connection", contains: "keep-alive")
    keepsAlive = !closes && (minorVersion >= 1 || asksToStay)
  }
}
