import Foundation
import PurchaseQueue
import PurchaseSQLite

/// Delivers every purchase to the backend, exactly once, whatever dies in between.
///
/// Open it at launch, hand it every transaction that the store delivers, and fulfil what it reports as delivered.
/// The engine alone finishes transactions: after the backend's verdict is durable on the device, never before.
///
/// An actor on a thread of its own: waiting for the disk holds no thread of the cooperative pool.
public actor SyncEngine {
  private let executor = BlockingExecutor(label: "purchase-sync")
  /// The engine's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let configuration: SyncConfiguration
  let store: any AppStore
  let transport: any BackendTransport
  let credentials: CredentialSource
  var opened: Opened?
  var random = SystemRandomNumberGenerator()
  var events = EventStreams()
  var timer: Task<Void, Never>?
  var timerDue: Timestamp?
  var work: [Int: Task<Void, Never>] = [:]
  var nextWork = 0
  var isShutDown = false
  /// Keys of order requests that are waiting for their answer.
  private var requesting: Set<String> = []

  /// What exists once the file is open.
  struct Opened {
    let file: SyncFile
    var machine: SyncMachine<SyncFile>
  }

  private init(
    configuration: SyncConfiguration, store: any AppStore, transport: any BackendTransport,
    credentials: @escaping CredentialSource
  ) {
    self.configuration = configuration
    self.store = store
    self.transport = transport
    self.credentials = credentials
  }

  /// Opens the queue, takes up what an earlier run left, then asks the store for unfinished transactions.
  ///
  /// Throws without having changed anything on disk if the file cannot be opened or is not ours.
  public static func open(
    _ configuration: SyncConfiguration, store: any AppStore, transport: any BackendTransport,
    credentials: @escaping CredentialSource
  ) async throws(SyncError) -> SyncEngine {
    let engine = SyncEngine(
      configuration: configuration, store: store, transport: transport, credentials: credentials)
    try await engine.start()
    return engine
  }

  // MARK: What the app calls

  /// Makes an order, durable here and at the backend, *before* anybody pays. Pass `order.accountToken` to the store
  /// with the payment. Called again after an error, it continues the same request: no order is made twice.
  public func begin(product: String, quantity: Int = 1, account: String) async throws(SyncError) -> Order {
    let file = try self.file()
    let proposed = UUID().uuidString
    let key = try Self.storing { () throws(QueueError) in
      try file.request(
        account: account, product: product, quantity: quantity, proposing: proposed, waiting: requesting,
        now: configuration.now())
    }
    requesting.insert(key)
    defer { requesting.remove(key) }
    configuration.hook?("order.requesting")
    let document: OrderDocument
    do throws(SyncError) {
      document = try await requestOrder(product: product, quantity: quantity, account: account, key: key)
    } catch {
      // Nobody pays now, so the room is free again; the request stays, and is taken up by the next call.
      try Self.storing { () throws(QueueError) in try file.queue.cancelReservation(key) }
      throw error
    }
    configuration.hook?("order.received")
    return try Self.storing { () throws(QueueError) in
      try file.save(document, account: account, answering: key, now: configuration.now())
    }
  }

  /// Takes a transaction from the store. When this returns, it is durable; if it throws, it is not, and the store
  /// will deliver it again.
  public func receive(_ transaction: StoreTransaction) throws(SyncError) {
    let details = try TransactionDetails(transaction).text()
    configuration.hook?("transaction.arrived")
    let actions = try step { (machine, now) throws(QueueError) in
      try machine.transactionArrived(transaction, details: details, now: now)
    }
    perform(actions)
  }

  /// The app has fulfilled, or shown, this outcome: it is not reported again.
  public func confirm(_ outcome: Outcome) throws(SyncError) {
    _ = try step { (machine, _) throws(QueueError) in
      try machine.outcomeConfirmed(outcome.key)
      return []
    }
  }

  /// What happens from now on, after the outcomes that are still unconfirmed.
  public func eventStream() throws(SyncError) -> AsyncStream<SyncEvent> {
    let file = try self.file()
    let duties = try Self.storing { () throws(QueueError) in try file.tombstonesWithDuties() }
    let missed = duties.filter(\.isUnseen).map { SyncEvent.delivered(Outcome($0)) }
    return events.open(replaying: missed) { [weak self] number in
      Task { await self?.closeStream(number) }
    }
  }

  /// Foreground, network back, or signed in: waiting lanes try again, and the store is asked again.
  public func wake() throws(SyncError) {
    perform(try step { (machine, now) throws(QueueError) in try machine.woken(now: now) })
    readUnfinished()
  }

  /// How much is still to be done.
  public func snapshot() throws(SyncError) -> SyncSnapshot {
    let file = try self.file()
    return try Self.storing { () throws(QueueError) in
      let entries = try file.queue.allEntries()
      let duties = try file.tombstonesWithDuties()
      return SyncSnapshot(
        unsettled: entries.count, quarantined: entries.count { $0.state == .quarantined },
        finishesOwed: duties.count(where: \.isFinishOwed), unseen: duties.count(where: \.isUnseen))
    }
  }

  /// Ends timers and requests, and closes the file. What is queued stays queued.
  public func shutdown() {
    isShutDown = true
    timer?.cancel()
    for task in work.values { task.cancel() }
    work = [:]
    maintain()
    events.finish()
    opened = nil
  }
}
