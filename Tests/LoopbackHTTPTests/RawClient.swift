import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A blocking TCP client that sends exactly the given bytes. It waits at most 20 s for an answer.
final class RawClient {
  enum Ending: Equatable { case closed, reset, timedOut }

  struct Answer: Equatable {
    var status: Int
    var head: String
    var body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? {
      for line in head.components(separatedBy: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2, parts[0].lowercased() == name.lowercased() {
          return parts[1].trimmingCharacters(in: .whitespaces)
        }
      }
      return nil
    }
  }

  struct Problem: Error { let what: String }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// With `receiveBytes` the client's window is small, so that the server's answers get stuck.
  init(port: UInt16, receiveBytes: Int32? = nil) throws {
    #if canImport(Darwin)
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
      set(SO_NOSIGPIPE, 1 as Int32)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    set(SO_RCVTIMEO, timeval(tv_sec: 300, tv_usec: 0))
    set(SO_SNDTIMEO, timeval(tv_sec: 300, tv_usec: 0))
    if let receiveBytes { set(SO_RCVBUF, receiveBytes) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe connect(descriptor, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    guard result == 0 else { throw Problem(what: "connect: errno \(errno)") }
  }

  deinit { _ = close(descriptor) }

  private func set<Value: BitwiseCopyable>(_ option: Int32, _ value: Value) {
    var value = value
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Value>.size))
  }

  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends as many bytes as it can, and returns whether it sent all of them.
  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe sendAll(descriptor, $0.baseAddress, $0.count, flags)
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives once. Returns nil if bytes arrived, otherwise how the stream ended.
  private func receiveMore() -> Ending? {
    var piece = [UInt8](repeating: 0, count: 64 * 1024)
    let count = unsafe piece.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count > 0 {
      buffer += piece[..<count]
      return nil
    }
    if count == 0 { return .closed }
    // A debugger that looks at the process interrupts the call.
    if count < 0, errno == EINTR { return nil }
    return errno == ECONNRESET || errno == EPIPE ? .reset : .timedOut
  }

  /// Reads until the server ends the stream. Returns the bytes, and how the stream ended.
  func readToEnd() -> (bytes: [UInt8], ending: Ending) {
    while true {
      guard let ending = receiveMore() else { continue }
      defer { buffer = [] }
      return (buffer, ending)
    }
  }

  /// Reads as far as the empty line after a head.
  func readHead() throws -> Answer {
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = buffer.firstRange(of: mark) {
        let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
        buffer.removeSubrange(..<end.upperBound)
        guard head.hasPrefix("HTTP/1.1 "), let status = Int(head.dropFirst(9).prefix(3)) else {
          throw Problem(what: "no status line: \(head)")
        }
        return Answer(status: status, head: head, body: [])
      }
      if let ending = receiveMore() { throw Problem(what: "ended (\(ending)) within a head") }
    }
  }

  /// One whole answer, with a body as long as its Content-Length says.
  func read() throws -> Answer {
    var answer = try readHead()
    let length = answer.header("Content-Length").flatMap { Int($0) } ?? 0
    while buffer.count < length {
      if let ending = receiveMore() { throw Problem(what: "ended (\(ending)) within a body") }
    }
    answer.body = Array(buffer[..<length])
    buffer.removeSubrange(..<length)
    return answer
  }

  func ask(_ text: String) throws -> Answer {
    send(text)
    return try read()
  }
}

// The method `send` hides the system's.
private func sendAll(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
  unsafe send(descriptor, bytes, count, flags)
}

/// This process's sockets bound to `port`: a server's listener and its side of its connections.
func descriptors(boundTo port: UInt16) -> [Int32] {
  // Other tests of this process may hold thousands of descriptors.
  (0..<getdtablesize()).filter { descriptor in
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafeMutableBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe getsockname(descriptor, $0.baseAddress, &size)
      }
    }
    return result == 0 && address.sin_family == sa_family_t(AF_INET) && address.sin_port == port.bigEndian
  }
}

func isClosedOnExec(_ descriptor: Int32) -> Bool {
  fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0
}
