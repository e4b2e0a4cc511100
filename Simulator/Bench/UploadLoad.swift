import Foundation
import LoopbackHTTP

/// The hidden `bench-upload`: sends so many requests by one way, and says in kilobytes how much the peak of memory grew
/// by it. A process of its own.
struct UploadLoad: Equatable {
  var way: UploadWay
  var requests: Int

  static func parse(_ arguments: [String]) -> Result<UploadLoad, Command.UsageError> {
    guard arguments.count == 2, let way = UploadWay(rawValue: arguments[0]), let count = Int(arguments[1]),
      count >= 0
    else { return .failure(Command.UsageError(message: "bench-upload needs bare or engine, and a number")) }
    return .success(UploadLoad(way: way, requests: count))
  }

  func execute() async -> Int32 {
    do {
      let growth = try await UploadServer.run { base in
        let before = try PeakMemory.ofThisProcess() ?? 0
        let send = try way.sender(to: base, proofBytes: UploadBench.proofBytes)
        for _ in 0..<requests { try await send() }
        return try (PeakMemory.ofThisProcess() ?? 0) - before
      }
      Terminal.line("\(growth)")
      return ExitCode.ok
    } catch {
      Terminal.error("purchase-simulator: bench-upload: \(error)")
      return ExitCode.internal
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
