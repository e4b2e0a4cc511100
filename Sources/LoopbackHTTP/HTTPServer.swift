/// An HTTP/1.1 server on the loopback interface for tests, a simulator and mock backends.
///
/// It keeps connections alive, takes pipelined requests and chunked bodies, refuses malformed ones
/// with a 4xx or 5xx `application/problem+json`, and misbehaves on command: see `Fault`. Each
/// connection has a thread of its own. No `Date` is sent, so that answers are reproducible.
///
/// All members may be used from any thread. A server that is let go of without `stop()` ends its
/// threads in the background.
package final class HTTPServer: Sendable {
  private struct State {
    var running: RunningServer?
    var port: UInt16 = 0
  }

  private let behaviour: Behaviour
  private let state = Monitor(State())

  /// Makes a server; it does nothing before `start`.
  ///
  /// - Parameters:
  ///   - limits: What clients may send.
  ///   - admit: Asked about the head of a request with a body, before the body is read; nil admits every request.
  ///   - fault: Asked once for every well-formed request, before the handler; nil means no fault.
  ///   - handler: Gives the answer. It is synchronous and may block; like `fault` it is called from
  ///     several connections' threads at once, with 1 MiB of stack. The order is that of the requests
  ///     on each connection, and any between connections.
  package init(
    limits: HTTPLimits = HTTPLimits(),
    admit: (@Sendable (HTTPRequest) -> HTTPAdmission)? = nil,
    fault: (@Sendable (HTTPRequest) -> Fault?)? = nil,
    handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) {
    behaviour = Behaviour(
      limits: limits, admit: admit, budget: BodyBudget(limits.bodyBudget), fault: fault,
      handler: handler)
  }

  deinit {
    state.withLock { $0.running?.signalStop() }
  }

  /// Binds and listens; once it returns clients can connect.
  ///
  /// - Parameters:
  ///   - port: The port to listen on; with 0 the system chooses a free one, see `port`.
  ///   - host: A dotted IPv4 address of this machine, or "localhost".
  /// - Throws: `HTTPServerError` when the system refuses, and when the server is running already or
  ///   has not finished stopping. A stopped server may be started again.
  package func start(port: UInt16 = 0, host: String = "127.0.0.1") throws(HTTPServerError) {
    try state.withLock { (state: inout State) throws(HTTPServerError) in
      guard state.running == nil else {
        throw HTTPServerError(
          operation: "start", address: "\(host):\(port)", code: 0,
          reason: "the server is already running on port \(state.port)", remedy: "call stop() first")
      }
      let running = try RunningServer(behaviour, host: host, port: port)
      state.running = running
      state.port = running.port
    }
  }

  /// The port the server listens on, or listened on last; 0 before it was started.
  package var port: UInt16 {
    state.withLock { $0.port }
  }

  /// Closes all connections and goes on listening; does nothing on a server that does not run.
  ///
  /// A request that is being handled is waited for. A request that was sent and not read yet is lost. Must not be called
  /// from a handler or a fault closure of the same server.
  package func dropConnections() throws(HTTPServerError) {
    try state.withLock { $0.running }?.dropConnections()
  }

  /// Stops accepting, closes all connections, and returns when the server's threads are done.
  ///
  /// Every wait on a client ends at once; a handler that is running is waited for. Idempotent, also
  /// on a server never started, and callable from several threads. Called from a handler or a fault
  /// closure of the same server it does not wait, since that would be for itself.
  package func stop() {
    guard let running = state.withLock({ $0.running }) else { return }
    running.signalStop()
    guard running.waitUntilDone() else { return }
    state.withLock { state in
      if state.running === running { state.running = nil }
    }
  }
}
