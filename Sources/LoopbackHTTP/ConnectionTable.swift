/// The open connections of a server, and which of them is closed for another one. Does no I/O and reads no clock: the
/// oldest connection is the one whose client has let the server wait since the earliest step.
///
/// A server that only refused new connections at its limit could be stopped by clients that send half a head each.
package struct ConnectionTable<Handle: Sendable>: Sendable {
  /// What a connection does. A connection of an earlier phase is closed before one of a later phase.
  package enum Phase: Int, Sendable, CaseIterable {
    /// The answer is sent. What the client still sends is read and forgotten.
    case closing
    /// The client has sent nothing, or a part of a head.
    case head
    /// The client has sent a head and a part of the body.
    case body
    /// The request is handled, or its answer is sent. Such a connection is never closed for another one.
    case busy
  }

  private struct Entry: Sendable {
    var handle: Handle
    var phase = Phase.head
    var since: Int
  }

  private var open: [Int: Entry] = [:]
  /// Connections that were chosen to be closed, and are not yet.
  private var leaving: Set<Int> = []
  private var steps = 0

  package init() {}

  /// How many connections there are, without those that were chosen to be closed.
  package var count: Int { open.count - leaving.count }

  /// Whether a connection could be closed for another one.
  package var hasCandidate: Bool { candidate != nil }

  /// Adds a connection that was accepted, and returns its name.
  package mutating func add(_ handle: Handle) -> Int {
    steps += 1
    open[steps] = Entry(handle: handle, since: steps)
    return steps
  }

  /// The connection begins a phase, or begins the same phase again.
  package mutating func enter(_ phase: Phase, _ name: Int) {
    steps += 1
    open[name]?.phase = phase
    open[name]?.since = steps
    // Its request was complete before the connection was closed, and is answered.
    if phase == .busy { leaving.remove(name) }
  }

  /// The connection is about to be closed.
  package mutating func remove(_ name: Int) {
    open[name] = nil
    leaving.remove(name)
  }

  /// Chooses the connection to close, and returns its handle; nil if all are busy.
  package mutating func choose() -> Handle? {
    guard let candidate else { return nil }
    leaving.insert(candidate)
    return open[candidate]?.handle
  }

  /// Whether the connection was chosen to be closed.
  package func isLeaving(_ name: Int) -> Bool { leaving.contains(name) }

  private var candidate: Int? {
    open.filter { $0.value.phase != .busy && !leaving.contains($0.key) }
      .min { ($0.value.phase.rawValue, $0.value.since) < ($1.value.phase.rawValue, $1.value.since) }?.key
  }
}
