public import AppStoreReceipts
public import Foundation
import LoopbackHTTP
public import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The mock server that an app connects to over loopback HTTP: a model of the App Store under `/store`, and a backend
/// with a durable ledger under `/v1`.
///
/// All members may be used from any thread; one lock makes every request a single step. The backend's state is in a
/// database file, committed before each answer. The store's model is in memory and ends with this object, unless
/// `keepsStore` puts it into the same file. One file has one server at a time.
public final class MockServer: Sendable {
  let mock: Locked<MockState>
  private let server: HTTPServer
  let now: @Sendable () -> Timestamp
  private let path: String
  /// Nil after `stop`.
  private let lease: Locked<ServerLease?>
  private let host = Locked("127.0.0.1")
  private let commits = GroupCommit()
  /// Counts a well-formed request, and returns its fault.
  let fault: @Sendable (HTTPRequest) -> Fault?
  /// Handles a request.
  let handler: @Sendable (HTTPRequest) -> HTTPResponse

  /// Opens or creates the backend's database; serves nothing before `start`.
  ///
  /// - Parameters:
  ///   - databasePath: The backend's SQLite file. An existing file is continued and keeps its seed.
  ///   - products: The products that the store sells and the backend takes orders for.
  ///   - bundleID: The app's bundle id; transactions of other apps are rejected.
  ///   - environment: The environment of the store.
  ///   - keepsStore: Whether the store is in the file too, committed before each answer, so that the next server goes on
  ///     with its transactions, accounts and clock. Costs a commit for each request that changes the store.
  ///   - tokens: Bearer tokens and their accounts. `token-<account>` is valid for every account.
  ///   - faults: The planned faults. The paths `/store/verify/proof` and `/store/verify/id` stand for the backend's own
  ///     calls to the store, about a proof and about an id: with any fault there, the store does not answer them.
  ///   - seed: The seed of the order tokens.
  ///   - broken: A planted bug of the backend; nil for none.
  ///   - signing: How the store signs. `certificates` is for a backend of yours that checks signatures: it trusts the root
  ///     at `/store/root.cer`. From ``start(port:host:)`` on the certificates name this server's OCSP responder, unless
  ///     they name another one.
  ///   - onRequest: Called twice per request, before and after handling, on the connection's thread and without
  ///     the lock; the request waits for it. It must not call `stop()`.
  ///   - now: The clock: the system's unless it is given. Called on several threads.
  /// - Throws: `MockServerError` if the file cannot be opened, read or written, is not a mock server's, or has a server.
  public init(
    databasePath: String, products: [StoreProduct], bundleID: String,
    environment: StoreEnvironment = .production, keepsStore: Bool = false,
    tokens: [String: String] = [:], faults: FaultPlan = .none, seed: UInt64 = 0, broken: BrokenHooks? = nil,
    signing: ForgeSigning = .checksum, onRequest: (@Sendable (RequestMoment) -> Void)? = nil,
    now: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) throws(MockServerError) {
    let backend: BackendStore
    let first: Int64
    var keeper: StoreKeeper? = keepsStore ? StoreKeeper() : nil
    var kept: (state: KeptState, at: Timestamp)?
    do throws(BackendStoreError) {
      let file = broken?.file?(databasePath) ?? databasePath
      // With a file of its own each time, a broken backend begins with numbers of its own.
      let seed = file == databasePath ? seed : UInt64.random(in: 0...UInt64.max)
      // Before the lease: its file is not made next to a file that is not ours.
      try BackendFile.prepare(file)
      path = file
      lease = Locked(try ServerLease(path: file))
      backend = try BackendStore(path: file, bundleID: bundleID, seed: seed)
      try broken?.open(backend)
      kept = try keeper?.read(backend, at: file, environment)
      // The backend writes more often than the store, and the time of a kept server never goes back.
      if let at = kept?.at { kept?.at = max(at, try backend.model().latestMoment) }
      first = try kept == nil ? Self.firstTransactionID(in: environment, backend) : 0
    } catch {
      throw MockServerError(error)
    }
    let store = StoreModel(
      products: products, forge: ReceiptForge(bundleID: bundleID, signing: signing), environment: environment,
      firstTransactionID: first)
    var state = MockState(
      store: store, backend: backend, faults: faults, credentials: Credentials(tokens: tokens))
    state.keeper = keeper
    if keepsStore, kept == nil { state.firstState = KeptState(store: store) }
    if let kept { state.resume(kept.state, at: kept.at, now: now()) }
    state.broken = broken
    let mock = Locked(state)
    self.mock = mock
    self.now = now
    let commits = commits
    // The server asks for a fault once per well-formed request, so this is where all of them are counted.
    // While a receipt is verified over HTTP, its connection waits for another one of this server.
    let fault: @Sendable (HTTPRequest) -> Fault? = { request in
      let (ordinal, fault) = mock.withLock { $0.admit(request) }
      onRequest?(RequestMoment(request, ordinal: ordinal, phase: .beforeHandling, fault: fault))
      return fault
    }
    let handler: @Sendable (HTTPRequest) -> HTTPResponse = { request in
      if let service = mock.withLock({ $0.services[request.path] }) {
        return HTTPResponse(service(BackendRequest(request)))
      }
      let (ordinal, response) = Self.handle(request, broken?.race, mock, commits, now: now)
      onRequest?(RequestMoment(request, ordinal: ordinal, phase: .afterHandling, answer: response))
      return response
    }
    (self.fault, self.handler) = (fault, handler)
    server = HTTPServer(
      limits: HTTPLimits(connections: 512),
      admit: { head in mock.withLock { $0.admission(of: head) } },
      fault: fault, handler: handler)
  }

