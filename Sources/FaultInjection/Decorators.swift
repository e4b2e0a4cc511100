public import PurchaseSync

/// A transport with failpoints before a request leaves and after its answer has come.
public struct FailpointTransport: BackendTransport {
  private let base: any BackendTransport
  private let failpoints: Failpoints

  /// Decorates a transport.
  public init(_ base: any BackendTransport, _ failpoints: Failpoints) {
    self.base = base
    self.failpoints = failpoints
  }

  /// Passes `transport.send`, sends, passes `transport.answered`.
  public func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    failpoints.pass("transport.send")
    let response = try await base.send(request)
    failpoints.pass("transport.answered")
    return response
  }
}

/// A store with failpoints around finishing.
public struct FailpointStore: AppStore {
  private let base: any AppStore
  private let failpoints: Failpoints

  /// Decorates a store.
  public init(_ base: any AppStore, _ failpoints: Failpoints) {
    self.base = base
    self.failpoints = failpoints
  }

  /// Passes `store.listed` when the store has answered.
  public func unfinished() async throws -> StoreListing {
    let listing = try await base.unfinished()
    failpoints.pass("store.listed")
    return listing
  }

  /// Passes on.
  public func receipt() async throws -> [UInt8]? { try await base.receipt() }

  /// Passes on.
  public func refreshReceipt() async throws -> [UInt8]? { try await base.refreshReceipt() }

  /// Passes `store.finish`, finishes, passes `store.finished`.
  public func finish(transactionID: String) async throws -> FinishResult {
    failpoints.pass("store.finish")
    let result = try await base.finish(transactionID: transactionID)
    failpoints.pass("store.finished")
    return result
  }
}
