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
  public func unfinishedTransactions() async throws -> [StoreTransaction] {
    let transactions = try await base.unfinishedTransactions()
    failpoints.pass("store.listed")
    return transactions
  }

  /// Passes `store.finish`, finishes, passes `store.finished`.
  public func finish(transactionID: String) async throws {
    failpoints.pass("store.finish")
    try await base.finish(transactionID: transactionID)
    failpoints.pass("store.finished")
  }
}
