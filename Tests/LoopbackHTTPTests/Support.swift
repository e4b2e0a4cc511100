import Foundation
import LoopbackHTTP

/// A handler that records its requests.
final class Recorder: @unchecked Sendable {
  private let lock = NSLock()
  private var seen: [HTTPRequest] = []

  var requests: [HTTPRequest] { lock.withLock { seen } }
  var paths: [String] { requests.map(\.path) }

  /// Answers with method, path and body, so that each answer says which request it is for.
  func answer(_ request: HTTPRequest) -> HTTPResponse {
    lock.withLock { seen.append(request) }
    let echo = Array("\(request.method) \(request.path) ".utf8) + request.body
    return HTTPResponse(status: 200, headers: ["Content-Type": "text/plain"], body: echo)
  }
}

/// Runs `body` with a started server that echoes, and stops it in any case.
func withServer(
  limits: HTTPLimits = HTTPLimits(),
  fault: (@Sendable (HTTPRequest) -> Fault?)? = nil,
  handler: (@Sendable (HTTPRequest) -> HTTPResponse)? = nil,
  _ body: (HTTPServer, Recorder) throws -> Void
) throws {
  let recorder = Recorder()
  let server = HTTPServer(limits: limits, fault: fault, handler: handler ?? recorder.answer)
  try server.start()
  defer { server.stop() }
  try body(server, recorder)
}

func get(_ path: String, _ headers: String = "") -> String {
  "GET \(path) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n"
}

func post(_ path: String, _ body: String, _ headers: String = "") -> String {
  "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
}

/// How long `body` takes, on a monotonic clock.
func duration(_ body: () -> Void) -> Duration {
  ContinuousClock().measure(body)
}

/// A generator with a seed, so that a failure can be repeated (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
