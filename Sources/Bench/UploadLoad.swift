import Foundation
import LoopbackHTTP

/// The hidden command `bench-upload`: sends requests in one way, and measures how much the peak of memory grew by that.
/// A process of its own.
package struct UploadLoad: Equatable, Sendable {
  package var way: UploadWay
  package var requests: Int

  package init(way: UploadWay, requests: Int) { (self.way, self.requests) = (way, requests) }

  /// Returns the growth in kilobytes.
  package func run() async throws -> Int {
    try await UploadServer.run { base in
      let before = try PeakMemory.ofThisProcess() ?? 0
      let send = try way.sender(to: base, proofBytes: UploadBench.proofBytes)
      for _ in 0..<requests { try await send() }
      return try (PeakMemory.ofThisProcess() ?? 0) - before
    }
  }
}

/// A server on loopback that answers every upload in the same way.
enum UploadServer {
  static func run<R>(_ body: (URL) async throws -> R) async throws -> R {
    let reply = HTTPResponse(
      status: 200, headers: ["Content-Type": "application/json"], body: UploadWay.reply)
    let server = HTTPServer { _ in reply }
    try server.start()
    defer { server.stop() }
    guard let base = URL(string: "http://127.0.0.1:\(server.port)") else {
      throw BenchError.uploadFailed("address")
    }
    return try await body(base)
  }
}
