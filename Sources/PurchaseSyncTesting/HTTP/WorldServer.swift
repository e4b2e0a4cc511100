public import AppStoreReceipts
public import Foundation
import LoopbackHTTP
public import PurchaseQueue

/// The world that an app meets, on loopback: a model of the App Store under `/store`, a backend with a durable
/// ledger under `/v1`.
///
/// All members may be used from any thread; one lock makes every request a single step. The store's model lives
/// in memory and dies with this object; the backend's state is in a database file and committed before each
/// answer.
public final class WorldServer: Sendable {
  let world: Locked<WorldState>
  private let server: HTTPServer
  private let now: @Sendable () -> Timestamp
  private let host = Locked("127.0.0.1")

  /// Opens or creates the backend's database; serves nothing before `start`.
  ///
  /// - Parameters:
  ///   - databasePath: The backend's SQLite file. One from an earlier run is continued, with its own seed.
  ///   - products: What the store sells and the backend takes orders for.
  ///   - bundleID: The app's; transactions of others are rejected.
  ///   - environment: Which store this is.
  ///   - tokens: Bearer tokens and their accounts, besides `token-<account>`, which is always good.
  ///   - faults: What goes wrong with which requests. The path `/store/verify` stands for the backend's own calls
  ///     to the store: any fault there makes them unanswered.
  ///   - seed: What order tokens follow from.
  ///   - broken: How the backend is wrong on purpose, if it is.
  ///   - onRequest: Called twice per request, before and after handling, on the connection's thread and without
  ///     the lock; the request waits for it. It must not call `stop()`.
  ///   - now: The clock. Called on several threads.
  /// - Throws: `WorldServerError` when the file cannot be opened, read or written.
  public init(
    databasePath: String, products: [StoreProduct], bundleID: String,
    environment: StoreEnvironment = .production,
    tokens: [String: String] = [:], faults: FaultPlan = .none, seed: UInt64 = 0, broken: BrokenBackend? = nil,
    onRequest: (@Sendable (RequestMoment) -> Void)? = nil, now: @escaping @Sendable () -> Timestamp
  ) throws(WorldServerError) {
    let backend: BackendStore
    let known: BackendModel
    do throws(BackendStoreError) {
      backend = try BackendStore(path: databasePath, bundleID: bundleID, seed: seed)
      known = try backend.model()
    } catch {
      throw WorldServerError(error)
    }
    let store = StoreModel(
      products: products, forge: ReceiptForge(bundleID: bundleID), environment: environment,
      firstTransactionID: Self.firstTransactionID(after: known))
    var state = WorldState(
      store: store, backend: backend, faults: faults, credentials: Credentials(tokens: tokens))
    state.broken = broken
    let world = Locked(state)
    self.world = world
    self.now = now
    let commits = GroupCommit()
    // The server asks for a fault once per well-formed request, so this is where all of them are counted.
    // While a receipt is verified over HTTP, its connection waits for another one of this server.
    server = HTTPServer(
      limits: HTTPLimits(connections: 512),
      fault: { request in
        let (ordinal, fault) = world.withLock { $0.admit(request) }
        onRequest?(RequestMoment(request, ordinal: ordinal, phase: .beforeHandling, fault: fault))
        return fault
      },
      handler: { request in
        let (ordinal, response) = Self.handle(request, world, commits, now: now)
        onRequest?(RequestMoment(request, ordinal: ordinal, phase: .afterHandling, status: response.status))
        return response
      })
  }

  /// The store begins anew with each server, and the backend's file goes on: an id that it knows would be a duplicate.
  private static func firstTransactionID(after known: BackendModel) -> Int64 {
    let ids =
      known.purchases.map(\.transaction.transactionID) + known.credits.map(\.transaction.transactionID)
      + known.verdicts.map(\.transactionID)
    let last = ids.compactMap { Int64($0) }.filter { $0 < 9_000_000_000_000_000 }.max() ?? 0
    return max(last + 1, 2_000_000_000_000_001)
  }

