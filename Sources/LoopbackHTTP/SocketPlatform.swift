#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The differences between the systems.
///
/// Every descriptor is marked close-on-exec: a child of the host program that inherited one would
/// keep a connection open that the server has closed. Where the system can, it does so in the call
/// that makes the descriptor, because another thread may fork between two calls.
enum SocketPlatform {
  /// A new non-blocking TCP socket, or -1.
  static func makeSocket() -> Int32 {
    #if canImport(Darwin)
      return configured(socket(AF_INET, SOCK_STREAM, 0))
    #else
      let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
      return socket(AF_INET, Int32(type), 0)
    #endif
  }

  /// The next connection in `listener`'s backlog, non-blocking, or -1.
  ///
  /// accept4() would be atomic but is not in the Glibc module. Against a fork in between, connections
  /// are ended with shutdown(), which works on inherited copies as well.
  static func acceptConnection(_ listener: Int32) -> Int32 {
    configured(accept(listener, nil, nil))
  }

  /// Fills in a stream's two connected ends and returns whether there is one.
  static func makePair(_ ends: inout [Int32]) -> Bool {
    #if canImport(Darwin)
      guard unsafe socketpair(AF_UNIX, SOCK_STREAM, 0, &ends) == 0 else { return false }
      ends = ends.map(configured)
      return true
    #else
      let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
      return unsafe socketpair(AF_UNIX, Int32(type), 0, &ends) == 0
    #endif
  }

  /// Flags for send(): a connection closed by the client is an error to handle, not a SIGPIPE.
  static var sendFlags: Int32 {
    #if canImport(Darwin)
      return 0  // SO_NOSIGPIPE is set on the socket instead.
    #else
      return Int32(MSG_NOSIGNAL)
    #endif
  }

  private static func configured(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0 else { return descriptor }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    #if canImport(Darwin)
      var on: Int32 = 1
      _ = unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return descriptor
  }
}
