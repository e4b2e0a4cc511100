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
  let parts: Parts
  /// A step of an outcome, or a `drain`, has ended, or the app came or went.
  let changes = ChangeSignal()
  private var opening = Opening.none
  private(set) var isClosed = false
  var visit = Visit.unknown
  /// One `drain` works at a time.
  var isDraining = false
  var tasks = TaskBag<ShopTask>()
  var sales = Sales()
  /// Outcomes that the app has not got yet, or that are not confirmed.
  var line: FulfilmentLine
  var feed = StatusFeed<AsyncStream<ShopStatus>.Continuation>()

  /// What an app gives to its shop.
  struct Parts: Sendable {
    let store: any SellingStore
    let backend: AppBackend
    let credentials: CredentialSource
    let fulfil: Fulfilment
    let waiting: Duration
    let hooks: SystemHooks
    /// The account that uses the app, unless the configuration names it.
    let account = Locked<String?>(nil)
  }

  private enum Opening {
    case none
    case underWay(Task<Result<SyncEngine, SyncError>, Never>)
    case done(SyncEngine)
  }

  /// Where the app is.
  enum Visit: Sendable {
    /// Neither the system nor the app has said so yet.
    case unknown
    case foreground, background
  }

  /// The tasks of which there is one at a time.
  enum ShopTask: Hashable, Sendable {
    /// Waits for the next look at the store after a sheet, for the next attempt of what has failed, or for the next look for
    /// outcomes of other processes.
    case look, retry, peek
    /// A sale, and its time limit: for its sheet, and then for the backend. They go on when the shop is closed.
    case sale(Int)
    case limit(Int)

    var endsWithShop: Bool {
      switch self {
      case .look, .retry, .peek: true
      case .sale, .limit: false
      }
    }
  }

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
      hooks: .of(lifecycle), waiting: waiting, credentials: credentials, fulfil: fulfil)
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
      store: store, backend: .own(backend), configuration: configuration, hooks: .of(lifecycle),
      waiting: waiting, credentials: credentials, fulfil: fulfil)
  }

  init(
    store: any SellingStore, backend: AppBackend, configuration: SyncConfiguration,
    hooks: SystemHooks, waiting: Duration, credentials: @escaping CredentialSource,
    fulfil: @escaping Fulfilment
  ) {
    let parts = Parts(
      store: store, backend: backend, credentials: credentials, fulfil: fulfil, waiting: waiting, hooks: hooks
    )
    var configuration = configuration
    configuration.currentAccount = configuration.currentAccount ?? { parts.account.value }
    self.configuration = configuration
    self.parts = parts
    line = FulfilmentLine(limit: configuration.fulfilmentTimeLimit)
    Task { [weak self] in await self?.start() }
  }

  deinit {
    tasks.cancel { _ in true }
    for reader in feed.allReaders { reader.finish() }
  }

  /// What an earlier launch left undone goes on without a call of the app.
  private func start() async {
    guard !isClosed else { return }
    if let notifications = parts.hooks.notifications {
      let visits = ForegroundChanges(notifications)
      listen { [weak self] in
        for await isForeground in visits.changes {
          await self?.visited(isForeground)
        }
      }
    }
    let network = NetworkPath(parts.hooks.network)
    listen { [weak self] in
      for await _ in network.returns { await self?.networkIsBack() }
    }
    // A failure is in the status, and each call tries again.
    if case .none = opening { _ = await begin().value }
  }

  /// Runs until the shop is closed or released.
  func listen(_ body: @escaping @Sendable () async -> Void) {
    guard !isClosed else { return }
    tasks.add { number in
      Task { [weak self] in
        await body()
        await self?.ended(number)
      }
    }
  }

  private func ended(_ number: Int) { tasks.ended(number) }

  /// Does something at a moment of the monotonic clock, unless the task of this name is replaced before.
  func wait(
    _ name: ShopTask, until moment: ContinuousClock.Instant, _ act: @escaping @Sendable (Shop) async -> Void
  ) {
    let system = configuration.system
    let pause = system.uptime().duration(to: moment).wholeMilliseconds + 1
    tasks[name] = Task { [weak self] in
      do {
        try await system.sleep(max(1, pause))
      } catch {
        return  // The shop is closed or released, or another moment counts.
      }
      if let self { await act(self) }
    }
  }

  // MARK: Opening

  /// The engine, if it is open.
  var engine: SyncEngine? { if case .done(let engine) = opening { engine } else { nil } }

  /// The engine, opened now if it is not open.
  func opened() async throws(SyncError) -> SyncEngine {
    guard !isClosed else { throw .queue(.closed(path: configuration.path)) }
    switch opening {
    case .done(let engine): return engine
    case .underWay(let task): return try await task.value.get()
    case .none: return try await begin().value.get()
    }
  }

  /// Returns when no opening is under way.
  func endOpening() async {
    if case .underWay(let task) = opening { _ = await task.value }
  }

  private func begin() -> Task<Result<SyncEngine, SyncError>, Never> {
    let task = Task { await self.openEngine() }
    opening = .underWay(task)
    return task
  }

  private func openEngine() async -> Result<SyncEngine, SyncError> {
    do throws(SyncError) {
      try configuration.makeFolder()
      let engine = try await SyncEngine.open(
        configuration, store: parts.store, backend: parts.backend, credentials: parts.credentials)
      let events = try await events(of: engine)
      opening = .done(engine)
      feed.fileProblem = nil
      listen { [weak self] in
        for await event in events { await self?.received(event) }
      }
      let store = parts.store
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
      opening = .none
      failed(error)
      return .failure(error)
    }
  }

  /// The file failed, and no caller gets the error: it is in the status.
  func failed(_ error: SyncError) {
    feed.fileProblem = error
    changed()
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
    await endOpening()
    perform(sales.closed())
    await endFulfilling()
    tasks.cancel(where: \.endsWithShop)
    await engine?.shutdown()
    for reader in feed.allReaders { reader.finish() }
  }
}

extension SellingStore {
  /// Hands the store's updates to the engine until either ends.
  fileprivate func pass(to engine: SyncEngine) async { await engine.receive(updates: updates) }
}