  /// What the answer says, and what it was judged by, is durable before it is sent.
  private static func handle(
    _ request: HTTPRequest, _ world: Locked<WorldState>, _ commits: GroupCommit, now: () -> Timestamp
  ) -> (ordinal: Int, response: HTTPResponse) {
    let answers = ask(about: request, world, now: now())
    let (ordinal, response, number, backend) = world.withLock { state in
      let handled = state.handle(request, now: now(), answers: answers)
      return (handled.ordinal, handled.response, state.backend.lastGathered, state.backend)
    }
    do throws(BackendStoreError) {
      try commits.wait(for: number) {
        let batch = world.withLock { $0.backend.take() }
        do throws(BackendStoreError) {
          try backend.commit(batch)
          return GroupCommit.Outcome(through: batch.through)
        } catch {
          return GroupCommit.Outcome(through: world.withLock { $0.backend.abandon() }, failure: error)
        }
      }
    } catch {
      return (ordinal, HTTPProblem.failed(error).response)
    }
    return (ordinal, response)
  }

  /// What the backend has to know of the store, where that is asked over HTTP: without the lock, since the store's
  /// answer is a request to this server too.
  private static func ask(
    about request: HTTPRequest, _ world: Locked<WorldState>, now: Timestamp
  ) -> StoreAnswers {
    // Nobody's credentials make the backend ask anything.
    let (verifier, shift) = world.withLock { ($0.mayAsk(about: request) ? $0.verifier : nil, $0.clockShift) }
    guard let verifier else { return [:] }
    var answers: StoreAnswers = [:]
    for query in WorldState.queries(of: request) {
      answers[query] = verifier.answer(to: query, now: now.adding(milliseconds: shift))
    }
    return answers
  }

  /// From now on the backend asks `/verifyReceipt` over HTTP about receipts, as real ones do: what is planned to go
  /// wrong with those requests goes wrong with its. Of use after `start`.
  public func verifyOverHTTP() {
    let password = world.withLock { $0.store.sharedSecret }
    let verifier = HTTPReceiptVerifier(
      production: baseURL.appendingPathComponent("verifyReceipt"),
      sandbox: baseURL.appendingPathComponent("sandbox/verifyReceipt"), password: password,
      others: StoreInProcess(world: world))
    world.withLock { $0.verifier = verifier }
  }

  /// From now on the backend asks this one about everything, such as a store that another server serves; this server's
  /// own store is nobody's then.
  public func verify(by verifier: any ReceiptVerifier) { world.withLock { $0.verifier = verifier } }

  /// Called before each row that the backend writes, and once more before a commit: where tests kill the process.
  package func setBeforeWrite(_ hook: (() -> Void)?) {
    world.withLock { $0.backend.beforeWrite = hook }
  }

  /// Listens; after it returned clients can connect.
  ///
  /// - Parameters:
  ///   - port: Where; 0 for one that is free.
  ///   - host: 127.0.0.1, or an IPv4 address of this machine: whoever reaches that may pay and grant.
  public func start(port: UInt16 = 0, host: String = "127.0.0.1") throws(WorldServerError) {
    do throws(HTTPServerError) {
      try server.start(port: port, host: host)
      self.host.withLock { $0 = host == "0.0.0.0" || host == "localhost" ? "127.0.0.1" : host }
    } catch {
      throw WorldServerError(error)
    }
  }

  /// The world's time: the clock's, and as far ahead as somebody moved it.
  public var moment: Timestamp {
    let now = now()
    return world.withLock { now.adding(milliseconds: $0.clockShift) }
  }

  /// What store and backend do by themselves until now: renewals are charged, what is due of the store's notifications
  /// is posted, and the backend's job runs every 12 hours (R3.9). To be called again and again; the number of posts.
  ///
  /// - Parameter post: Posts a body as `application/json` to the backend, and gives the HTTP status; nil for no answer.
  @discardableResult
  public func goOn(post: @escaping @Sendable (Data) async -> Int?) async -> Int {
    let moment = moment
    world.withLock { state in
      state.store.advance(to: moment)
      state.runDueJob(now: moment)
    }
    return await NotificationPoster(self, post: post).postDue(now: moment)
  }

  /// Closes every connection and waits for requests that are being handled. Idempotent.
  public func stop() {
    server.stop()
    // It holds on to the world, which holds it.
    world.withLock { $0.verifier = nil }
  }

  /// Where it listens, such as `http://127.0.0.1:49152`; of use only after `start`.
  public var baseURL: URL {
    var components = URLComponents()
    components.scheme = "http"
    components.host = host.withLock { $0 }
    components.port = Int(server.port)
    // Four fixed parts always make a URL; the other branch satisfies the compiler.
    return components.url ?? URL(filePath: "/")
  }
}
