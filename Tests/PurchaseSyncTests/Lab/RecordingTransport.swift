import Foundation
import PurchaseSQLite
import PurchaseSync

/// Passes requests on and keeps them. `answer` replaces the answer of some.
struct RecordingTransport: BackendTransport {
  let inner: any BackendTransport
  let seen = Locked<[BackendRequest]>([])
  var answer: @Sendable (BackendRequest) -> BackendResponse? = { _ in nil }

  init(
    _ inner: any BackendTransport,
    answer: @escaping @Sendable (BackendRequest) -> BackendResponse? = { _ in nil }
  ) {
    (self.inner, self.answer) = (inner, answer)
  }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    seen.withLock { $0.append(request) }
    if let made = answer(request) { return made }
    return try await inner.send(request)
  }
}
