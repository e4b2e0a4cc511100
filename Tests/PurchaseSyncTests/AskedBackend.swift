import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Asks a backend with a protocol of its own, as an engine does, and returns what HTTP would say.
struct AskedBackend {
  let backend: TypedBackend

  init(_ backend: any PurchaseBackend) {
    self.backend = TypedBackend(backend, SyncConfiguration(path: "unused"), LateCalls())
  }

  func send(
    _ upload: UploadRequest, for caller: BackendCaller = BackendCaller(account: "alice", token: "t")
  ) async throws(TransportError) -> BackendResponse {
    switch await CallFailure.answer(of: { try await backend.verdicts(of: upload, for: caller) }) {
    case .success(let reply):
      do {
        return BackendResponse(
          status: 200, retryAfter: reply.pauseMilliseconds.map(Self.seconds),
          body: try JSONEncoder().encode(reply))
      } catch {
        throw TransportError(reason: "\(error)")
      }
    case .failure(.said(let failure)):
      var response = BackendResponse(status: failure.status, body: Data())
      if case .busy(let pause) = failure {
        response.retryAfter = pause.map { Self.seconds(CallFailure.milliseconds(of: $0)) }
      }
      return response
    case .failure(.cancelled): throw TransportError(.cancelled, reason: CallFailure.cancelled.reason)
    case .failure(.failed(let reason)): throw TransportError(reason: reason)
    }
  }

  private static func seconds(_ milliseconds: Int64) -> String { "\(milliseconds / 1_000)" }
}
