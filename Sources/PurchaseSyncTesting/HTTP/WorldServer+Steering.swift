import PurchaseQueue
public import PurchaseSync

/// What a test or a simulator does to the world while it runs, and what it asks of it. All of it from any thread, also
/// from the hook of `onRequest`.
extension WorldServer {
  /// Everything there is to count, as of one moment, and durable.
  public func snapshot() throws(WorldServerError) -> WorldSnapshot {
    try withState { (state: inout WorldState) throws(BackendStoreError) in
      try state.backend.flush()
      return WorldSnapshot(state, backend: try state.backend.model())
    }
  }

  /// Replaces what goes wrong from now on; occurrences are counted anew.
  public func setFaults(_ faults: FaultPlan) {
    world.withLock { state in
      state.faults = faults
      state.faultDocument = FaultPlanDocument(rules: [])
    }
  }

  /// The same by a document, which the status page then shows.
  public func setFaults(_ document: FaultPlanDocument) {
    world.withLock { state in
      state.faults = FaultPlan(document)
      state.faultDocument = document
    }
  }

  /// Moves the clock of store and backend on, or back, from where it is.
  public func moveClock(milliseconds: Int64) {
    world.withLock { state in
      state.clockShift =
        Timestamp(milliseconds: state.clockShift).adding(milliseconds: milliseconds).milliseconds
    }
  }

  /// Makes a bearer token invalid, as an expired sign-in is: 401 until it is accepted again.
  public func revoke(token: String) {
    world.withLock { _ = $0.credentials.revoked.insert(token) }
  }

  /// Ends a revocation.
  public func accept(token: String) {
    world.withLock { _ = $0.credentials.revoked.remove(token) }
  }

  /// Deletes an account: its credentials are refused with 401, or with 403, of type `auth`.
  public func delete(account: String, status: Int = 401) {
    world.withLock { $0.credentials.deleted[account] = status }
  }

  /// How long new orders wait for their payment, in milliseconds; nil: for ever. An order that expired still binds by
  /// its token.
  public func setOrderLifetime(milliseconds: Int64?) {
    world.withLock { $0.orderLifetime = milliseconds }
  }

  /// Moves an order to another state: deferred by Ask to Buy, cancelled, expired. A fulfilled one stays as it is.
  public func move(order number: String, to state: OrderState) throws(WorldServerError) {
    try withState { (world: inout WorldState) throws(BackendStoreError) in
      try world.backend.perform(failing: { $0 }) {
        model throws(BackendStoreError) -> (Void, [BackendWrite]) in
        ((), model.move(order: number, to: state))
      }
    }
  }

  /// The backend's disk takes no writes any more, or takes them again: what has to be committed is answered 500.
  public func refuseWrites(_ refuses: Bool) throws(WorldServerError) {
    try withState { (state: inout WorldState) throws(BackendStoreError) in
      try state.backend.refuseWrites(refuses)
    }
  }

  /// The backend's whole state, to be restored later in the story.
  public func backUp() throws(WorldServerError) -> BackendBackup {
    try withState { (state: inout WorldState) throws(BackendStoreError) in try state.backend.backUp() }
  }

  /// The backend loses everything since the backup, and its ledger epoch changes.
  public func restore(_ backup: BackendBackup) throws(WorldServerError) {
    try withState { (state: inout WorldState) throws(BackendStoreError) in
      try state.backend.restore(backup)
    }
  }

  /// Changes the store's model directly, for what people do without the app: a refund, say.
  public func withStore<R: Sendable, E: Error>(
    _ body: (inout StoreModel) throws(E) -> R
  ) throws(E) -> R {
    try world.withLock { (state: inout WorldState) throws(E) in try body(&state.store) }
  }

  private func withState<R: Sendable>(
    _ body: (inout WorldState) throws(BackendStoreError) -> R
  ) throws(WorldServerError) -> R {
    try world.withLock { (state: inout WorldState) throws(WorldServerError) in
      do throws(BackendStoreError) {
        return try body(&state)
      } catch {
        throw WorldServerError(error)
      }
    }
  }
}
