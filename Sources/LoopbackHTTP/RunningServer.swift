/// A listening socket and the threads that serve it, from `start` to `stop`.
final class RunningServer: Sendable {
  let port: UInt16
  private let behaviour: Behaviour
  private let listener: Socket
  private let stop: StopSignal
  private let threads = ThreadGroup()

  init(_ behaviour: Behaviour, host: String, port: UInt16) throws(HTTPServerError) {
    self.behaviour = behaviour
    stop = try StopSignal(address: "\(host):\(port)")
    listener = try Socket.listening(host: host, port: port)
    self.port = listener.localPort
    threads.start { self.acceptConnections() }
  }

  func signalStop() {
    stop.raise()
  }

  /// Returns true when no thread is left, or false at once on one of the server's own threads.
  func waitUntilDone() -> Bool {
    guard !threads.hasCurrentThread else { return false }
    threads.wait(untilFewerThan: 1)
    return true
  }

  private func acceptConnections() {
    defer { listener.close() }
    let aWhile = 60_000
    while stop.wait(for: listener, .reading, until: Deadline(inMilliseconds: aWhile)) != .stopped {
      switch listener.accept() {
      case .connection(let socket):
        threads.start { [behaviour, stop] in
          var connection = Connection(socket, behaviour, stop)
          connection.run()
        }
        // Beyond the limit clients wait in the backlog. This thread counts too; when the server
        // stops, the connections' threads end and so does this wait.
        threads.wait(untilFewerThan: max(behaviour.limits.connections, 1) + 1)
      case .exhausted:
        // Without a pause this would spin until another connection is closed.
        _ = stop.wait(for: listener, .neither, until: Deadline(inMilliseconds: 20))
      case .nothing:
        break
      }
    }
  }
}
