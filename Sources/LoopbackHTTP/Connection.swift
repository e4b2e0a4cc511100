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

  init(_ socket: Socket, _ behaviour: Behaviour, _ stop: StopSignal) {
    self.socket = socket
    self.behaviour = behaviour
    self.stop = stop
    parser = RequestParser(limits: behaviour.limits)
    received = [UInt8](repeating: 0, count: Connection.receiveBytes)
  }

  /// Serves requests, one after the other, until the connection ends; then closes it.
  mutating func run() {
    defer {
      if !resets { socket.finishSending() }
      socket.close()
    }
    while true {
      switch receiveRequest() {
      case .request(let request):
        guard serve(request) == .keepOpen else { return }
      case .refused(let failure):
        refuse(failure)
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
      case .bytes(let count): parser.feed(received[..<count])
      // RFC 9110 15.5.9; on an idle connection no client waits for an answer.
      case .timeout: return hasBegun ? .refused(ParseFailure(408, "the request took too long")) : .over
      // RFC 9112 8: a client that closed only its sending side learns what was wrong.
      case .ended: return hasBegun ? .refused(ParseFailure(400, "the request is incomplete")) : .over
      case .stopped: return .over
      }
    }
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

  private mutating func refuse(_ failure: ParseFailure) {
    let problem = HTTPResponse.problem(status: failure.status, detail: failure.reason)
    if send(EncodedResponse(problem, to: nil, keepsAlive: false)) { _ = finish() }
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
