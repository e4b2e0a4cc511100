import Foundation
import PurchaseQueue
import PurchaseSQLite

/// One call to sell: ``purchase(_:quantity:for:context:sheet:)`` makes the order, shows the payment sheet, hands the
/// store's answer to the engine, and waits for the backend.
///
/// Make one at launch and keep it. Making it neither waits nor throws: the file is opened behind it, and an error of the
/// opening comes with the first call, and as ``ShopStatus/problem``. Every later call tries again.
///
/// The shop calls `fulfil` for each outcome, one at a time, and confirms it when `fulfil` has returned. An outcome of an
/// earlier launch comes too. After a kill in between, or if `fulfil` throws, the same outcome comes again: credit each
/// `outcome.key` once. A later refund comes as one more outcome of the same key.
public actor Shop {
  /// Gives the user what an outcome says, or takes it back after a refund. Throws if that failed; then it is called again.
  public typealias Fulfilment = @Sendable (Outcome) async throws -> Void

  /// Who tells the shop that the app goes to the background, and comes back.
  public enum Lifecycle: Sendable, Hashable {
    /// The system's notifications.
    case automatic
    /// The app, with ``Shop/suspend()`` and ``Shop/resume()``.
    case explicit
  }

  nonisolated let configuration: SyncConfiguration
  let store: any SellingStore
  let backend: any BackendTransport
  let credentials: CredentialSource
  let fulfil: Fulfilment
  let waiting: Duration
  /// The account that uses the app, unless the configuration names it.
  let current: Locked<String?>

  var engine: SyncEngine?
  /// The opening that is under way.
  var opening: Task<Result<SyncEngine, SyncError>, Never>?
  var tasks: [Task<Void, Never>] = []
  var isClosed = false
  /// The app is in the background.
  var isSuspended = false
  /// The app was in the foreground, and has not left it.
  var isForeground = false

  var desk = SaleDesk()
  /// Callers that wait, by the numbers of their orders.
  var callers: [String: AsyncStream<Sale>.Continuation] = [:]
  /// Restores under way: what each has found.
  var restores: [Int: [Outcome]] = [:]
  var nextRestore = 0
  /// Outcomes whose `fulfil` is running.
  var inHand: Set<Outcome.Name> = []
  /// Outcomes that are fulfilled, and whose confirmation has failed.
  var unconfirmed: [Outcome.Name: Outcome.Mark] = [:]

  /// Why the file cannot be used, and why `fulfil` failed last.
  var problem: SyncError?
  var fulfilmentProblem: String?
  /// The status that the watchers were told last.
  var told: ShopStatus?
  var watchers: [Int: AsyncStream<ShopStatus>.Continuation] = [:]
  var nextWatcher = 0
  var isLooking = false
  var hasChanged = false

  /// - Parameters:
  ///   - store: The store: `StoreKitStore()` on Apple's systems.
  ///   - backend: The way to your backend, such as `URLSessionTransport(base: url)`.
  ///   - configuration: The settings of the engine. By default the file is in the user's application support folder, and
  ///     on Apple's systems the vault is the keychain.
  ///   - lifecycle: Who tells of the background.
  ///   - waiting: How long `purchase` waits for the backend before it returns `pending`.
  ///   - credentials: Returns the bearer token of an account; nil if it is signed out.
  ///   - fulfil: Gives the user what an outcome says.
  public init(
    store: any SellingStore, backend: any BackendTransport,
    configuration: SyncConfiguration = .standard, lifecycle: Lifecycle = .automatic,
    waiting: Duration = .seconds(30), credentials: @escaping CredentialSource, fulfil: @escaping Fulfilment
  ) {
    self.init(
      store: store, backend: backend, configuration: configuration,
      notifications: lifecycle == .automatic ? .default : nil, waiting: waiting, credentials: credentials,
      fulfil: fulfil)
  }

  /// A shop for a backend with a protocol of its own. If the backend makes no orders, the device makes them.
  public init(
    store: any SellingStore, backend: any PurchaseBackend, configuration: SyncConfiguration = .standard,
    lifecycle: Lifecycle = .automatic, waiting: Duration = .seconds(30),
    credentials: @escaping CredentialSource, fulfil: @escaping Fulfilment
  ) {
    var configuration = configuration
    if !backend.makesOrders { configuration.orderPolicy = .deviceOnly }
    self.init(
      store: store, backend: BackendAdapter(backend), configuration: configuration, lifecycle: lifecycle,
      waiting: waiting, credentials: credentials, fulfil: fulfil)
  }

  init(
    store: any SellingStore, backend: any BackendTransport, configuration: SyncConfiguration,
    notifications: NotificationCenter?, waiting: Duration, credentials: @escaping CredentialSource,
    fulfil: @escaping Fulfilment
  ) {
    let current = Locked<String?>(nil)
    var configuration = configuration
    configuration.currentAccount = configuration.currentAccount ?? { current.value }
    self.configuration = configuration
    self.store = store
    self.backend = backend
    self.credentials = credentials
    self.fulfil = fulfil
    self.waiting = waiting
    self.current = current
    Task { [weak self] in await self?.start(notifications) }
  }

  deinit { for task in tasks { task.cancel() } }

  /// What an earlier launch left undone goes on without a call of the app.
  private func start(_ notifications: NotificationCenter?) async {
    if let notifications {
      let visits = AppVisits(notifications)
      listen { [weak self] in
        for await isForeground in visits.changes {
          if isForeground { await self?.resumeIfOpen() } else { await self?.suspend() }
        }
      }
    }
    // A failure is in the status, and each call tries again.
    if opening == nil, engine == nil { _ = await begin().value }
  }

  func listen(_ body: @escaping @Sendable () async -> Void) {
    guard !isClosed else { return }
    tasks.append(Task { await body() })
  }

  // MARK: Opening

  /// The engine, opened now if it is not open.
  func opened() async throws(SyncError) -> SyncEngine {
    guard !isClosed else { throw .queue(.closed(path: configuration.path)) }
    if let engine { return engine }
    return try await (opening ?? begin()).value.get()
  }

  private func begin() -> Task<Result<SyncEngine, SyncError>, Never> {
    let task = Task { await self.openEngine() }
    opening = task
    return task
  }

  private func openEngine() async -> Result<SyncEngine, SyncError> {
    defer { opening = nil }
    do throws(SyncError) {
      try configuration.makeFolder()
      let engine = try await SyncEngine.open(
        configuration, store: store, transport: backend, credentials: credentials)
      let events = try await engine.eventStream()
      guard !isClosed else {
        await engine.shutdown()
        throw .queue(.closed(path: configuration.path))
      }
      self.engine = engine
      problem = nil
      listen { [weak self] in
        for await event in events { await self?.heard(event) }
      }
      let store = self.store
      listen { await store.pass(to: engine) }
      changed()
      return .success(engine)
    } catch {
      problem = error
      changed()
      return .failure(error)
    }
  }

  /// Ends everything that is under way, and closes the file: when this returns, another shop can open it. Purchases that
  /// are not delivered stay queued. Callers of `purchase` get `pending`.
  public func close() async {
    isClosed = true
    if let opening { _ = await opening.value }
    for task in tasks { task.cancel() }
    await engine?.shutdown()
    for caller in callers.values { caller.finish() }
    for watcher in watchers.values { watcher.finish() }
  }
}

extension SellingStore {
  /// Hands the store's updates to the engine until either ends.
  fileprivate func pass(to engine: SyncEngine) async { await engine.receive(updates: updates) }
}
