import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// A backend and a store over HTTP, with the files, the vault and the credentials of an app on one device.
struct EngineFixture: Sendable {
  static let product = "gems"
  let server: MockServer
  let directory: String
  var configuration: SyncConfiguration
  let store: MockStoreClient
  let accounts = SignedIn()

  /// A fixture for the time of a test.
  static func with(_ faults: FaultPlan = .none, _ body: (EngineFixture) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/EngineFixture-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let server = try MockServer(
      databasePath: directory + "/fixture.sqlite", products: [StoreProduct(id: product, kind: .consumable)],
      bundleID: "com.example", faults: faults, now: Timestamp.wallClock)
    try server.start()
    defer {
      server.stop()
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        Issue.record(error, "the temporary directory stays behind")
      }
    }
    let configuration = SyncConfiguration(
      path: directory + "/queue.sqlite", vault: DirectoryVault(directory: directory + "/vault"),
      retry: RetryPolicy().scaled(by: 1_000)
    ).patient
    try await body(
      EngineFixture(
        server: server, directory: directory, configuration: configuration,
        store: MockStoreClient(server: server, storeAccount: "apple-id")))
  }

  var transport: InProcessTransport { server.transport }

  /// Opens an engine. Parts that are not given are the fixture's own.
  func open(
    store: (any StoreClient)? = nil, transport: (any BackendTransport)? = nil,
    credentials: CredentialSource? = nil
  ) async throws -> SyncEngine {
    let accounts = self.accounts
    return try await SyncEngine.open(
      configuration, store: store ?? self.store, transport: transport ?? self.transport,
      credentials: credentials ?? { accounts.token(of: $0.account) })
  }

  /// Makes an order, pays it, and passes the transaction to the engine.
  @discardableResult func buy(
    _ engine: SyncEngine, account: String = "alice", delivery: StoreDelivery? = nil
  ) async throws -> PurchaseOrder {
    let order = try await engine.begin(product: Self.product, account: account)
    try await engine.receive(try await pay(token: order.accountToken, delivery: delivery))
    return order
  }

  func pay(token: UUID? = nil, delivery: StoreDelivery? = nil) async throws -> StoreTransaction {
    try await store.pay(product: Self.product, quantity: 1, accountToken: token, delivery: delivery)
  }

  func uploads() throws -> Int { try server.snapshot().requests["POST /v1/receipts"] ?? 0 }

  /// Whether another process could send this lane.
  func isFree(_ lane: Lane) throws -> Bool {
    let other = try QueueFile(path: configuration.path, now: Timestamp.wallClock())
    guard let lease = try other.lease(lane) else { return false }
    lease.release()
    return true
  }

  /// Confirms each outcome until no entry, no unconfirmed outcome and no pending finish is left on the device.
  func finishAll(_ engine: SyncEngine) async throws {
    try await until {
      for outcome in try await engine.snapshot().outcomes { try await engine.confirm(outcome) }
      return try await engine.snapshot() == SyncSnapshot()
    }
  }

  /// Every purchase was credited once and is finished.
  func expectAllDelivered(_ count: Int = 1) throws {
    let log = try server.snapshot()
    #expect(log.credits.count == count)
    #expect(log.doubledCredits == 0)
    #expect(!log.charges.contains { !$0.isFinished })
  }
}

/// A state that a test waits for has not come.
struct NeverCame: Error, CustomStringConvertible {
  let description: String
}

/// Waits for a state of the fixture. It looks after a millisecond, then ever more slowly, at last every sixteen, and
/// gives up after so many looks: on a busy machine they take longer.
func until(
  looks: Int = 20_000, _ caller: String = #function, at location: SourceLocation = #_sourceLocation,
  _ isSo: () async throws -> Bool
) async throws {
  for look in 0..<looks {
    if try await isSo() { return }
    try await Task.sleep(for: .milliseconds(min(16, 1 + look / 4)))
  }
  throw NeverCame(description: "\(caller), line \(location.line): not so after \(looks) looks")
}

