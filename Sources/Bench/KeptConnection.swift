#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One persistent HTTP/1.1 connection to this machine: a minimal client for a load test.
final class KeptConnection {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  init(port: UInt16) throws(BenchError) {
    #if canImport(Darwin)
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw .lastCall("socket", "127.0.0.1") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe connect(descriptor, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    guard result == 0 else { throw .lastCall("connect", "127.0.0.1:\(port)") }
  }

  deinit { _ = close(descriptor) }

  static func request(
    _ method: String, _ path: String, authorization: String, headers: [String] = [], body: [UInt8] = []
  ) -> [UInt8] {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(authorization)\r\n"
    for header in headers { head += header + "\r\n" }
    if !body.isEmpty { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }

  /// Sends a request and reads the whole answer. Returns its status and its body.
  func ask(_ request: [UInt8]) throws(BenchError) -> (status: Int, body: ArraySlice<UInt8>) {
    try send(request)
    var filled = 0
    while true {
      let count = try receive(at: filled)
      guard count > 0 else { throw .uploadFailed("the connection was closed in the middle of an answer") }
      filled += count
      guard let end = Self.endOfHead(buffer[..<filled]) else { continue }
      let head = String(decoding: buffer[..<end], as: UTF8.self)
      let whole = end + 4 + Self.length(head)
      if whole > buffer.count { buffer += [UInt8](repeating: 0, count: whole - buffer.count) }
      while filled < whole {
        let count = try receive(at: filled)
        guard count > 0 else { throw .uploadFailed("the connection was closed in the middle of a body") }
        filled += count
      }
      return (Int(head.dropFirst(9).prefix(3)) ?? 0, buffer[(end + 4)..<whole])
    }
  }

  private func send(_ bytes: [UInt8]) throws(BenchError) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        #if canImport(Darwin)
          unsafe Darwin.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, 0)
        #else
          unsafe Glibc.send(
            descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
        #endif
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .lastCall("send", "127.0.0.1") }
      sent += count
    }
  }

  private func receive(at offset: Int) throws(BenchError) -> Int {
    if offset == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset, 0)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .lastCall("recv", "127.0.0.1") }
      return count
    }
  }

  private static func endOfHead(_ bytes: ArraySlice<UInt8>) -> Int? {
    let end: [UInt8] = [13, 10, 13, 10]
    guard bytes.count >= 4 else { return nil }
    return (bytes.startIndex...(bytes.endIndex - 4)).first { bytes[$0..<($0 + 4)].elementsEqual(end) }
  }

  private static func length(_ head: String) -> Int {
    for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
      return Int(line.dropFirst(15).filter { $0 != " " }) ?? 0
    }
    return 0
  }
}
