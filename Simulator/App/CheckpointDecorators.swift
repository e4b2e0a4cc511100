import ProcessFaults
import PurchaseQueue
import PurchaseSync

/// A transport with checkpoints before a request is sent and after its response has come.
struct CheckpointTransport: BackendTransport {
  private let base: any BackendTransport
  private let checkpoints: Checkpoints

  /// Decorates a transport.
  init(_ base: any BackendTransport, _ checkpoints: Checkpoints) {
    self.base = base
    self.checkpoints = checkpoints
  }

  /// Passes `transport.send`, sends, passes `transport.answered`.
  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    checkpoints.pass(.transportSend)
    let response = try await base.send(request)
    checkpoints.pass(.transportAnswered)
    return response
  }
}

/// A store with checkpoints around finishing.
struct CheckpointStore: StoreClient {
  private let base: any StoreClient
  private let checkpoints: Checkpoints

  /// Decorates a store.
  init(_ base: any StoreClient, _ checkpoints: Checkpoints) {
    self.base = base
    self.checkpoints = checkpoints
  }

  /// Passes `store.listed` when the store has answered.
  func unfinished() async throws -> StoreListing {
    let listing = try await base.unfinished()
    checkpoints.pass(.storeListed)
    return listing
  }

  /// Passes on.
  func receipt() async throws -> [UInt8]? { try await base.receipt() }

  /// Passes on.
  func refreshReceipt() async throws -> [UInt8]? { try await base.refreshReceipt() }

  /// Passes `store.finish`, finishes, passes `store.finished`.
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    checkpoints.pass(.storeFinish)
    let results = try await base.finish(transactionIDs: transactionIDs)
    checkpoints.pass(.storeFinished)
    return results
  }
}
