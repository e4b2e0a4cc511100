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
  private let table: Monitor<ConnectionTable<Socket>>
  private let name: Int
  private var phase = ConnectionTable<Socket>.Phase.head
  private var parser: RequestParser
  private var received: [UInt8]
  private var resets = false
  /// This connection's share of the budget for bodies.
  private var share = 0
  /// The answer to a body that is longer than its sender may send; nil for 413.
  private var excess: HTTPResponse?

  /// - Parameter name: The connection's name in the table. It is removed from there at its end.
  init(
    _ socket: Socket, _ behaviour: Behaviour, _ stop: StopSignal,
    in table: Monitor<ConnectionTable<Socket>>, as name: Int
  ) {
    self.socket = socket
    (self.table, self.name) = (table, name)
    self.behaviour = behaviour
    self.stop = stop
    parser = RequestParser(limits: behaviour.limits, announcesHeads: behaviour.admit != nil)
    received = [UInt8](repeating: 0, count: Connection.receiveBytes)
  }

  /// Serves requests, one after the other, until the connection ends; then closes it.
  mutating func run() {
    defer {
      if !resets { socket.finishSending() }
      // Before the descriptor's number can be another connection's.
      table.withLock { $0.remove(name) }
      socket.close()
    }
    while true {
      enter(.head)
      let received = receiveRequest()
      defer { giveShare() }
      switch received {
      case .request(let request):
        enter(.busy)
        guard serve(request) == .keepOpen else { return }
      case .refused(let failure):
        // What came of the body is not needed: it must not take memory while the client is waited for.
        parser = RequestParser(limits: behaviour.limits)
        giveShare()
        let problem = HTTPResponse.problem(failure)
        // A refusal before the body's end: the client is still sending.
        let linger = failure.status == 413 || failure.status == 503
        refuse(failure.status == 413 ? excess ?? problem : problem, isStillSent: linger)
        return
      case .crowdedOut:
        // Once and without waiting for the client: another one waits for this connection's place.
        let encoded = EncodedResponse(.problem(Self.crowdedOut), to: nil, keepsAlive: false)
        _ = socket.send((encoded.head + encoded.body)[...])
        return
      case .over:
        return
      }
    }
  }

  private mutating func enter(_ phase: ConnectionTable<Socket>.Phase) {
    self.phase = phase
    table.withLock { [name] in $0.enter(phase, name) }
  }

  // MARK: Receiving

  private enum Received {
    case request(ParsedRequest)
    case refused(ParseFailure)
    /// The connection is closed for another one, in the middle of a request.
    case crowdedOut
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
        enter(.head)
      }
      if phase == .head && parser.isWithinBody { enter(.body) }
      switch receive(until: deadline) {
      case .bytes(let count):
        guard takeShare(of: count) else { return .refused(Self.tooMany) }
        parser.feed(received[..<count])
      // RFC 9110 15.5.9; on an idle connection no client waits for an answer.
      case .timeout: return hasBegun ? .refused(ParseFailure(408, "the request took too long")) : .over
      // RFC 9112 8: a client that closed only its sending side learns what was wrong.
      case .ended:
        guard hasBegun else { return .over }
        let isLeaving = table.withLock { [name] in $0.isLeaving(name) }
        return isLeaving ? .crowdedOut : .refused(ParseFailure(400, "the request is incomplete"))
      case .stopped: return .over
      }
    }
  }

  private static let tooLong = ParseFailure(413, "the body is longer than this server takes")
  private static let tooMany = ParseFailure(503, "too many long requests at once")
  private static let crowdedOut = ParseFailure(503, "too many connections, and this request was slow")

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

  /// Takes a share of the budget for this body before the bytes are stored: for all of it, if its length is known.
  /// False if the budget has too little left.
  private mutating func takeShare(of bytes: Int) -> Bool {
    let needed = max(0, parser.memory(with: bytes) - BodyBudget.free) - share
    guard needed > 0 else { return true }
    guard behaviour.budget.take(needed) else { return false }
    share += needed
    parser.reserveBody()
    return true
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
    enter(.closing)
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
    enter(.closing)
    discardInput(until: Deadline(inMilliseconds: Connection.lingerMilliseconds))
    return .close
  }

  /// Reads and forgets until the client has closed its side, the deadline passes or the server stops.
  private mutating func discardInput(until deadline: Deadline) {
    while case .bytes = receive(until: deadline) {}
  }
}
