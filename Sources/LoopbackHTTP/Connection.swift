/// One client's connection, served from its first byte to its last by the thread that calls `run`.
struct Connection {
  private static let receiveBytes = 16 * 1024
  /// Above this a copy costs more than a second system call.
  private static let joinedBytes = 64 * 1024
  private static let lingerMilliseconds = 1_000

  private enum Next { case keepOpen, close }

  private let socket: Socket
  private let behaviour: Behaviour
  private let stop: StopSignal
  private var parser: RequestParser
  private var received: [UInt8]
  private var resets = false
  /// This connection's share of the budget for bodies.
  private var share = 0
  /// The answer to a body that is longer than its sender may send; nil for 413.
  private var excess: HTTPResponse?

  init(_ socket: Socket, _ behaviour: Behaviour, _ stop: StopSignal) {
    self.socket = socket
    self.behaviour = behaviour
    self.stop = stop
    parser = RequestParser(limits: behaviour.limits, announcesHeads: behaviour.admit != nil)
    received = [UInt8](repeating: 0, count: Connection.receiveBytes)
  }

  /// Serves requests, one after the other, until the connection ends; then closes it.
  mutating func run() {
    defer {
      if !resets { socket.finishSending() }
      socket.close()
    }
    while true {
      let received = receiveRequest()
      defer { giveShare() }
      switch received {
      case .request(let request):
        guard serve(request) == .keepOpen else { return }
      case .refused(let failure):
        let problem = HTTPResponse.problem(status: failure.status, detail: failure.reason)
        // A refusal before the body's end: the client is still sending.
        let linger = failure.status == 413 || failure.status == 503
        refuse(failure.status == 413 ? excess ?? problem : problem, isStillSent: linger)
        return
      case .over:
        return
      }
    }
  }

  // MARK: Receiving

  private enum Received {
    case request(ParsedRequest)
    case refused(ParseFailure)
    case over
  }

