import Testing

@testable import LoopbackHTTP

/// Connections that the server closes while it continues to listen.
@Suite struct DropTests {
  @Test func `dropped connections are closed, and new ones are served`() throws {
    let server = HTTPServer { _ in HTTPResponse(status: 204) }
    try server.start()
    defer { server.stop() }
    let port = server.port
    let old = try RawClient(port: port)
    #expect(try old.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 204)
    old.send("GET / HTTP/1.1\r\n")
    try server.dropConnections()
    #expect(old.readToEnd().bytes.isEmpty)
    #expect(server.port == port)
    #expect(try RawClient(port: port).ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 204)
  }

  @Test func `a connection that was not accepted yet is dropped too`() throws {
    let server = HTTPServer { _ in HTTPResponse(status: 204) }
    try server.start()
    defer { server.stop() }
    let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
    try server.dropConnections()
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.readToEnd().bytes.isEmpty)
    }
  }

  @Test func `a server that does not run has nothing to drop`() throws {
    try HTTPServer { _ in HTTPResponse(status: 204) }.dropConnections()
  }
}
