package import AppStoreReceipts
package import BackendConformance
import Foundation
import PurchaseQueue
package import PurchaseSQLite
package import PurchaseSync
package import PurchaseSyncTesting
import TestSupport

/// A backend and a store of their own, both without sockets. A restart of the backend keeps its file and loses the rest.
package final class ConformanceFixture: Sendable {
  private let directory: TemporaryDirectory
  package let store: DirectTransport
  package let backend: DirectTransport
  private let hooks: BrokenHooks?
  private let environment: StoreEnvironment
  private let now: @Sendable () -> Timestamp
  private let storeServer: MockServer
  /// How long the kit has paused.
  package let paused = Locked(Duration.zero)

  package convenience init(_ broken: BrokenBackend? = nil, clock: SlowClock? = nil) throws {
    try self.init(hooks: broken?.hooks, clock: clock)
  }

  /// - Parameter clock: The clock of the store and of the backend: the system's unless it is given.
  package init(
    hooks: BrokenHooks?, environment: StoreEnvironment = .production, clock: SlowClock? = nil
  ) throws {
    (self.hooks, self.environment, now) = (hooks, environment, clock?.now ?? Timestamp.wallClock)
    directory = try TemporaryDirectory()
    storeServer = try Self.server(directory.path("store.sqlite"), nil, environment, now)
    store = DirectTransport()
    store.begin(storeServer)
    backend = DirectTransport()
    try startBackend()
  }

  private func startBackend() throws {
    let server = try Self.server(directory.path("backend.sqlite"), hooks, environment, now)
    server.verify(by: StoreOverHTTP(server: storeServer))
    backend.begin(server)
  }

  package func setFaults(_ faults: FaultPlan) { backend.server?.setFaults(faults) }

  private static func server(
    _ path: String, _ hooks: BrokenHooks?, _ environment: StoreEnvironment,
    _ now: @escaping @Sendable () -> Timestamp
  ) throws -> MockServer {
    try MockServer(
      databasePath: path, products: products, bundleID: "com.example.app", environment: environment, seed: 5,
      broken: hooks, now: now)
  }

  private static var products: [StoreProduct] {
    var shared = StoreProduct(id: "shared", kind: .nonConsumable)
    shared.isFamilyShareable = true
    var team = StoreProduct(subscription: "team", groupID: "team", period: .seconds(30 * 86_400))
    team.invitations = .apple
    return [
      StoreProduct(id: "coins", kind: .consumable), StoreProduct(id: "pro", kind: .nonConsumable),
      StoreProduct(id: "monthly", kind: .autoRenewable, period: .seconds(30 * 86_400)),
      shared, team, StoreProduct(id: "coins.500", kind: .consumable),
      StoreProduct(
        subscription: "basic", groupID: "plans", level: 2, period: .seconds(30 * 86_400),
        gracePeriod: .seconds(6 * 86_400)),
      StoreProduct(subscription: "premium", groupID: "plans", level: 1, period: .seconds(30 * 86_400)),
      StoreProduct(
        bundle: "plus", of: [.init("basic"), .init("press"), .init("radio", of: "com.partner.app")],
        period: .seconds(30 * 86_400)),
    ]
  }

  /// Requests that are being handled are answered first: a second server must not open the file of a running one.
  package func restart() async throws {
    await backend.end()
    try startBackend()
  }

  package var site: ConformanceSite {
    var site = ConformanceSite(
      backend: backend, store: store, tokens: ("token-alice", "token-bob"),
      describe: { body, _ in "\(body.count) bytes" })
    site.accounts = ("alice", "bob")
    site.restart = { [self] in try await restart() }
    site.pause = { [paused] step in paused.withLock { $0 += step } }
    return site
  }
}

/// The store as backends ask it: `verifyReceipt` about receipts, without a socket, and all else in process.
private struct StoreOverHTTP: ReceiptVerifier {
  let server: MockServer

  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    let others = server.storeInProcess
    guard let proof = query.document, proof.kind == .appReceipt || proof.kind == .transactionReceipt,
      // JSON of some MiB takes seconds in a debug build.
      proof.data.utf8.count < 64 << 10
    else { return others.answer(to: query, now: now) }
    return VerifyReceiptExchange.answer(
      about: proof, now: now, others: { others.answer(to: $0, now: now) },
      post: { body, host in
        let path = host == .production ? "verifyReceipt" : "sandbox/verifyReceipt"
        let request = BackendRequest(method: "POST", path: path, headers: [:], body: body)
        do throws(TransportError) {
          let response = try server.directAnswer(to: request)
          return (response.status, response.body)
        } catch {
          return nil
        }
      })
  }
}

/// Calls the handler of a server on a thread of its own, so that requests at the same time overlap.
package final class DirectTransport: BackendTransport {
  private struct State {
    var server: MockServer?
    var requests = 0
  }

  private let state = Locked(State())

  package var server: MockServer? { state.value.server }

  func begin(_ server: MockServer) { state.withLock { $0.server = server } }

  /// From now on no request is answered. Returns when none is being handled.
  func end() async {
    let server = state.withLock { state in
      defer { state.server = nil }
      return state.server
    }
    while state.value.requests > 0 { await Task.yield() }
    server?.stop()
  }

  package func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    let server = state.withLock { state in
      state.requests += state.server == nil ? 0 : 1
      return state.server
    }
    guard let server else { throw TransportError(reason: "the connection was refused") }
    let result = await withCheckedContinuation { continuation in
      // Not a pool of threads: it would let requests wait for one another.
      Thread.detachNewThread { [state] in
        let result = Self.answer(request, of: server)
        state.withLock { $0.requests -= 1 }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  private static func answer(
    _ request: BackendRequest, of server: MockServer
  ) -> Result<BackendResponse, TransportError> {
    // The limit of the HTTP server.
    guard request.body.count <= 16 << 20 else { return .success(BackendResponse(status: 413, body: Data())) }
    return Result { () throws(TransportError) in try server.directAnswer(to: request) }
  }
}
