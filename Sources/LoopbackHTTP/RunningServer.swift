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
    let connections = generation.withLock { $0.threads }
    guard !acceptor.hasCurrentThread, !connections.hasCurrentThread else { return false }
    acceptor.wait(untilFewerThan: 1)
    connections.wait(untilFewerThan: 1)
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
    while stop.wait(for: listener, .reading, until: Deadline(inMilliseconds: aWhile)) != .stopped {
      // One step: a connection that was accepted belongs to the generation that is dropped after it.
      let threads: ThreadGroup? = generation.withLock { current in
        switch listener.accept() {
        case .connection(let socket):
          current.threads.start { [behaviour, stop = current.stop] in
            var connection = Connection(socket, behaviour, stop)
            connection.run()
          }
          return current.threads
        case .exhausted: return nil
        case .nothing: return current.threads
        }
      }
      if let threads {
        // Beyond the limit clients wait in the backlog. When the server stops, the connections' threads end and so
        // does this wait.
        threads.wait(untilFewerThan: max(behaviour.limits.connections, 1))
      } else {
        // Without a pause this would spin until another connection is closed.
        _ = stop.wait(for: listener, .neither, until: Deadline(inMilliseconds: 20))
      }
    }
  }
}
