import Foundation
import PurchaseQueue
import PurchaseSQLite

/// Delivers every purchase to the backend, exactly once, also when the app, the phone or the backend fails in between.
///
/// Open it at launch, hand it every transaction that the store delivers, and fulfil what it reports as delivered.
/// The engine alone finishes transactions: after the backend's verdict is durable on the device, never before.
///
/// An actor on a thread of its own: waiting for the disk holds no thread of the cooperative pool. Nothing here is a
/// singleton; one file is opened once per process.
public actor SyncEngine {
  private let executor: InjectedExecutor
  /// The engine's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unowned() }

  let configuration: SyncConfiguration
  let ports: EnginePorts
  let meter: Meter
  /// Calls of the app's code, the store and the backend that have not returned in time.
  let lateCalls = LateCalls()
  var open: OpenFile
  var decisions = Decisions()
  var events = EventStreams()
  /// What is under way, and the timers by name.
  var tasks = TaskBag<Timer>()
  var calls = CallerRequests()
  var timer: MachineTimer
  /// Says that work, a timer or a wake has ended, or that the app came or went.
  let changes = ChangeSignal()
  var listed = ListingCallers()
  var isShutDown = false

  /// `wake` waits for the moment of wakes that came too fast, `listing` for the moment of a listing that was asked for too
  /// soon or that repeats one that failed.
  enum Timer: Hashable { case timer, wake, listing }

  private init(
    configuration: SyncConfiguration, store: any StoreClient, backend: AppBackend,
    credentials: @escaping CredentialSource
  ) {
    self.configuration = configuration
    meter = Meter(configuration)
    timer = MachineTimer(beginning: configuration.system.uptime())
    var setup = configuration.queueSetup
    setup.changes = meter.changes
    open = OpenFile(QueueSession(setup, now: configuration.now))
    executor = InjectedExecutor(configuration.system.executor())
    ports = EnginePorts(
      store: store, backend: backend.port(configuration, lateCalls), credentials: credentials)
  }

  deinit { configuration.system.sight?(.closed(ObjectIdentifier(lateCalls))) }

  /// Opens the queue, takes up everything that an earlier run left undone, then asks the store for unfinished
  /// transactions. Nothing goes over the network before the queue is open.
  ///
  /// Throws without having changed anything on disk if the file cannot be opened or is not ours.
  public static func open(
    _ configuration: SyncConfiguration, store: any StoreClient, transport: any BackendTransport,
    credentials: @escaping CredentialSource
  ) async throws(SyncError) -> SyncEngine {
    try await open(configuration, store: store, backend: .transport(transport), credentials: credentials)
  }

  /// As ``open(_:store:transport:credentials:)``, for a backend with a protocol of its own. With one that makes no orders,
  /// set ``SyncConfiguration/orderPolicy`` to `deviceOnly`. The configuration's verifier is not used: your `verify` reads
  /// the backend's answers, and believes them or not.
  public static func open(
    _ configuration: SyncConfiguration, store: any StoreClient, backend: any PurchaseBackend,
    credentials: @escaping CredentialSource
  ) async throws(SyncError) -> SyncEngine {
    try await open(configuration, store: store, backend: .own(backend), credentials: credentials)
  }

  static func open(
    _ configuration: SyncConfiguration, store: any StoreClient, backend: AppBackend,
    credentials: @escaping CredentialSource
  ) async throws(SyncError) -> SyncEngine {
    let engine = SyncEngine(
      configuration: configuration, store: store, backend: backend, credentials: credentials)
    try await engine.start()
    return engine
  }

  // MARK: Transactions and outcomes

  /// Takes a transaction from the store. When this returns, it is durable; if it throws, it is not, and the store
  /// will deliver it again.
  public func receive(_ transaction: StoreTransaction) throws(SyncError) {
    try receive(transaction, storeAccount: nil)
  }

  func receive(
    _ transaction: StoreTransaction, storeAccount: String?, isRestored: Bool = false,
    paying order: String? = nil, user: AppUser? = nil
  ) throws(SyncError) {
    configuration.checkpoint?(.transactionArrived)
    decisions.presence.callBegins()
    defer { callEnded() }
    decisions.tray.arrives(transaction.key)
    var user = user ?? self.user(of: transaction)
    user.paidOrder = order
    let arrival = user
    let interval = meter.begin(.receive)
    do throws(SyncError) {
      try noteArrival(of: transaction)
      perform(
        try step { (machine, now) throws(QueueError) in
          try machine.transactionArrived(
            transaction, storeAccount: storeAccount, user: arrival, isRestored: isRestored, now: now)
        })
      meter.end(interval, reason: "stored")
    } catch {
      meter.end(interval, reason: "refused")
      switch error {
      case .queue(.queueFull):
        overflows(transaction.key, error)
        feed(open.generation) { (machine, now) throws(QueueError) in machine.capacityLacked(now: now) }
      case .queue(.invalid): break
      // The file failed: the store has it still.
      default: storeKeepsMore()
      }
      throw error
    }
    decisions.tray.stored(CollectionOfOne(transaction.key))
  }

  /// The person who uses the app now, and for whom unclaimed purchases are.
  var user: AppUser {
    var user = AppUser(account: configuration.currentAccount?(), policy: configuration.unclaimed)
    user.isAskedAboutTokens = configuration.accountForToken != nil
    return user
  }

  /// The app has fulfilled, or shown, this outcome: it is not reported again. If it has changed since, such as by a
  /// refund, the later one is still reported.
  public func confirm(_ outcome: Outcome) throws(SyncError) {
    // If it cannot be stored, the outcome is published again.
    defer { events.forget(outcome) }
    if outcome.isAlreadyOwned, let number = outcome.orderNumber {
      return try withFile { (file) throws(QueueError) in try file.confirmOwned(number) }
    }
    perform(
      try step { (machine, now) throws(QueueError) in try machine.outcomeConfirmed(outcome, now: now) })
    configuration.checkpoint?(.outcomeSeen)
  }

  /// As `confirm(_:)` for several outcomes, in one commit: after many purchases that is much faster. If it throws, none
  /// of them is confirmed.
  public func confirm(all outcomes: [Outcome]) throws(SyncError) {
    guard !outcomes.isEmpty else { return }
    // If they cannot be stored, they are published again.
    defer { for outcome in outcomes { events.forget(outcome) } }
    decisions.presence.callBegins()
    defer { callEnded() }
    _ = try file()
    do throws(QueueError) {
      let actions = try stepInOneCommit { (machine, file, now) throws(QueueError) -> [SyncAction] in
        var actions: [SyncAction] = []
        for outcome in outcomes {
          if outcome.isAlreadyOwned, let number = outcome.orderNumber {
            try file.confirmOwned(number)
          } else {
            actions += try machine.outcomeConfirmed(outcome, now: now)
          }
        }
        return actions
      }
      perform(actions)
    } catch {
      throw failed(error)
    }
    for _ in outcomes { configuration.checkpoint?(.outcomeSeen) }
  }

  /// The events from now on, after the outcomes that are still unconfirmed. Several streams can be open; each gets every
  /// event, and each outcome once, unless it changes. The first one begins with the latest 64 events from before it, the
  /// start included.
  public func eventStream() throws(SyncError) -> AsyncStream<SyncEvent> {
    events.open(replaying: try unconfirmedOutcomes()) { [weak self] number in
      Task { await self?.closeStream(number) }
    } onRoom: { [weak self] number in
      Task { await self?.announceDropped(to: number) }
    }
  }
}