  private mutating func receiveRequest() -> Received {
    let limits = behaviour.limits
    var deadline = Deadline(inMilliseconds: limits.idleTimeoutMilliseconds)
    var hasBegun = false
    while true {
      switch parser.next() {
      case .request(let request): return .request(request)
      case .failure(let failure): return .refused(failure)
      case .head(let head):
        guard admits(head) else { return .refused(Self.tooLong) }
        continue
      case .sendContinue:
        guard send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return .over }
        continue
      case .needMore: break
      }
      if !hasBegun && parser.isWithinRequest {
        // From its first byte a request has one time limit, however it dribbles in.
        hasBegun = true
        deadline = Deadline(inMilliseconds: limits.readTimeoutMilliseconds)
      }
      switch receive(until: deadline) {
      case .bytes(let count):
        parser.feed(received[..<count])
        switch takeShare(of: count, until: deadline) {
        case .stopped: return .over
        case .timeout: return .refused(ParseFailure(503, "too many long requests at once"))
        case .ready: break
        }
      // RFC 9110 15.5.9; on an idle connection no client waits for an answer.
      case .timeout: return hasBegun ? .refused(ParseFailure(408, "the request took too long")) : .over
      // RFC 9112 8: a client that closed only its sending side learns what was wrong.
      case .ended: return hasBegun ? .refused(ParseFailure(400, "the request is incomplete")) : .over
      case .stopped: return .over
      }
    }
  }

  private static let tooLong = ParseFailure(413, "the body is longer than this server takes")

  /// Asks whether to read the body of a request. False if it says itself that it is too long.
  private mutating func admits(_ head: HTTPRequest) -> Bool {
    excess = nil
    switch behaviour.admit?(head) {
    case .read(let bytes): return parser.limitBody(to: bytes)
    case .readOrRefuse(let bytes, let response):
      excess = response
      return parser.limitBody(to: bytes)
    case nil: return true
    }
  }

  /// Waits until the budget has a share for this body: for all of it, so that no two wait for each other.
  /// Meanwhile the client's bytes stay in the system's buffers, so that the client waits too.
  private mutating func takeShare(of bytes: Int, until deadline: Deadline) -> StopSignal.Event {
    // A body of unknown length grows by at most these bytes.
    let needed = max(0, parser.bodyBytes + bytes - BodyBudget.free) - share
    guard needed > 0 else { return .ready }
    while !behaviour.budget.take(needed) {
      let pause = Deadline(inMilliseconds: 20)
      if stop.wait(for: socket, .neither, until: pause) == .stopped { return .stopped }
      if deadline.hasPassed { return .timeout }
    }
    share += needed
    return .ready
  }

  private mutating func giveShare() {
    behaviour.budget.give(share)
    share = 0
  }

  private enum ReceiveResult { case bytes(Int), timeout, ended, stopped }

  private mutating func receive(until deadline: Deadline) -> ReceiveResult {
    while true {
      switch stop.wait(for: socket, .reading, until: deadline) {
      case .timeout: return .timeout
      case .stopped: return .stopped
      case .ready: break
      }
      switch socket.receive(into: &received) {
      case .bytes(let count): return .bytes(count)
      case .ended: return .ended
      case .wouldBlock: continue
      }
    }
  }

  // MARK: Answering

  private mutating func serve(_ parsed: ParsedRequest) -> Next {
    guard let fault = behaviour.fault?(parsed.request) else {
      return send(behaviour.answer(parsed.request), to: parsed)
    }
    switch fault {
    case .dropBeforeCommit:
      return finish()
    case .dropAfterCommit:
      _ = behaviour.answer(parsed.request)
      return finish()
    case .respond(let response):
      return send(response, to: parsed)
    case .delay(let milliseconds):
      let event = stop.wait(for: socket, .neither, until: Deadline(inMilliseconds: milliseconds))
      guard event == .timeout else { return .close }
      return send(behaviour.answer(parsed.request), to: parsed)
    case .reset:
      _ = behaviour.answer(parsed.request)
      resets = true
      socket.resetOnClose()
      return .close
    case .truncate(let bytes):
      let answer = behaviour.answer(parsed.request)
      var encoded = EncodedResponse(answer, to: parsed, keepsAlive: parsed.keepsAlive)
      encoded.body = Array(encoded.body.prefix(max(bytes, 0)))
      return send(encoded) ? finish() : .close
    case .stall(let milliseconds):
      _ = behaviour.answer(parsed.request)
      discardInput(until: Deadline(inMilliseconds: milliseconds))
      return finish()
    case .deliverTwice:
      _ = behaviour.answer(parsed.request)
      return send(behaviour.answer(parsed.request), to: parsed)
    case .wrongLength(let error):
      let answer = behaviour.answer(parsed.request)
      let keepsAlive = parsed.keepsAlive && error < 0
      let encoded = EncodedResponse(answer, to: parsed, keepsAlive: keepsAlive, lengthError: error)
      guard send(encoded) else { return .close }
      return keepsAlive ? .keepOpen : finish()
    case .dribble(let bytes, let milliseconds):
      let encoded = EncodedResponse(
        behaviour.answer(parsed.request), to: parsed, keepsAlive: parsed.keepsAlive)
      guard dribble(encoded.head + encoded.body, bytes, milliseconds) else { return .close }
      return parsed.keepsAlive ? .keepOpen : finish()
    case .garbage(let bytes):
      return send(bytes) ? finish() : .close
    }
  }

  /// Sends everything, a piece at a time, and returns whether it could.
  private func dribble(_ bytes: [UInt8], _ count: Int, _ milliseconds: Int) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard send(Array(rest.prefix(max(count, 1)))) else { return false }
      rest = rest.dropFirst(max(count, 1))
      let pause = Deadline(inMilliseconds: milliseconds)
      if stop.wait(for: socket, .neither, until: pause) == .stopped { return false }
    }
    return true
  }

  private mutating func send(_ response: HTTPResponse, to request: ParsedRequest) -> Next {
    let encoded = EncodedResponse(response, to: request, keepsAlive: request.keepsAlive)
    guard send(encoded) else { return .close }
    return request.keepsAlive ? .keepOpen : finish()
  }

  /// Answers a request that was not read to its end, and closes.
  ///
  /// A client that still sends the body reads the answer after its last byte. A connection that is closed before that is
  /// reset, and the answer is lost. So what comes is read and forgotten, for as long as a request may take.
  private mutating func refuse(_ response: HTTPResponse, isStillSent: Bool) {
    guard send(EncodedResponse(response, to: nil, keepsAlive: false)) else { return }
    socket.finishSending()
    let limit =
      isStillSent ? behaviour.limits.readTimeoutMilliseconds : Connection.lingerMilliseconds
    discardInput(until: Deadline(inMilliseconds: limit))
  }

  private func send(_ response: EncodedResponse) -> Bool {
    if response.head.count + response.body.count <= Connection.joinedBytes {
      return send(response.head + response.body)
    }
    return send(response.head) && send(response.body)
  }

  /// Sends everything and returns whether it could.
  private func send(_ bytes: [UInt8]) -> Bool {
    let limit = behaviour.limits.readTimeoutMilliseconds
    var rest = bytes[...]
    while !rest.isEmpty {
      switch socket.send(rest) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .ended: return false
      case .wouldBlock:
        // A new deadline each time: a large answer may take long while the client keeps reading.
        let deadline = Deadline(inMilliseconds: limit)
        guard stop.wait(for: socket, .writing, until: deadline) == .ready else { return false }
      }
    }
    return true
  }

  // MARK: Closing

  /// Ends the stream without losing what was sent: closing with unread input would reset the
  /// connection, and the client might lose the answer with it (RFC 9112 9.6).
  private mutating func finish() -> Next {
    socket.finishSending()
    discardInput(until: Deadline(inMilliseconds: Connection.lingerMilliseconds))
    return .close
  }

  /// Reads and forgets until the client has closed its side, the deadline passes or the server stops.
  private mutating func discardInput(until deadline: Deadline) {
    while case .bytes = receive(until: deadline) {}
  }
}
