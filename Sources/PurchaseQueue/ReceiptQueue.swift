import PurchaseSQLite

/// The durable FIFO queue for asynchronous code.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut; when it throws, the stored state is as it was. An entry leaves the queue only by `acknowledge` or an audited
/// `discard`; nothing is evicted. Delivery is at least once.
///
/// Callers that come at the same time share commits, so eight of them are served more than twice as fast as one;
/// each has its own durability and its own error, as if it had been alone. A call that was begun is carried out even
/// if its task is cancelled. Waiting for the disk happens on the queue's own executor and holds no thread of the
/// cooperative pool. A damaged file is set aside and salvaged (`QueueFile`), here also while the queue is open.
public actor ReceiptQueue {
  private let executor: InjectedExecutor
  /// The queue's own executor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unowned() }

  private let path: String
  private let limits: QueueLimits
  private let vault: (any ReceiptVault)?
  private let clock: @Sendable () -> Timestamp
  private var file: QueueFile?
  private var isClosed = false
  private var waiting: [Waiting] = []
  /// How many shared the last commit.
  private var lastCallers = 0
  private let pause: Int
  private var commits = 0
  private var isWaitingForPause = false

  /// One caller's operation, and how to tell the caller of its end.
  private struct Waiting {
    var run: QueueFile.Operation
    var end: (QueueError?) -> Void
  }

  private init(
    path: String, limits: QueueLimits, vault: (any ReceiptVault)?, executor: (any SerialExecutor)?,
    pause: Int,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.path = path
    self.limits = limits
    self.vault = vault
    self.executor = InjectedExecutor(executor ?? BlockingExecutor(label: "purchase-queue"))
    self.pause = pause
    self.clock = clock
  }

  /// Opens the file, or makes it, as `QueueFile` does; then checks all of it in the background.
  ///
  /// - Parameters:
  ///   - path: the queue's file; its directory has to exist.
  ///   - limits: how much it holds; in force from now on, whatever it held before.
  ///   - vault: what is mirrored into, and restored from; none unless given.
  ///   - executor: runs the queue's blocking calls, one after the other; a thread of its own unless given.
  ///   - pauseMilliseconds: how long nothing is committed before the queue tidies up (`maintain`).
  ///   - clock: the device's time; the system's unless given.
  public static func open(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any ReceiptVault)? = nil,
    executor: (any SerialExecutor)? = nil, pauseMilliseconds: Int = 1_000,
    clock: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) async throws(QueueError) -> ReceiptQueue {
    let queue = ReceiptQueue(
      path: path, limits: limits, vault: vault, executor: executor,
      pause: pauseMilliseconds, clock: clock)
    try await queue.start()
    return queue
  }

  private func start() throws(QueueError) {
    try reopen()
    Task { [weak self] in await self?.checkInBackground() }
  }

  private func reopen() throws(QueueError) {
    file = nil
    file = try QueueFile(path: path, limits: limits, vault: vault, now: clock())
  }

  /// The open file. Opening it anew may have failed, for want of room or because somebody else had it: the next call
  /// tries again.
  private func current() throws(QueueError) -> QueueFile {
    guard !isClosed else { throw .closed(path: path) }
    if file == nil { try reopen() }
    guard let file else { throw .closed(path: path) }
    return file
  }

  /// Waits for the commits that were begun, and closes the file. Calls after it throw `closed`.
  public func close() throws(QueueError) {
    commit()
    isClosed = true
    defer { file = nil }
    try file?.maintain(now: clock())
  }

  // MARK: Group commit

  /// Adds an operation to the next commit, and waits for it.
  func write<R: Sendable>(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> R
  ) async throws(QueueError) -> R {
    let now = clock()
    let result: Result<R, QueueError> = await withCheckedContinuation { continuation in
      var result: Result<R, QueueError>?
      waiting.append(
        Waiting(
          run: { (file) throws(QueueError) in result = .success(try operation(file, now)) },
          end: { [path] error in
            continuation.resume(
              returning: error.map { .failure($0) } ?? result ?? .failure(.closed(path: path)))
          }))
      if waiting.count == 1 { Task { await self.commitSoon() } }
    }
    return try result.get()
  }

  /// Commits when no more callers arrive: those whom the last commit has just served come back together, and share
  /// the next one. Somebody alone does not wait.
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
      errors = try current().together(operations.map(\.run))
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

  /// A damaged or replaced file is opened anew, and the operation is done again, once.
  private func repeatAfterReopening(_ operation: Waiting, _ error: QueueError) -> QueueError? {
    guard error.asksForReopening else { return error }
    do throws(QueueError) {
      file = nil
      try operation.run(current())
      return nil
    } catch {
      return error
    }
  }

  /// Reads at once; what the caller has written before is committed already.
  func read<R>(_ body: (QueueFile, Timestamp) throws(QueueError) -> R) throws(QueueError) -> R {
    let file = try current()
    do throws(QueueError) {
      return try body(file, clock())
    } catch  where error.asksForReopening {
      self.file = nil
    }
    return try body(current(), clock())
  }

  // MARK: In the background

  /// Waits until nothing has been committed for a while.
  private func maintainInPause() async {
    var seen = -1
    while seen != commits {
      seen = commits
      do {
        try await Task.sleep(nanoseconds: UInt64(max(pause, 0)) * 1_000_000)
      } catch {
        break  // Nobody cancels this task; if somebody did, now would be as good a time as any.
      }
    }
    isWaitingForPause = false
    do throws(QueueError) {
      try file?.maintain(now: clock())
    } catch {
      // Nobody waits for it, nothing is lost by it, and the next commits try again.
      file?.hook?("maintain-failed")
    }
  }

  private func checkInBackground() async {
    let result = await QueueCheck.inBackground(path: path)
    guard case .success(let report) = result, !report.isClean else { return }
    do throws(QueueError) {
      try read { (file, _) throws(QueueError) in try file.setApart(report) }
      if !report.pages.isEmpty {
        file = nil
        _ = try current()
      }
    } catch {
      // The damage is still there: whoever meets it gets the error.
      file?.hook?("check-failed")
    }
  }
}