  /// Where the ids of an empty store begin: in a block that no store of this file had before, and above every id in the
  /// backend's tables. A repeated id would settle the payment of another person whose app still has the first one. In
  /// Xcode's test environment ids begin at zero (flutter#188276).
  private static func firstTransactionID(
    in environment: StoreEnvironment, _ backend: BackendStore
  ) throws(BackendStoreError) -> Int64 {
    let known = try backend.model()
    let ids =
      known.purchases.map(\.transaction.transactionID) + known.credits.map(\.transaction.transactionID)
      + known.verdicts.map(\.transactionID)
    let last = ids.compactMap { Int64($0) }.filter { $0 < 9_000_000_000_000_000 }.max()
    let block = environment == .xcode ? 0 : Int64(try backend.takeIDBlock())
    let first: Int64 = environment == .xcode ? 0 : 2_000_000_000_000_001 + block * 1_000_000_000
    return max(last.map { $0 + 1 } ?? first, first)
  }

  /// Handles a request, with the race of a broken backend if there is one.
  private static func handle(
    _ request: HTTPRequest, _ race: BrokenHooks.Race?, _ mock: Locked<MockState>, _ commits: GroupCommit,
    now: () -> Timestamp
  ) -> (ordinal: Int, response: HTTPResponse) {
    guard let race else { return handle(request, mock, commits, now: now) }
    var ordinal = 0
    func ordinary(_ request: HTTPRequest) -> HTTPResponse {
      let handled = handle(request, mock, commits, now: now)
      ordinal = handled.ordinal
      return handled.response
    }
    let response = race(request, mock, now(), ordinary)
    return (ordinal, response ?? ordinary(request))
  }

  /// Handles a request and waits until its changes, and those that its answer depends on, are durable.
  private static func handle(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ commits: GroupCommit, now: () -> Timestamp
  ) -> (ordinal: Int, response: HTTPResponse) {
    let answers = ask(about: request, mock, now: now())
    let (ordinal, response, number, backend, errands) = mock.withLock { state in
      let handled = state.handle(request, now: now(), answers: answers)
      let response = sign(handled.response, to: request, with: state.signature)
      return (handled.ordinal, response, state.backend.lastGathered, state.backend, state.takeErrands())
    }
    do throws(BackendStoreError) {
      try commit(through: number, backend, mock, commits, now: now)
    } catch {
      guard request.method == "GET" else { return (ordinal, HTTPProblem(error).response) }
      return (
        ordinal,
        mock.withLock { sign($0.answerFromFile(request, now: now()), to: request, with: $0.signature) }
      )
    }
    // Only now: a transaction that is finished before its grant is durable would be lost with a crash in between.
    if !errands.isEmpty { mock.withLock { $0.go(on: errands, at: now()) } }
    return (ordinal, response)
  }

  /// Waits until every change up to this number is in the file. Throws if they could not be written: they did not
  /// happen.
  private static func commit(
    through number: Int, _ backend: BackendStore, _ mock: Locked<MockState>, _ commits: GroupCommit,
    now: () -> Timestamp
  ) throws(BackendStoreError) {
    try commits.wait(for: number) {
      let batch = mock.withLock { _ in backend.take() }
      do throws(BackendStoreError) {
        try backend.commit(batch)
        return GroupCommit.Outcome(through: batch.through)
      } catch {
        return GroupCommit.Outcome(through: mock.withLock { $0.abandon(now: now()) }, failure: error)
      }
    }
  }

  /// Sets the store back after changes that could not be written, if no request has done so.
  func setBackLosses() {
    let (number, backend) = mock.withLock { ($0.backend.lastGathered, $0.backend) }
    do throws(BackendStoreError) {
      try Self.commit(through: number, backend, mock, commits, now: now)
    } catch {
      return  // The failure is known, and by now the store is what the file has.
    }
  }

