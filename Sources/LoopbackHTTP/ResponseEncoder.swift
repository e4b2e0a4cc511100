/// The bytes of an answer, RFC 9112 4 and 6.
struct EncodedResponse {
  var head: [UInt8]
  var body: [UInt8]

  /// Encodes `response`, or a 500 in its place if it could not be sent as it is. `lengthError` is what its
  /// Content-Length is wrong by, on purpose.
  init(_ response: HTTPResponse, to request: ParsedRequest?, keepsAlive: Bool, lengthError: Int = 0) {
    let response = EncodedResponse.isSendable(response) ? response : EncodedResponse.unsendable
    let status = response.status
    // RFC 9110 8.6 and 15.4.5: these two never have a body, 204 no Content-Length either.
    let hasBody = status != 204 && status != 304
    var text = "HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n"
    for (name, value) in response.headers.fields where !EncodedResponse.isServersOwn(name) {
      text += "\(name): \(value)\r\n"
    }
    if hasBody {
      let (length, overflow) = response.body.count.addingReportingOverflow(lengthError)
      text += "Content-Length: \(overflow ? Int.max : max(0, length))\r\n"
    }
    if !keepsAlive {
      text += "Connection: close\r\n"
    } else if request?.minorVersion == 0 {
      // RFC 9112 9.3: a 1.0 client that asked for it has to be informed.
      text += "Connection: keep-alive\r\n"
    }
    text += "\r\n"
    head = Array(text.utf8)
    // RFC 9110 9.3.2: the head as for GET, and no body.
    body = hasBody && request?.request.method != "HEAD" ? response.body : []
  }

  /// Framing and persistence are the connection's: a handler's say would break the client's parsing.
  private static func isServersOwn(_ name: String) -> Bool {
    ASCII.equalIgnoringCase(name, "Content-Length") || ASCII.equalIgnoringCase(name, "Connection")
      || ASCII.equalIgnoringCase(name, "Transfer-Encoding")
  }

  /// RFC 9110 5.5: a line break in a value would begin a field, or an answer, of its own.
  private static func isSendable(_ response: HTTPResponse) -> Bool {
    (200...999).contains(response.status)
      && response.headers.fields.allSatisfy {
        ASCII.isToken($0.name.utf8) && !$0.value.utf8.contains(where: ASCII.isForbiddenControl)
      }
  }

  private static let unsendable = HTTPResponse.problem(
    status: 500, detail: "the handler's status or one of its header fields cannot be sent")
}

extension HTTPResponse {
  /// RFC 9457. `detail` must need no escaping in JSON.
  static func problem(status: Int, detail: String) -> HTTPResponse {
    let title = ReasonPhrase.of(status)
    let json =
      "{\"type\":\"about:blank\",\"title\":\"\(title)\",\"status\":\(status),\"detail\":\"\(detail)\"}"
    return HTTPResponse(
      status: status, headers: ["Content-Type": "application/problem+json"], body: Array(json.utf8))
  }

  /// The same for a request that was not read to its end. What is refused for lack of memory or places may come again.
  static func problem(_ failure: ParseFailure) -> HTTPResponse {
    var response = problem(status: failure.status, detail: failure.reason)
    if failure.status == 503 { response.headers["Retry-After"] = "1" }
    return response
  }
}

/// The text after a status code, RFC 9110 15; clients must not rely on it.
enum ReasonPhrase {
  static func of(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}
