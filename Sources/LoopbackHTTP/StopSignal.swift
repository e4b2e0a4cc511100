#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Tells every thread of a server to stop: a stream that becomes readable once and stays so.
final class StopSignal: Sendable {
  private let reading: Int32
  private let writing: Int32

  init(address: String) throws(HTTPServerError) {
    var ends: [Int32] = [-1, -1]
    guard SocketPlatform.makePair(&ends) else { throw HTTPServerError("socketpair", address, errno) }
    reading = ends[0]
    writing = ends[1]
  }

  // The threads hold the signal as long as they use it.
  deinit {
    Socket(descriptor: reading).close()
    Socket(descriptor: writing).close()
  }

  /// May be called again; one byte is enough, so a full buffer would not matter.
  func raise() {
    _ = Socket(descriptor: writing).send([1])
  }

  enum Event { case ready, timeout, stopped }
  enum Direction { case reading, writing, neither }

  /// Waits until `socket` can be read or written, the deadline has passed or the server stops.
  func wait(for socket: Socket, _ direction: Direction, until deadline: Deadline) -> Event {
    let events =
      switch direction {
      case .reading: Int16(POLLIN)
      case .writing: Int16(POLLOUT)
      case .neither: Int16(0)
      }
    // poll() passes over negative descriptors; watched for nothing, a hang-up would still end it.
    let watched = direction == .neither ? -1 : socket.descriptor
    var descriptors = [
      pollfd(fd: reading, events: Int16(POLLIN), revents: 0), pollfd(fd: watched, events: events, revents: 0),
    ]
    while true {
      let remaining = deadline.remainingMilliseconds
      let count = unsafe poll(&descriptors, nfds_t(descriptors.count), remaining)
      if count < 0 && errno == EINTR { continue }
      if descriptors[0].revents != 0 { return .stopped }
      if count > 0 { return .ready }
      // The timeout may end a moment early by the deadline's clock.
      if count < 0 || deadline.remainingMilliseconds == 0 { return .timeout }
    }
  }
}
