import PurchaseSQLite

/// A durable FIFO queue for asynchronous code.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut. When it throws, the stored state is unchanged. An entry leaves the queue only by `acknowledge` or by an audited
/// `discard`; the queue evicts nothing. Delivery is at least once.
///
/// Calls of several tasks that wait at the same time share a commit, so eight callers are served more than twice as
/// fast as one. Each call has its own result, as if it had been alone. A call that was begun is carried out even if
/// its task is cancelled. Waiting for the disk uses the queue's own executor and holds no thread of the cooperative
/// pool. A damaged file is archived and salvaged (`QueueFile`), also while the queue is open.
public actor ReceiptQueue {
  private let executor: InjectedExecutor
  /// The queue's own executor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unowned() }

  private let session: QueueSession
  private let setup: QueueSetup
  private let clock: @Sendable () -> Timestamp
  private var waiting: [Waiting] = []
  /// How many callers shared the last commit.
  private var lastCallers = 0
  private let pause: Duration
  private var commits = 0
  private var isWaitingForPause = false

  /// The operation of one caller, and the function that tells the caller its result.
  private struct Waiting {
    var run: QueueFile.Operation
    var end: (QueueError?) -> Void
  }

  private init(
    _ setup: QueueSetup, executor: (any SerialExecutor)?, pause: Duration,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.setup = setup
    self.executor = InjectedExecutor(executor ?? BlockingExecutor(label: "purchase-queue"))
    self.pause = pause
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
  ///   - pause: how long no commit happens before the queue maintains its file (`maintain`).
  ///   - diagnostics: called on the queue's executor for each failure that no caller waits for; return quickly.
  ///   - clock: the device's time; by default the system's.
  public static func open(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any ReceiptVault)? = nil,
    executor: (any SerialExecutor)? = nil, pause: Duration = .seconds(1),
    diagnostics: (@Sendable (Diagnostic) -> Void)? = nil,
    clock: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) async throws(QueueError) -> ReceiptQueue {
    let queue = ReceiptQueue(
      QueueSetup(path: path, limits: limits, vault: vault, diagnostics: diagnostics), executor: executor,
      pause: pause, clock: clock)
    try await queue.start()
    return queue
  }

  private func start() throws(QueueError) {
    try session.open()
    Task { [weak self] in await self?.checkInBackground() }
  }

  /// Waits for the commits that were begun, and closes the file. Later calls throw `closed`.
  public func close() throws(QueueError) {
    commit()
    try session.close()
  }

  // MARK: Group commit

  /// Adds an operation to the next commit, and waits for that commit.
  func write<R: Sendable>(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> R
  ) async throws(QueueError) -> R {
    let now = clock()
    let result: Result<R, QueueError> = await withCheckedContinuation { continuation in
      var result: Result<R, QueueError>?
      waiting.append(
        Waiting(
          run: { (file) throws(QueueError) in result = .success(try operation(file, now)) },
          end: { [path = setup.path] error in
            continuation.resume(
              returning: error.map { .failure($0) } ?? result ?? .failure(.closed(path: path)))
          }))
      if waiting.count == 1 { Task { await self.commitSoon() } }
    }
    return try result.get()
  }

  /// Commits when no more callers arrive. The callers of the last commit often come back together and share the next
  /// commit. A single caller does not wait.
  private func commitSoon() async {
    var seen = lastCallers > 1 ? 0 : 1
    while waiting.count > seen, seen < Self.mostInACommit {
      seen = waiting.count
      await Task.yield()
    }
    commit()
  }

  private static let mostInACommit = 64

  private func commit() {
    let operations = waiting
    waiting = []
    guard !operations.isEmpty else { return }
    lastCallers = operations.count
    let errors: [QueueError?]
    do throws(QueueError) {
      errors = try session.current().groupCommit(operations.map(\.run))
    } catch {
      for operation in operations { operation.end(error) }
      return
    }
    for (operation, error) in zip(operations, errors) {
      operation.end(error.flatMap { repeatAfterReopening(operation, $0) })
    }
    commits += 1
    if !isWaitingForPause {
      isWaitingForPause = true
      Task { [weak self] in await self?.maintainInPause() }
    }
  }

  /// Opens a damaged or replaced file again, and repeats the operation once.
  private func repeatAfterReopening(_ operation: Waiting, _ error: QueueError) -> QueueError? {
    guard error.asksForReopening else { return error }
    do throws(QueueError) {
      session.drop()
      try operation.run(session.current())
      return nil
    } catch {
      return error
    }
  }

  /// Reads at once. Everything that the caller has written before is committed already.
  func read<R>(_ body: (QueueFile, Timestamp) throws(QueueError) -> R) throws(QueueError) -> R {
    try session.run(body)
  }

  // MARK: In the background

  /// Waits until nothing has been committed for a while.
  private func maintainInPause() async {
    var seen = -1
    while seen != commits {
      seen = commits
      do {
        try await Task.sleep(nanoseconds: UInt64(max(pause.wholeMilliseconds, 0)) * 1_000_000)
      } catch {
        break  // No code cancels this task. If it is cancelled, maintenance may as well run now.
      }
    }
    isWaitingForPause = false
    do throws(QueueError) {
      try session.maintain()
    } catch {
      setup.diagnostics?(Diagnostic(.maintenance, setup.path, error))
    }
  }

  private func checkInBackground() async {
    do throws(QueueError) {
      let report = try await QueueSession.check(setup).get()
      guard !report.isClean else { return }
      try session.run { (file, _) throws(QueueError) in try file.isolate(report) }
      guard !report.pages.isEmpty else { return }
      // Damaged pages need a salvage, which the next opening does.
      try session.open()
    } catch {
      setup.diagnostics?(Diagnostic(.backgroundCheck, setup.path, error))
    }
  }
}
