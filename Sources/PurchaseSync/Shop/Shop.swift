import Foundation
import PurchaseQueue
import PurchaseSQLite

/// One call to sell: ``purchase(_:quantity:for:context:isAnother:sheet:)`` makes the order, shows the payment sheet, hands the
/// store's answer to the engine, and waits for the backend.
///
/// Make one at launch and keep it. Making it neither waits nor throws: the file is opened behind it, and an error of the
/// opening comes with the first call, and as ``ShopStatus/problem``. Every later call tries again.
///
/// The shop calls `fulfil` for each outcome, one at a time, and confirms it when `fulfil` has returned. An outcome of an
/// earlier launch comes too. If `fulfil` throws, the same outcome comes again: after a second, then after pauses that
/// double up to five minutes, and at once with each foreground, sign-in and ``retryNow()``. After a kill before the
/// confirmation it comes again at the next launch. **The latest outcome of a key decides**: store it with the key, and
/// count what the keys say now. A refund comes as one more outcome of the key, and so does a refund that is reversed.
///
/// A call of `fulfil` that takes longer than ``SyncConfiguration/fulfilmentTimeLimit`` keeps only its own key waiting, and
/// is in ``ShopStatus/lateCalls``. Other outcomes go on next to it, up to eight at a time. When it returns after all, it
/// counts. A kill loses nothing: what was not confirmed comes again.
public actor Shop {
  /// Gives the user what the key of an outcome gives now: the latest outcome of a key decides. Throws if that failed; then it is called again.
  public typealias Fulfilment = @Sendable (Outcome) async throws -> Void

  /// Reports that the app goes to the background, and comes back.
  public enum Lifecycle: Sendable, Hashable {
    /// The system's notifications: on iOS, visionOS and macOS, and in app extensions.
    case automatic
    /// The app, with ``Shop/suspend()`` and ``Shop/resume()``.
    case explicit
  }

  nonisolated let configuration: SyncConfiguration
  let store: any SellingStore
  let backend: AppBackend
  let credentials: CredentialSource
  let fulfil: Fulfilment
  let waiting: Duration
  let surroundings: Surroundings
  /// The account that uses the app, unless the configuration names it.
  let current: Locked<String?>

  var engine: SyncEngine?
  /// The opening that is under way.
  var opening: Task<Result<SyncEngine, SyncError>, Never>?
  /// Listeners and work under way, by number.
  var tasks: [Int: Task<Void, Never>] = [:]
  var nextTask = 0
  var isClosed = false
  /// Where the app is, as far as it is known.
  var visit = Visit.unknown

  var desk = SaleDesk()
  /// Sales under way, by number.
  var selling: [Int: Selling] = [:]
  var nextSelling = 0
  var nextCaller = 0
  /// The looks at the store after sheets that did not say how the payment ended.
  var aftermath = SheetAftermath()
  /// Waits for the next look.
  var looking: Task<Void, Never>?
  /// Restores under way: what each has found.
  var restores: [Int: [Outcome]] = [:]
  var nextRestore = 0
  /// Outcomes that the app has not got yet, or that are not confirmed.
  var fulfilments: Fulfilments
  /// The calls of `fulfil` that are running, and how many there were.
  var underWay: Set<Giving> = []
  var givings = 0
  /// Waits for the next attempt of what has failed.
  var retry: Task<Void, Never>?
  /// Waits for the next look for outcomes of other processes.
  var peeking: Task<Void, Never>?
  /// One `drain` works at a time.
  var isDraining = false
  /// Tells that a step of an outcome, or a `drain`, has ended, or that the app came or went.
  let changes = ChangeSignal()

  /// Why the file cannot be used, and why the last confirmation failed.
  var problem: SyncError?
  var confirmationProblem: SyncError?
  /// The status that was published last.
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
  ///   - lifecycle: Reports the background.
  ///   - waiting: How long `purchase` waits for the backend before it returns `pending`.
  ///   - credentials: Returns the bearer token of an account; nil if it is signed out.
  ///   - fulfil: Gives the user what an outcome says.
  public init(
    store: any SellingStore, backend: any BackendTransport,
    configuration: SyncConfiguration = .standard, lifecycle: Lifecycle = .automatic,
    waiting: Duration = .seconds(30), credentials: @escaping CredentialSource, fulfil: @escaping Fulfilment
  ) {
    self.init(
      store: store, backend: .transport(backend), configuration: configuration,
      surroundings: .of(lifecycle), waiting: waiting, credentials: credentials, fulfil: fulfil)
  }

  /// A shop for a backend with a protocol of its own. If the backend makes no orders, the device makes them. The
  /// configuration's verifier is not used: your `verify` reads the backend's answers, and believes them or not.
  public init(
    store: any SellingStore, backend: any PurchaseBackend, configuration: SyncConfiguration = .standard,
    lifecycle: Lifecycle = .automatic, waiting: Duration = .seconds(30),
    credentials: @escaping CredentialSource, fulfil: @escaping Fulfilment
  ) {
    var configuration = configuration
    if !backend.makesOrders { configuration.orderPolicy = .deviceOnly }
    self.init(
      store: store, backend: .own(backend), configuration: configuration, surroundings: .of(lifecycle),
      waiting: waiting, credentials: credentials, fulfil: fulfil)
  }

  init(
    store: any SellingStore, backend: AppBackend, configuration: SyncConfiguration,
    surroundings: Surroundings, waiting: Duration, credentials: @escaping CredentialSource,
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
    self.surroundings = surroundings
    fulfilments = Fulfilments(limit: configuration.fulfilmentTimeLimit)
    Task { [weak self] in await self?.start() }
  }

  deinit {
    retry?.cancel()
    looking?.cancel()
    peeking?.cancel()
    for task in tasks.values { task.cancel() }
    for watcher in watchers.values { watcher.finish() }
  }

  /// What an earlier launch left undone goes on without a call of the app.
  private func start() async {
    guard !isClosed else { return }
    if let notifications = surroundings.notifications {
      let visits = AppVisits(notifications)
      listen { [weak self] in
        for await isForeground in visits.changes {
          await self?.visited(isForeground)
        }
      }
    }
    let network = NetworkPath(surroundings.network)
    listen { [weak self] in
      for await _ in network.returns { await self?.networkIsBack() }
    }
    // A failure is in the status, and each call tries again.
    if opening == nil, engine == nil { _ = await begin().value }
  }

  /// Runs until the shop is closed or released.
  func listen(_ body: @escaping @Sendable () async -> Void) {
    guard !isClosed else { return }
    let number = nextTask
    nextTask += 1
    tasks[number] = Task { [weak self] in
      await body()
      await self?.ended(number)
    }
  }

  private func ended(_ number: Int) { tasks[number] = nil }

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
        configuration, store: store, backend: backend, credentials: credentials)
      let events = try await events(of: engine)
      self.engine = engine
      problem = nil
      listen { [weak self] in
        for await event in events { await self?.heard(event) }
      }
      let store = self.store
      listen { await store.pass(to: engine) }
      // The app came to the foreground before there was an engine, or went to the background since.
      switch visit {
      case .foreground: await networkIsBack(.foreground)
      case .background: await engine.suspend(within: 0)
      case .unknown: break
      }
      changed()
      peekAgain()
      return .success(engine)
    } catch {
      problem = error
      changed()
      return .failure(error)
    }
  }

  /// The events from the start, unless the shop was closed since.
  private func events(of engine: SyncEngine) async throws(SyncError) -> AsyncStream<SyncEvent> {
    do throws(SyncError) {
      let events = try await engine.eventStream()
      if isClosed { throw .queue(.closed(path: configuration.path)) }
      return events
    } catch {
      await engine.shutdown()
      throw error
    }
  }

  /// Ends everything that is under way, and closes the file: when this returns, another shop can open it. Purchases that
  /// are not delivered stay queued. Callers of `purchase` get `pending`. A `fulfil` that is under way has two seconds to
  /// return; then its task is cancelled, and its outcome comes again in the next shop.
  public func close() async {
    isClosed = true
    changes.send()
    // A caller that was cancelled does not cut a `fulfil` off.
    await Task { await self.end() }.value
  }

  private func end() async {
    if let opening { _ = await opening.value }
    // What has no sheet yet ends by itself.
    for sale in selling.values where sale.number != nil {
      for caller in sale.callers.values { caller.answers.finish() }
    }
    if !isInsideFulfil { _ = await hasFulfilled(within: Self.fulfilmentGrace) }
    retry?.cancel()
    looking?.cancel()
    peeking?.cancel()
    for task in tasks.values { task.cancel() }
    await engine?.shutdown()
    for watcher in watchers.values { watcher.finish() }
  }

  /// How long `suspend` and `close` wait for a `fulfil` that is under way.
  static var fulfilmentGrace: Duration { .seconds(2) }
}

extension SellingStore {
  /// Hands the store's updates to the engine until either ends.
  fileprivate func pass(to engine: SyncEngine) async { await engine.receive(updates: updates) }
}
