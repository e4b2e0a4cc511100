#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A non-blocking TCP socket.
///
/// Just the number: one thread owns each socket, and it alone calls `close()`, once.
struct Socket: Sendable {
  let descriptor: Int32

  enum Transfer: Equatable {
    case bytes(Int)
    /// The stream has ended, orderly or not.
    case ended
    case wouldBlock
  }

  /// Receives at most as many bytes as `buffer` has, to its beginning.
  func receive(into buffer: inout [UInt8]) -> Transfer {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count > 0 { return .bytes(count) }
      if count == 0 { return .ended }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .ended
    }
  }

  func send(_ bytes: ArraySlice<UInt8>) -> Transfer {
    while true {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe sendBytes(descriptor, $0.baseAddress, $0.count, SocketPlatform.sendFlags)
      }
      if count >= 0 { return .bytes(count) }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .ended
    }
  }

  enum AcceptResult {
    case connection(Socket)
    case nothing
    /// No descriptors or memory left: the connection stays in the backlog.
    case exhausted
  }

  func accept() -> AcceptResult {
    let connection = SocketPlatform.acceptConnection(descriptor)
    guard connection >= 0 else {
      let code = errno
      return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) ? .exhausted : .nothing
    }
    let socket = Socket(descriptor: connection)
    // Answers are written whole, so Nagle's algorithm could only delay the last segment.
    socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
    return .connection(socket)
  }

  /// Ends the stream towards the client (FIN), who can still read what was sent before.
  func finishSending() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Ends the stream from the client: what has come can still be read, then the stream is over. May be called on another
  /// thread than the owner's, while the socket is open.
  func endReceiving() {
    _ = shutdown(descriptor, Int32(SHUT_RD))
  }

  func close() {
    closeDescriptor(descriptor)
  }

  /// Makes the close to come a reset: with a linger time of 0 the system sends RST.
  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  private func set(_ level: Int32, _ option: Int32, to value: Int32) {
    var value = value
    _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}

// MARK: Listening

extension Socket {
  /// A socket bound to `host`, which is a dotted IPv4 address or "localhost", and listening.
  static func listening(host: String, port: UInt16) throws(HTTPServerError) -> Socket {
    let place = "\(host):\(port)"
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    let numeric = host == "localhost" ? "127.0.0.1" : host
    guard unsafe inet_pton(AF_INET, numeric, &address.sin_addr) == 1 else {
      throw HTTPServerError(
        operation: "resolve", address: place, code: 0, reason: "not a dotted IPv4 address",
        remedy: "pass \"127.0.0.1\"")
    }
    let socket = Socket(descriptor: SocketPlatform.makeSocket())
    guard socket.descriptor >= 0 else { throw HTTPServerError("socket", place, errno) }
    // A restarted server gets its port back although old connections are still in TIME_WAIT.
    socket.set(SOL_SOCKET, SO_REUSEADDR, to: 1)
    let bound = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) { pointer in
        unsafe bind(socket.descriptor, pointer.baseAddress, socklen_t(bytes.count))
      }
    }
    guard bound == 0 else {
      let code = errno
      socket.close()
      throw HTTPServerError("bind", place, code)
    }
    guard listen(socket.descriptor, 1024) == 0 else {
      let code = errno
      socket.close()
      throw HTTPServerError("listen", place, code)
    }
    return socket
  }

  /// The port the system chose.
  var localPort: UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = unsafe withUnsafeMutableBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) { pointer in
        unsafe getsockname(descriptor, pointer.baseAddress, &size)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }
}

extension HTTPServerError {
  init(_ operation: String, _ address: String, _ code: Int32) {
    let remedy =
      switch code {
      case EADDRINUSE: "another process has the port: stop it, or pass port 0 for a free one"
      case EACCES: "ports below 1024 are the system's: pass port 0 for a free one"
      case EADDRNOTAVAIL: "the host is not an address of this machine: pass 127.0.0.1"
      case EMFILE, ENFILE: "too many open files: close some, or raise `ulimit -n`"
      default: "see errno(3) and \(operation)(2)"
      }
    self.init(
      operation: operation, address: address, code: code, reason: unsafe String(cString: strerror(code)),
      remedy: remedy)
  }
}

// Socket's own methods of these names hide the system's.

private func closeDescriptor(_ descriptor: Int32) {
  _ = close(descriptor)
}

private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
  unsafe send(descriptor, bytes, count, flags)
}
