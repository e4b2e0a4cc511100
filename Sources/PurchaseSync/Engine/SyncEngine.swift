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
  private(set) var open: OpenFile
  var decisions: Decisions
  var events = EventStreams()
  /// What is under way, and the timers by name.
  private(set) var tasks = TaskBag<Timer>()
  private var calls = CallerRequests()
  /// Says that work, a timer or a wake has ended, or that the app came or went.
  let changes = ChangeSignal()
  var listed = ListingCallers()
  var tokenCallers = CredentialCallers()
  private(set) var isShutDown = false

  /// `wake` waits for the moment of wakes that came too fast, `listing` for the moment of a listing that was asked for too
  /// soon or that repeats one that failed.
  /// `quiet` waits until what was promised soon is made durable.
  enum Timer: Hashable, CaseIterable { case timer, wake, listing, quiet }

  private init(
    configuration: SyncConfiguration, store: any StoreClient, backend: AppBackend,
    credentials: @escaping CredentialSource
  ) {
    self.configuration = configuration
    meter = Meter(configuration)
    decisions = Decisions(beginning: configuration.system.uptime())
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
}

// MARK: The file and its machine

extension SyncEngine {
  /// Opens the file and starts a machine, which takes up everything that an earlier one left undone.
  func openFile() throws(SyncError) {
    closeFile()
    do throws(SyncError) {
      try openOnce()
    } catch {
      // Damage behind the header is known by now: the second opening salvages the rows that can be read.
      guard case .queue(let cause) = error, cause.asksForReopening else { throw error }
      try openOnce()
    }
  }

  private func openOnce() throws(SyncError) {
    let configuration = self.configuration
    let seed = configuration.system.random()
    do throws(QueueError) {
      let makeName = configuration.system.uuid
      let file = try SyncFile(
        queue: open.session.open(), newIdentity: { DeviceIdentity(from: makeName) })
      open.open(
        file,
        SyncMachine(
          storage: file, policy: configuration.retry, appVersion: configuration.appVersion, seed: seed))
    } catch {
      closeFile()
      throw .queue(error)
    }
    for failure in configuration.marks.markFiles(of: configuration.path) {
      configuration.diagnostics?(failure)
    }
    if isSuspended { inform { $0.suspended() } }
    if let salvage = open.file?.queue.salvage {
      meter.count(.lost, salvage.lostEntries ?? 0)
      emit(.recovered(salvage))
    }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in try machine.started(now: now) })
      if let file = open.file { try withFile { (_) throws(QueueError) in try sawFile(file) } }
    } catch {
      // A machine that has not started takes no events: the next call opens the file again.
      closeFile()
      throw error
    }
  }

  /// Closes the file; the next call opens it again.
  func closeFile() {
    open.close()
    decisions.fileClosed()
  }

  /// A call that used the file has ended. When it was the outermost one, and the app is in the background, the file is
  /// closed. Everything that uses the file is such a call; one of several steps is one as a whole, so that it opens the file
  /// once.
  func callEnded() {
    decisions.presence.callEnds()
    closeInBackground()
    makeDurableInQuiet()
  }

  private func closeInBackground() {
    if open.isOpen, decisions.presence.closesFile { closeFile() }
  }

  /// The open file. Opening it again after damage may have failed: then it is tried again here.
  func file() throws(SyncError) -> SyncFile {
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    if !open.isOpen {
      decisions.presence.callBegins()
      // The caller uses the file, and closes it.
      defer { decisions.presence.callEnds() }
      try openFile()
      // The store may deliver again transactions that this file lacks, and pending finishes are repeated.
      listStore()
    }
    guard let file = open.file else { throw .queue(.closed(path: configuration.path)) }
    return file
  }

  /// One event, one call of the machine. Throws after `shutdown`: nothing would be durable. The call ends when its actions
  /// are performed.
  func step<R>(
    _ event: (inout SyncMachine<SyncFile>, Timestamp) throws(QueueError) -> R
  ) throws(SyncError) -> R {
    do throws(SyncError) {
      _ = try file()
      guard var machine = open.pair?.machine else { throw .queue(.closed(path: configuration.path)) }
      let now = configuration.now()
      machine.uptime = uptime
      do throws(QueueError) {
        defer { open.pair?.machine = machine }
        return try event(&machine, now)
      } catch {
        throw failed(error)
      }
    } catch {
      closeInBackground()
      throw error
    }
  }

  /// Several events in one commit. If it throws, none of them has happened, in the file or in the machine. Sending is
  /// to follow the commit: call `holdSends` first if an event may send.
  func stepInOneCommit<R>(
    _ promise: CommitPromise = .durable,
    _ events: (inout SyncMachine<SyncFile>, SyncFile, Timestamp) throws(QueueError) -> R
  ) throws(QueueError) -> R {
    guard !isShutDown, let pair = open.pair else { throw .closed(path: configuration.path) }
    var machine = pair.machine
    let now = configuration.now()
    machine.uptime = uptime
    let result = try pair.file.queue.inOneCommit(promise) { () throws(QueueError) in
      try events(&machine, pair.file, now)
    }
    open.pair?.machine = machine
    return result
  }

  /// An event that has no actions, and that a closed file need not know.
  func inform(_ event: (inout SyncMachine<SyncFile>) -> Void) {
    guard var machine = open.pair?.machine else { return }
    event(&machine)
    open.pair?.machine = machine
  }

  /// Reads or changes the file without the machine.
  func withFile<R>(_ body: (SyncFile) throws(QueueError) -> R) throws(SyncError) -> R {
    decisions.presence.callBegins()
    defer { callEnded() }
    let file = try self.file()
    do throws(QueueError) {
      return try body(file)
    } catch {
      throw failed(error)
    }
  }

  /// A damaged or replaced file is opened again by the next call, or by the timer if no call comes. The next machine
  /// sends again what was in flight; answers to requests of this one are ignored.
  func failed(_ error: QueueError) -> SyncError {
    if error.asksForReopening, open.isOpen {
      closeFile()
      lookAgain()
    }
    return .queue(error)
  }

  /// Feeds the result of a request of that generation to the machine. No caller waits, so a storage error is reported,
  /// and everything is looked at again later.
  func feed(
    _ generation: Int, _ event: (inout SyncMachine<SyncFile>, Timestamp) throws(QueueError) -> [SyncAction]
  ) {
    // After `shutdown`, the entry is in the file and is sent at the next start. The machine does not know requests of an
    // earlier one.
    guard !isShutDown, open.isOpen(as: generation) else { return }
    do throws(SyncError) {
      perform(try step(event))
    } catch {
      report(error)
      lookAgain()
    }
  }

  /// A request was cancelled on the way to the background, and the foreground is back already: it is sent again now.
  func interrupted(_ generation: Int) {
    guard !isSuspended else { return }
    feed(generation) { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
  }

  /// Performs actions in their order. Actions that come up on the way are appended: performing one may feed the
  /// machine. In the background nothing is started: the machine of the foreground asks again.
  func perform(_ actions: [SyncAction]) {
    decisions.presence.callBegins()
    defer { callEnded() }
    let generation = open.generation
    let isPerforming = !open.worklist.isEmpty
    open.worklist += actions.map { (generation, $0) }
    // The call that is performing goes on with them.
    guard !isPerforming else { return }
    var next = 0
    while next < open.worklist.count {
      perform(open.worklist[next].action, of: open.worklist[next].generation)
      next += 1
    }
    open.worklist.removeAll(keepingCapacity: true)
    beginFinishes()
  }
}

