/// A listening socket and the threads that serve it, from `start` to `stop`.
final class RunningServer: Sendable {
  /// Connections that are closed together, and their threads.
  private struct Generation {
    let stop: StopSignal
    let threads = ThreadGroup()
  }

  let port: UInt16
  private let behaviour: Behaviour
  private let address: String
  private let listener: Socket
  private let stop: StopSignal
  private let acceptor = ThreadGroup()
  private let generation: Monitor<Generation>
  private let connections = Monitor(ConnectionTable<Socket>())

  init(_ behaviour: Behaviour, host: String, port: UInt16) throws(HTTPServerError) {
    self.behaviour = behaviour
    address = "\(host):\(port)"
    stop = try StopSignal(address: address)
    generation = Monitor(Generation(stop: try StopSignal(address: address)))
    listener = try Socket.listening(host: host, port: port)
    self.port = listener.localPort
    acceptor.start { self.acceptConnections() }
  }

  func signalStop() {
    stop.raise()
    generation.withLock { $0.stop.raise() }
  }

  /// Returns true when no thread is left, or false at once on one of the server's own threads.
  func waitUntilDone() -> Bool {
    let threads = generation.withLock { $0.threads }
    guard !acceptor.hasCurrentThread, !threads.hasCurrentThread else { return false }
    acceptor.wait(untilFewerThan: 1)
    threads.wait(untilFewerThan: 1)
    return true
  }

  /// Closes all connections, also those that were not accepted yet, and goes on listening. Returns when requests that
  /// were being handled are done. Must not be called on one of the server's own threads.
  func dropConnections() throws(HTTPServerError) {
    let next = Generation(stop: try StopSignal(address: address))
    let dropped = generation.withLock { current in
      while case .connection(let socket) = listener.accept() { socket.close() }
      defer { current = next }
      return current
    }
    dropped.stop.raise()
    dropped.threads.wait(untilFewerThan: 1)
  }

  private func acceptConnections() {
    defer { listener.close() }
    let aWhile = 60_000
    while true {
      switch stop.wait(for: listener, .reading, until: Deadline(inMilliseconds: aWhile)) {
      case .stopped: return
      case .timeout: continue
      case .ready: break
      }
      waitForPlace()
      // One step: a connection that was accepted belongs to the generation that is dropped after it.
      let isExhausted = generation.withLock { current in
        switch listener.accept() {
        case .connection(let socket):
          let name = connections.withLock { $0.add(socket) }
          current.threads.start { [behaviour, connections, stop = current.stop] in
            var connection = Connection(socket, behaviour, stop, in: connections, as: name)
            connection.run()
          }
          return false
        case .exhausted: return true
        case .nothing: return false
        }
      }
      if isExhausted {
        // The system's limit is lower than ours.
        closeOldest()
        // Without a pause this would spin until that connection is closed.
        _ = stop.wait(for: listener, .neither, until: Deadline(inMilliseconds: 20))
      }
    }
  }

  /// At the limit, closes the connection whose client has let the server wait longest. While all are busy, clients wait in
  /// the backlog. When the server stops, the connections' threads end and so does this wait.
  private func waitForPlace() {
    let limit = max(behaviour.limits.connections, 1)
    connections.wait { $0.count < limit || $0.hasCandidate }
    if connections.withLock({ $0.count }) >= limit { closeOldest() }
  }

  private func closeOldest() {
    // Under the lock, so that the descriptor is still this connection's. The connection's thread closes it.
    connections.withLock { $0.choose()?.endReceiving() }
  }
}