/// The first snapshot that matches. The next snapshot may differ already.
func snapshot(
  of engine: SyncEngine, _ caller: String = #function, at location: SourceLocation = #_sourceLocation,
  where isSo: (SyncSnapshot) -> Bool
) async throws -> SyncSnapshot {
  var found: SyncSnapshot?
  try await until(caller, at: location) {
    let snapshot = try await engine.snapshot()
    if isSo(snapshot) { found = snapshot }
    return found != nil
  }
  return try #require(found)
}

/// The events up to the first one that matches.
func events(_ engine: SyncEngine, until isLast: (SyncEvent) -> Bool) async throws -> [SyncEvent] {
  var all: [SyncEvent] = []
  for await event in try await engine.eventStream() {
    all.append(event)
    if isLast(event) { break }
  }
  return all
}

/// The credentials of the accounts.
final class SignedIn: Sendable {
  private let out = Locked<Set<String>>([])

  func token(of account: String) -> String? { out.value.contains(account) ? nil : "token-" + account }
  func signOut(_ account: String) { out.withLock { _ = $0.insert(account) } }
  func signIn(_ account: String) { out.withLock { _ = $0.remove(account) } }
}

/// A place where calls wait until it is opened.
final class Gate: Sendable {
  private struct State {
    var isClosed = false
    var count = 0
    var waiting: [AsyncStream<Never>.Continuation] = []
  }

  private let state = Locked(State())

  /// The number of calls that arrived while the gate was closed.
  var arrivals: Int { state.value.count }

  func close() { state.withLock { $0.isClosed = true } }

  /// True in the first call only.
  func isFirst() -> Bool {
    state.withLock {
      $0.count += 1
      return $0.count == 1
    }
  }

  func open() {
    let all = state.withLock { state in
      defer { (state.isClosed, state.waiting) = (false, []) }
      return state.waiting
    }
    for one in all { one.finish() }
  }

  /// Waits until the gate is open. A call that ignores its cancellation continues to wait.
  func pass(ignoringCancellation: Bool = true) async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let mustWait = state.withLock { state in
      if state.isClosed {
        state.count += 1
        state.waiting.append(continuation)
      }
      return state.isClosed
    }
    guard mustWait else { return }
    if ignoringCancellation {
      await Task.detached { for await _ in stream {} }.value
    } else {
      for await _ in stream {}
    }
  }
}

/// Delays the requests to one path.
struct GatedTransport: BackendTransport {
  let inner: any BackendTransport
  let gate: Gate
  var path = "v1/receipts"
  var ignoresCancellation = true

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    if request.path.hasPrefix(path) { await gate.pass(ignoringCancellation: ignoresCancellation) }
    if Task.isCancelled, !ignoresCancellation {
      throw TransportError(.cancelled, reason: "the request was cancelled")
    }
    return try await inner.send(request)
  }
}

/// Delays some of the store's calls.
struct GatedStore: StoreClient {
  let inner: MockStoreClient
  var listing = Gate()
  var finishing = Gate()

  func unfinished() async throws -> StoreListing {
    await listing.pass()
    return try await inner.unfinished()
  }

  func receipt() async throws -> [UInt8]? { try await inner.receipt() }
  func refreshReceipt() async throws -> [UInt8]? { try await inner.refreshReceipt() }

  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    await finishing.pass()
    return try await inner.finish(transactionIDs: transactionIDs)
  }
}

extension SyncConfiguration {
  /// The same without limits of real time: a busy machine may run the other side of a test minutes later.
  var patient: SyncConfiguration {
    var configuration = self
    configuration.storeTimeLimit = .seconds(86_400)
    configuration.credentialTimeLimit = .seconds(86_400)
    configuration.backendTimeLimit = .seconds(86_400)
    configuration.requestTimeLimit = .seconds(86_400)
    return configuration
  }
}
