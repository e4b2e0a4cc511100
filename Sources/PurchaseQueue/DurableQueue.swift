import PurchaseSQLite

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A durable FIFO queue for asynchronous code.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut. When it throws, the stored state is unchanged; after an error of the storage the change may be found at the next
/// opening (see `QueueFile`). An entry leaves the queue only by `acknowledge` or by an audited `discard`; the queue
/// evicts nothing. Delivery is at least once.
///
/// Calls of several tasks that wait at the same time share a commit, so eight callers are served more than twice as
/// fast as one. Each call has its own result, as if it had been alone. A call that was begun is carried out even if
/// its task is cancelled. Waiting for the disk uses the queue's own executor and holds no thread of the cooperative
/// pool. While another process writes, a call that changes something waits up to five seconds of its own, however many
/// calls wait, and readers do not wait. A damaged file is archived and salvaged (`QueueFile`), also while the queue is
/// open.
public actor DurableQueue {
  private let executor: InjectedExecutor
  /// The queue's own executor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unowned() }

  let session: QueueSession
  let setup: QueueSetup
  private let clock: @Sendable () -> Timestamp
  let patience: Patience
  let pause: Duration

  nonisolated let changes = Changes()
  private nonisolated let arrivals = Arrivals()
  private var callers = Callers()
  /// How many callers shared the last commit.
  private var lastCallers = 0
  /// A task gathers the callers of the next commit, or waits for the lock of another process.
  private var isGathering = false
  private var isInLine = false
  private(set) var isClosing = false

  /// Counts the calls, so that a pause is noticed.
  var uses = 0
  var isWaitingForPause = false
  let check = Interrupter()
  var isChecking = false

  private init(
    _ setup: QueueSetup, executor: (any SerialExecutor)?, pause: Duration, patience: Patience,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.setup = setup
    self.executor = InjectedExecutor(executor ?? BlockingExecutor(label: "purchase-queue"))
    self.pause = pause
    self.patience = patience
    self.clock = clock
    session = QueueSession(setup, now: clock)
  }

  /// Opens the file, or creates it, as `QueueFile` does; then checks all of it in the background.
  ///
  /// - Parameters:
  ///   - path: the queue's file; its directory has to exist.
  ///   - limits: how much the queue holds. They apply at once, whatever the file holds already.
  ///   - vault: storage that outlives an uninstall; entries are mirrored to it and restored from it.
  ///   - executor: runs the queue's blocking calls one after the other; by default a thread of its own.
  ///   - pause: how long no call is made before the queue maintains its file (`maintain`) and closes it until the
  ///     next call.
  ///   - diagnostics: called on the queue's executor for each failure that no caller waits for; return quickly.
  ///   - clock: the device's time; by default the system's.
  public static func open(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any QueueVault)? = nil,
    executor: (any SerialExecutor)? = nil, pause: Duration = .seconds(1),
    diagnostics: (@Sendable (Diagnostic) -> Void)? = nil,
    clock: @escaping @Sendable () -> Date = { Date() }
  ) async throws(QueueError) -> DurableQueue {
    try await open(
      QueueSetup(path: path, limits: limits, vault: vault, diagnostics: diagnostics), executor: executor,
      pause: pause, clock: { Timestamp(clock()) })
  }

  /// As the public function, with the setup and the patience of a test.
  package static func open(
    _ setup: QueueSetup, executor: (any SerialExecutor)? = nil, pause: Duration = .seconds(1),
    patience: Patience = Patience(), clock: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) async throws(QueueError) -> DurableQueue {
    let queue = DurableQueue(setup, executor: executor, pause: pause, patience: patience, clock: clock)
    try await queue.start()
    return queue
  }

  private func start() async throws(QueueError) {
    try await patiently { () throws(QueueError) in _ = try self.session.open(waits: false) }
    isChecking = true
    Task { [weak self] in await self?.checkInBackground() }
    noteUse()
  }

  /// Carries out the calls that were begun, ends the background check, and closes the file. Later calls throw `closed`.
  ///
  /// It does nothing long: maintenance runs in pauses before (`maintain`).
  public func close() async throws(QueueError) {
    isClosing = true
    while isChecking || isGathering || isInLine || !callers.isEmpty {
      // Again and again: a statement that begins at this moment runs on.
      check.stop()
      await patience.pause(500)
    }
    session.close()
    changes.end()
  }

  // MARK: Group commit

  /// Adds an operation to the next commit, and waits for that commit.
  @discardableResult
  nonisolated func submit<R: Sendable>(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> R
  ) async throws(QueueError) -> R {
    arrivals.begin()
    return try await arrive(operation)
  }

  private func arrive<R: Sendable>(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> R
  ) async throws(QueueError) -> R {
    arrivals.end()
    guard !isClosing else { throw .closed(path: setup.path) }
    noteUse()
    let now = clock()
    // Alone: without a task that gathers others. The callers of the last commit often come back together.
    if callers.isEmpty, !isGathering, !isInLine, lastCallers <= 1, !arrivals.areUnderWay {
      var result: R?
      let run: QueueFile.Operation = { (file) throws(QueueError) in result = try operation(file, now) }
      if let errors = commitUnlessBusy([run]) {
        lastCallers = 1
        if let error = errors[0] { throw error }
        if let result { return result }
      }
    }
    return try await inCompany(operation, now)
  }

  private func inCompany<R: Sendable>(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> R, _ now: Timestamp
  ) async throws(QueueError) -> R {
    let deadline = patience.deadline()
    let result: Result<R, QueueError> = await withCheckedContinuation { continuation in
      var result: Result<R, QueueError>?
      callers.add(
        Callers.Caller(
          run: { (file) throws(QueueError) in result = .success(try operation(file, now)) },
          deadline: deadline,
          end: { [path = setup.path] error in
            continuation.resume(
              returning: error.map { .failure($0) } ?? result ?? .failure(.closed(path: path)))
          }))
      if !isGathering, !isInLine {
        isGathering = true
        Task { await self.gather() }
      }
    }
    return try result.get()
  }

  /// Commits when no more callers arrive.
  private func gather() async {
    var seen = lastCallers > 1 ? 0 : 1
    var rounds = 0
    while callers.count > seen || arrivals.areUnderWay, callers.count < Callers.mostInACommit,
      rounds < Self.mostRounds
    {
      (seen, rounds) = (callers.count, rounds + 1)
      await Task.yield()
    }
    isGathering = false
    guard !commit() else { return }
    isInLine = true
    await waitInLine()
  }

  /// A call that has begun may be held up for long before it arrives.
  private static let mostRounds = 100

  /// Waits for another process. Holds no thread, so readers are served until then. Each caller waits until its own
  /// deadline.
  private func waitInLine() async {
    var pauses = LockPauses()
    while !callers.isEmpty {
      await patience.pause(pauses.next())
      if commit() { break }
      for caller in callers.removeExpired(at: patience.now()) {
        caller.end(.busy(path: setup.path, reason: "another process wrote for \(patience.milliseconds) ms"))
      }
    }
    session.leaveLine()
    isInLine = false
  }

  /// Commits the calls of all callers. False if another process writes now.
  private func commit() -> Bool {
    while !callers.isEmpty {
      let group = callers.next
      guard let errors = commitUnlessBusy(group.map(\.run)) else { return false }
      callers.removeFirst(group.count)
      lastCallers = group.count
      for (caller, error) in zip(group, errors) { caller.end(error) }
    }
    return true
  }

  /// Nil if another process writes now: then no operation has run.
  private func commitUnlessBusy(_ operations: [QueueFile.Operation]) -> [QueueError?]? {
    do throws(QueueError) {
      guard let errors = try session.current(waits: false).groupCommitUnlessBusy(operations) else {
        return nil
      }
      changes.notify()
      return zip(operations, errors).map { operation, error in
        error.flatMap { repeatAfterReopening(operation, $0) }
      }
    } catch .busy {
      return nil
    } catch {
      return operations.map { _ in error }
    }
  }

  /// Opens a damaged or replaced file again, and repeats the operation once.
  private func repeatAfterReopening(_ operation: QueueFile.Operation, _ error: QueueError) -> QueueError? {
    guard error.asksForReopening else { return error }
    do throws(QueueError) {
      session.drop()
      try operation(session.current())
      return nil
    } catch {
      return error
    }
  }

  // MARK: Reading

  /// Reads at once, also while a caller waits for another process. Everything that the caller has written before is
  /// committed already.
  func serve<R>(_ body: (QueueFile, Timestamp) throws(QueueError) -> R) async throws(QueueError) -> R {
    guard !isClosing else { throw .closed(path: setup.path) }
    noteUse()
    return try await patiently { () throws(QueueError) in
      try self.session.run(waits: false) { (file, now) throws(QueueError) in
        try file.withoutWaiting { () throws(QueueError) in try body(file, now) }
      }
    }
  }

  /// Makes an attempt again and again while it throws `busy`, until the caller has waited long enough.
  private func patiently<R>(_ attempt: () throws(QueueError) -> R) async throws(QueueError) -> R {
    let deadline = patience.deadline()
    var pauses = LockPauses()
    while true {
      do throws(QueueError) {
        return try attempt()
      } catch {
        guard case .busy = error, patience.now() < deadline else {
          if !isInLine { session.leaveLine() }
          throw error
        }
      }
      await patience.pause(pauses.next())
    }
  }
}
