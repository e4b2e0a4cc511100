public import Foundation
import PurchaseQueue
import PurchaseSQLite
public import PurchaseSync

/// Control of a running mock server. All members may be used from any thread, also in `onRequest`.
extension MockServer {
  /// The durable state at one moment.
  public func snapshot() throws(MockServerError) -> MockSnapshot {
    try withState { state in
      try state.backend.flush()
      return MockSnapshot(state, backend: try state.backend.model())
    }
  }

  /// Replaces the fault plan and counts occurrences from 1 again.
  public func setFaults(_ faults: FaultPlan) { mock.withLock { $0.faults = faults } }

  /// Limits how many requests the App Store Server API takes, and counts again; nil for no limit.
  public func setServerAPILimit(_ limit: ServerAPIRateLimit?) { mock.withLock { $0.limiter.limit = limit } }

  /// Moves the clock of store and backend; a negative step moves it back.
  public func moveClock(by step: Duration) {
    change { state in
      state.clockShift =
        Timestamp(milliseconds: state.clockShift)
        .adding(milliseconds: step.inMilliseconds).milliseconds
    }
  }

  /// Makes a bearer token invalid, as after an expired sign-in: 401 until `accept(token:)`.
  public func revoke(token: String) {
    change { _ = $0.credentials.revoked.insert(token) }
  }

  /// Ends a revocation.
  public func accept(token: String) {
    change { _ = $0.credentials.revoked.remove(token) }
  }

  /// Deletes an account: its credentials are refused with this status, 401 or 403, of type `auth`.
  public func delete(account: String, status: Int = 401) {
    change { $0.credentials.deleted[account] = status }
  }

  /// Where the store posts its notifications; nil for this server's own backend, at `/v1/notifications/appstore`. Who
  /// calls `goOn` posts them there.
  public var notificationURL: URL? {
    get { mock.withLock { $0.notificationURL }.flatMap { URL(string: $0) } }
    set {
      let text = newValue?.absoluteString
      change { $0.notificationURL = text }
    }
  }

  /// Whether a text is an absolute URL to which notifications can be posted.
  public static func isNotificationURL(_ text: String) -> Bool {
    guard let url = URL(string: text), let host = url.host(), !host.isEmpty else { return false }
    return url.scheme == "http" || url.scheme == "https"
  }

  /// Sets how long new orders wait for their payment; nil for no limit. An expired order still binds by its token.
  public func setOrderLifetime(_ lifetime: Duration?) {
    mock.withLock { $0.orderLifetime = lifetime?.inMilliseconds }
  }

  /// Moves an order to another state: deferred by Ask to Buy, cancelled or expired. A fulfilled order does not change.
  public func move(order number: String, to state: OrderState) throws(MockServerError) {
    try withState { try $0.backend.change { $0.move(order: number, to: state) } }
  }

  /// Makes the backend's disk refuse writes, or accept them again. A request that needs a commit is then answered 500.
  public func refuseWrites(_ refuses: Bool) throws(MockServerError) {
    try withState { try $0.backend.refuseWrites(refuses) }
  }

  /// The backend's whole state, for `restore(_:)`.
  public func backUp() throws(MockServerError) -> BackendBackup { try withState { try $0.backend.backUp() } }

  /// Sets the backend back to a backup. Everything since is lost, and the ledger epoch changes.
  public func restore(_ backup: BackendBackup) throws(MockServerError) {
    try withState { try $0.backend.restore(backup) }
  }

  /// Runs `body` with the store's model, for events outside the app, such as a refund. With a store that is kept, the
  /// change is in the file when this returns.
  public func withStore<R: Sendable, E: Error>(
    _ body: (inout StoreModel) throws(E) -> R
  ) throws(E) -> R {
    let now = now()
    return try mock.withLock { (state: inout MockState) throws(E) in
      defer { state.keepNow(now: now) }
      return try body(&state.store)
    }
  }

  /// Changes something that the file keeps.
  private func change(_ body: (inout MockState) -> Void) {
    let now = now()
    mock.withLock { state in
      body(&state)
      state.keepNow(now: now)
    }
  }

  private func withState<R: Sendable>(
    _ body: (inout MockState) throws -> R
  ) throws(MockServerError) -> R {
    do {
      return try mock.withLock(body)
    } catch {
      throw MockServerError("\(error)")
    }
  }
}