  /// Asks the verifier for a request's questions. Without the lock: over HTTP, the question is a request to this
  /// server.
  private static func ask(
    about request: HTTPRequest, _ mock: Locked<MockState>, now: Timestamp
  ) -> StoreAnswers {
    // Without valid credentials nothing is asked.
    let (verifier, shift, isBroken) = mock.withLock {
      ($0.mayAsk(about: request) ? $0.verifier : nil, $0.clockShift, $0.broken?.hears != nil)
    }
    guard let verifier else { return [:] }
    var answers: StoreAnswers = [:]
    func ask(_ queries: [VerificationQuery]) {
      for query in queries where answers[query] == nil {
        answers[query] = verifier.answer(to: query, now: now.adding(milliseconds: shift))
      }
    }
    ask(MockState.queries(of: request))
    ask(MockState.queries(of: request, after: answers))
    // A planted bug may take a receipt for genuine that is none.
    if isBroken { ask(request.upload?.claims.map { BackendModel.query($0, nil) } ?? []) }
    return answers
  }

  /// Makes the backend ask `/verifyReceipt` over HTTP about receipts, as real backends do, so that planned faults
  /// strike these requests too. Call it after `start`.
  package func verifyOverHTTP() {
    let password = mock.withLock { $0.store.sharedSecret }
    let verifier = HTTPReceiptVerifier(
      production: baseURL.appendingPathComponent("verifyReceipt"),
      sandbox: baseURL.appendingPathComponent("sandbox/verifyReceipt"), password: password,
      others: StoreInProcess(mock: mock))
    mock.withLock { $0.verifier = verifier }
  }

  /// Makes the backend ask this verifier about everything, such as the store of another server.
  package func verify(by verifier: any ReceiptVerifier) { mock.withLock { $0.verifier = verifier } }

  /// Makes the backend of this server ask the store of another one, as a backend asks a store that is not its own.
  package func useStore(of other: MockServer) { verify(by: other.storeInProcess) }

  /// Its store, for another server's backend.
  package var storeInProcess: some ReceiptVerifier { StoreInProcess(mock: mock) }

  /// Sets a function that is called before each row that the backend writes, and before each commit. Tests kill the
  /// process there.
  package func setBeforeWrite(_ hook: (() -> Void)?) {
    mock.withLock { $0.backend.beforeWrite = hook }
  }

  /// Starts to listen. When it returns, clients can connect.
  ///
  /// - Parameters:
  ///   - port: The port; 0 for a free one.
  ///   - host: An IPv4 address of this machine. Every client that reaches it may pay and be granted.
  public func start(port: UInt16 = 0, host: String = "127.0.0.1") throws(MockServerError) {
    do throws(BackendStoreError) {
      try lease.withLock { (lease) throws(BackendStoreError) in
        if lease == nil { lease = try ServerLease(path: path) }
      }
    } catch {
      throw MockServerError(error)
    }
    mock.withLock { $0.isLoopback = host == "localhost" || host.hasPrefix("127.") }
    do throws(HTTPServerError) {
      try server.start(port: port, host: host)
      self.host.withLock { $0 = host == "0.0.0.0" || host == "localhost" ? "127.0.0.1" : host }
      nameResponder()
    } catch {
      throw MockServerError(error)
    }
  }

  /// Lets the certificates name this server's OCSP responder, whose port is known only now.
  private func nameResponder() {
    let responder = baseURL.appendingPathComponent("store/ocsp")
    mock.withLock {
      guard $0.store.forge.signing == .certificates() else { return }
      $0.store.forge.signing = .certificates(responder: responder)
    }
  }

  /// The mock server's time: the given clock plus all moves of `moveClock(by:)`.
  public var moment: Timestamp {
    let now = now()
    return mock.withLock { now.adding(milliseconds: $0.clockShift) }
  }

  /// Closes all connections and waits for running handlers, and lets another server have the file. Idempotent.
  public func stop() {
    server.stop()
    // Breaks the cycle: the verifier holds the state, and the state the verifier.
    mock.withLock { $0.verifier = nil }
    lease.withLock { $0 = nil }
  }

  /// Closes every connection, waits for requests that are being handled, and goes on listening. A request that was sent
  /// and not read yet is lost with its connection, as when a phone is switched off.
  package func dropConnections() throws(MockServerError) {
    do throws(HTTPServerError) {
      try server.dropConnections()
    } catch {
      throw MockServerError(error)
    }
  }

  /// The URL, such as `http://127.0.0.1:49152`. Valid after `start`.
  public var baseURL: URL {
    var components = URLComponents()
    components.scheme = "http"
    components.host = host.value
    components.port = Int(server.port)
    // These parts always make a URL; the other branch satisfies the compiler.
    return components.url ?? URL(filePath: "/")
  }
}
