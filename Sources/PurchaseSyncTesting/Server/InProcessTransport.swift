import Dispatch
import LoopbackHTTP
public import PurchaseSync

/// The way to a mock server in the same process, without sockets: for tests, which are quicker with it.
///
/// Faults strike as over HTTP, as far as a client can distinguish them: an answer that is cut is a lost connection.
/// There is no check of requests that are not HTTP, and a task that is cancelled learns of it when its request is
/// answered. Use `URLSessionTransport` with ``MockServer/baseURL`` to test the network itself. Call it from any thread.
public struct InProcessTransport: BackendTransport {
  private let server: MockServer

  init(to server: MockServer) { self.server = server }

  /// Sends the request. Throws `TransportError` if a fault loses it or its answer, or if the task was cancelled.
  public func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    do {
      let response = try await server.answer(HTTPRequest(request)) {
        try await Task.sleep(nanoseconds: UInt64(max(0, $0)) * 1_000_000)
      } handling: { call in
        // The handler waits for the disk.
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async { [server] in continuation.resume(returning: server.handler(call)) }
        }
      }
      try Task.checkCancellation()
      return response
    } catch let error as TransportError {
      throw error
    } catch {
      throw TransportError(.cancelled, reason: "the task was cancelled")
    }
  }
}

extension MockServer {
  /// The way to this server for the code of this process, without sockets. `start()` is not needed for it.
  public var transport: InProcessTransport { InProcessTransport(to: self) }

  /// The answer, with the fault that is planned for this request. `pause` waits so many milliseconds.
  func answer(
    _ call: HTTPRequest, pause: (Int64) async throws -> Void,
    handling handle: (HTTPRequest) async -> HTTPResponse
  ) async throws -> BackendResponse {
    let lost = TransportError(reason: "the connection was lost")
    switch fault(call) {
    case nil: return BackendResponse(await handle(call))
    case .dropBeforeCommit, .garbage: throw lost
    case .dropAfterCommit, .reset, .truncate, .wrongLength:
      _ = await handle(call)
      throw lost
    case .respond(let response): return BackendResponse(response)
    case .delay(let milliseconds):
      try await pause(Int64(milliseconds))
      return BackendResponse(await handle(call))
    case .stall(let milliseconds):
      _ = await handle(call)
      try await pause(Int64(milliseconds))
      throw lost
    case .deliverTwice:
      _ = await handle(call)
      return BackendResponse(await handle(call))
    case .dribble(let bytes, let milliseconds):
      let response = await handle(call)
      try await pause(Int64(milliseconds) * Int64(response.body.count / max(1, bytes)))
      return BackendResponse(response)
    }
  }

  /// The answer, made on the calling thread. A planned fault that is no answer loses the connection.
  package func directAnswer(to request: BackendRequest) throws(TransportError) -> BackendResponse {
    let call = HTTPRequest(request)
    switch fault(call) {
    case nil: return BackendResponse(handler(call))
    case .respond(let response): return BackendResponse(response)
    default: throw TransportError(reason: "the connection was lost")
    }
  }
}