// MARK: What is under way

extension SyncEngine {
  /// Starts a task that `shutdown` cancels; after it, nothing is started.
  func run(_ body: @escaping @Sendable (SyncEngine) async -> Void) {
    guard !isShutDown else { return }
    tasks.add { number in
      Task {
        await body(self)
        self.ended(number)
      }
    }
  }

  private func ended(_ number: Int) {
    tasks.ended(number)
    // A suspended app has seconds, and its file is about to be closed: the next pause in the foreground does it.
    guard tasks.isAtRest else { return }
    if !isSuspended { restBegins() }
    changes.send()
  }

  /// Sets a timer that `fires`. It takes the place of an earlier one of that name. A process that is stopped before the task
  /// begins does not wait for longer.
  func set(
    _ name: Timer, in milliseconds: Int64, fires: @escaping @Sendable (isolated SyncEngine) -> Void
  ) {
    let (sleep, uptime) = (configuration.system.sleep, configuration.system.uptime)
    let moment = uptime().advanced(by: .milliseconds(milliseconds))
    tasks[name] = Task { [weak self] in
      do {
        try await sleep(max(0, uptime().duration(to: moment).wholeMilliseconds))
      } catch {
        return  // Stopped, or set again.
      }
      if let self { await fires(self) }
    }
  }

  func stop(_ name: Timer) { tasks[name] = nil }

  /// The timer has fired.
  func ended(_ name: Timer) { tasks.ended(name) }

  /// Cancels what is under way, and waits until it has ended, as long as this holds. A task that ends may begin another one.
  func endTasks(while isWanted: () -> Bool) async {
    while isWanted(), let next = tasks.underWay.first {
      for task in tasks.underWay { task.cancel() }
      await next.value
    }
  }

  /// Runs a request for a caller. `shutdown` cancels it; after `shutdown` none is begun.
  func call<Answer: Sendable>(
    _ body: @escaping @Sendable (SyncEngine) async throws(SyncError) -> Answer
  ) async throws(SyncError) -> Answer {
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    let task = Task { () async -> Result<Answer, SyncError> in
      do throws(SyncError) {
        return .success(try await body(self))
      } catch {
        return .failure(error)
      }
    }
    let number = calls.begins(cancel: { task.cancel() }, end: { _ = await task.value })
    defer { calls.ended(number) }
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  /// Ends the requests of all callers. When this returns, nothing is sent for them any more.
  func endCalls() async {
    let underWay = calls.underWay
    for call in underWay { call.cancel() }
    for call in underWay { await call.end() }
  }

  /// Ends timers and requests, waits until they have ended, and closes the file: when this returns, another engine can
  /// open it. Queued entries stay queued.
  ///
  /// A call that ignores its cancellation (of the store, or the app's own credentials or transport) is left behind.
  public func shutdown() async {
    isShutDown = true
    saw(.closed(ObjectIdentifier(lateCalls)))
    stopTimers()
    changes.send()
    await endTasks { true }
    await endCalls()
    guard open.isOpen else { return events.finish() }
    releaseRequests()
    events.finish()
    closeFile()
  }
}
