/// Turns bytes into requests, RFC 9112. Does no I/O.
///
/// Feed it the bytes that have arrived, in pieces of any size, and call `next()` until it needs more. Bytes
/// after a request are kept for the one that follows. A failure is final.
package struct RequestParser {
  /// What came of the bytes so far.
  package enum Step: Equatable {
    case needMore
    /// The head of a request whose body follows, if ``announcesHeads``; said once per request.
    case head(HTTPRequest)
    /// The client waits for "100 Continue" before it sends the body; said at most once per request.
    case sendContinue
    case request(ParsedRequest)
    case failure(ParseFailure)
  }

  private enum State {
    case requestLine, fields
    case fixedBody(missing: Int)
    case chunkSize, chunkEnd, trailer
    case chunk(missing: Int)
  }

  private let limits: HTTPLimits
  private var input = InputBuffer()
  private var state = State.requestLine
  private var failure: ParseFailure?
  private let announcesHeads: Bool
  private var asksToContinue = false
  private var bodyLimit: Int
  private var line = RequestLine()
  private var headers = HTTPHeaders()
  private var body: [UInt8] = []
  /// What is left of the head's, then of the trailer's, limits.
  private var bytesLeft: Int
  private var fieldsLeft: Int
  private var extensionBytesLeft: Int

  package init(limits: HTTPLimits = HTTPLimits(), announcesHeads: Bool = false) {
    self.limits = limits
    self.announcesHeads = announcesHeads
    bodyLimit = limits.bodyBytes
    bytesLeft = limits.headBytes
    fieldsLeft = limits.headerCount
    extensionBytesLeft = limits.headBytes
  }

  /// Whether part of a request has been received.
  package var isWithinRequest: Bool {
    if case .requestLine = state { return input.count > 0 }
    return true
  }

  /// Whether the head of a request has been received, and its body has not ended.
  package var isWithinBody: Bool {
    switch state {
    case .requestLine, .fields: false
    case .fixedBody, .chunkSize, .chunkEnd, .trailer, .chunk: true
    }
  }

  /// The memory in bytes that the body needs, with so many bytes more. Without a known length it is twice what has come:
  /// the array doubles when it is full.
  package func memory(with more: Int) -> Int {
    if case .fixedBody(let missing) = state { return body.count + missing }
    return isWithinBody ? 2 * (body.count + more) : more
  }

  /// Makes place for a body of known length at once, so that it takes no more memory than its bytes.
  package mutating func reserveBody() {
    if case .fixedBody(let missing) = state { body.reserveCapacity(body.count + missing) }
  }

  /// Sets the longest body of the request whose head was announced. False if it is longer by its own account.
  package mutating func limitBody(to bytes: Int) -> Bool {
    bodyLimit = min(bytes, limits.bodyBytes)
    if case .fixedBody(let missing) = state { return missing <= bodyLimit }
    return true
  }

  package mutating func feed(_ bytes: ArraySlice<UInt8>) {
    guard failure == nil else { return }
    input.append(bytes)
  }

  package mutating func next() -> Step {
    if let failure { return .failure(failure) }
    do throws(ParseFailure) {
      while true {
        if let step = try advance() { return step }
      }
    } catch {
      failure = error
      return .failure(error)
    }
  }

  /// Goes one line or one piece of a body further; nil means that there may be more to do.
  private mutating func advance() throws(ParseFailure) -> Step? {
    if asksToContinue {
      asksToContinue = false
      if input.count == 0 { return .sendContinue }
    }
    switch state {
    case .requestLine: return try readRequestLine()
    case .fields: return try readField()
    case .fixedBody(let missing):
      let left = missing - input.take(upTo: missing, into: &body)
      state = .fixedBody(missing: left)
      return left == 0 ? finish() : .needMore
    case .chunkSize: return try readChunkSize()
    case .chunk(let missing):
      let left = missing - input.take(upTo: missing, into: &body)
      state = left == 0 ? .chunkEnd : .chunk(missing: left)
      return left == 0 ? nil : .needMore
    case .chunkEnd: return try readChunkEnd()
    case .trailer: return try readTrailer()
    }
  }

  // MARK: The head

  private mutating func readRequestLine() throws(ParseFailure) -> Step? {
    // Tells a TLS client on the wrong port at once; its hello need not have a line's end.
    if let first = input.first, !ASCII.isTokenByte(first), first != ASCII.carriageReturn {
      throw ParseFailure(400, "this does not begin like an HTTP request")
    }
    let overhead = 64  // A method of usual length, the version, two spaces and CR LF.
    let limit = min(bytesLeft, limits.targetBytes + overhead)
    guard let range = try takeLine(limit: limit, ifTooLong: 414, "the request line is too long") else {
      return .needMore
    }
    // RFC 9112 2.2: ignore empty lines before a request; they count towards the head all the same.
    guard !range.isEmpty else { return nil }
    line = try RequestLine(input[range], targetLimit: limits.targetBytes)
    state = .fields
    return nil
  }

  private mutating func readField() throws(ParseFailure) -> Step? {
    guard let range = try takeLine(limit: bytesLeft, ifTooLong: 431, "the header fields are too long") else {
      return .needMore
    }
    if range.isEmpty { return try endHead() }
    headers.fields.append(try parseField(range))
    return nil
  }

  private mutating func endHead() throws(ParseFailure) -> Step? {
    // RFC 9112 3.2: exactly one Host in 1.1, at most one in 1.0.
    let hosts = headers.values(of: "Host").count
    guard hosts == 1 || (hosts == 0 && line.minorVersion == 0) else {
      throw ParseFailure(400, hosts == 0 ? "no Host header" : "more than one Host header")
    }
    let framing = try BodyFraming(headers, minorVersion: line.minorVersion, limit: limits.bodyBytes)
    switch framing {
    case .length(let length): state = .fixedBody(missing: length)
    case .chunked: state = .chunkSize
    }
    // RFC 9110 10.1.1: 1.0 clients' expectations are ignored, unknown ones may get 417, and no
    // "100 Continue" is due without a body or once the body has begun to arrive.
    if line.minorVersion >= 1, let expectation = headers["Expect"] {
      guard ASCII.equalIgnoringCase(expectation, "100-continue") else {
        throw ParseFailure(417, "the only expectation known is 100-continue")
      }
      asksToContinue = framing != .length(0)
    }
    bodyLimit = limits.bodyBytes
    return announcesHeads && framing != .length(0) ? .head(request) : nil
  }

  // MARK: A chunked body

  private mutating func readChunkSize() throws(ParseFailure) -> Step? {
    let limit = extensionBytesLeft + 32  // The digits and CR LF.
    guard let range = try takeLine(limit: limit, ifTooLong: 400, "chunk extensions are too long") else {
      return .needMore
    }
    let size = try ChunkSize(input[range])
    // In sum as well: a body of one-byte chunks must not carry megabytes of extensions.
    extensionBytesLeft -= size.extensionBytes
    guard extensionBytesLeft >= 0 else { throw ParseFailure(400, "chunk extensions are too long") }
    guard size.bytes <= bodyLimit - body.count else {
      throw ParseFailure(413, "the body is longer than this server takes")
    }
    if size.bytes > 0 {
      state = .chunk(missing: size.bytes)
    } else {
      state = .trailer
      bytesLeft = limits.headBytes
      fieldsLeft = limits.headerCount
    }
    return nil
  }

  /// RFC 9112 7.1: CR LF after the data, and nothing before it.
  private mutating func readChunkEnd() throws(ParseFailure) -> Step? {
    guard let range = try takeLine(limit: 2, ifTooLong: 400, "a chunk is longer than its size") else {
      return .needMore
    }
    guard range.isEmpty else { throw ParseFailure(400, "a chunk is longer than its size") }
    state = .chunkSize
    return nil
  }

  /// RFC 9110 6.5.1: trailer fields may be discarded; they are checked like header fields first.
  private mutating func readTrailer() throws(ParseFailure) -> Step? {
    guard let range = try takeLine(limit: bytesLeft, ifTooLong: 431, "the trailer is too long") else {
      return .needMore
    }
    if range.isEmpty { return finish() }
    _ = try parseField(range)
    return nil
  }

  // MARK: Common parts

  private mutating func takeLine(
    limit: Int, ifTooLong status: Int, _ reason: String
  ) throws(ParseFailure) -> Range<Int>? {
    do throws(InputBuffer.LineProblem) {
      let range = try input.takeLine(limit: limit)
      // Chunk lines are not part of the head, but its budget is no longer in use by then.
      if let range { bytesLeft -= range.count + 2 }
      return range
    } catch {
      switch error {
      case .tooLong: throw ParseFailure(status, reason)
      case .bareLineFeed: throw ParseFailure(400, "a line does not end in CR LF")
      }
    }
  }

  private mutating func parseField(
    _ range: Range<Int>
  ) throws(ParseFailure) -> (name: String, value: String) {
    // RFC 6585 5.
    guard fieldsLeft > 0 else { throw ParseFailure(431, "too many header fields") }
    fieldsLeft -= 1
    return try FieldLine.parse(input[range])
  }

  /// The request as far as it was read.
  private var request: HTTPRequest {
    var request = HTTPRequest(
      method: line.method, path: line.target.path, query: line.target.query, headers: headers, body: body)
    request.target = line.target.text
    return request
  }

  /// Hands the request out and makes ready for the next.
  private mutating func finish() -> Step {
    let request = request
    let parsed = ParsedRequest(request: request, minorVersion: line.minorVersion)
    state = .requestLine
    headers = HTTPHeaders()
    body = []
    bytesLeft = limits.headBytes
    fieldsLeft = limits.headerCount
    extensionBytesLeft = limits.headBytes
    return .request(parsed)
  }
}
