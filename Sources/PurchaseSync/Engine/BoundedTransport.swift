import PurchaseQueue

/// Makes the app's transport keep its protocol: a request ends in time, and at once when its task is cancelled.
///
/// A request that hangs would block its lane and its lease for ever, and keep the engine from going to the background.
/// It is left behind and its answer is ignored: the same upload is sent again.
struct BoundedTransport: BackendTransport {
  let transport: any BackendTransport
  var limit: TimeLimit

  init(
    transport: any BackendTransport, milliseconds: Int64,
    patience: @escaping @Sendable (Int64) async throws -> Void = SystemDependencies.live.patience
  ) {
    self.transport = transport
    limit = TimeLimit(milliseconds: milliseconds, patience: patience)
  }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    let transport = self.transport
    var request = request
    request.headers.merge(WireProtocol.headers) { own, _ in own }
    let result = await limit.answer {
      [request] () async -> Result<BackendResponse, TransportError>? in
      do throws(TransportError) {
        return .success(try await transport.send(request))
      } catch {
        // One that ends because it was left behind has not returned. A transport of the app's may quote what it sent.
        let failure = TransportError(error.kind, reason: Redaction.line(error.reason))
        return Task.isCancelled ? nil : .failure(failure)
      }
    }
    switch result {
    case .success(let response): return response
    case .failure(let error) where error.kind == .cancelled && !Task.isCancelled:
      // The engine did not cancel it, so it counts as failed.
      throw TransportError(.noAnswer, reason: error.reason)
    case .failure(let error): throw error
    case nil where Task.isCancelled: throw TransportError(.cancelled, reason: "the request was cancelled")
    case nil: throw TransportError(.timedOut, reason: "the transport gave no answer in time")
    }
  }
}
