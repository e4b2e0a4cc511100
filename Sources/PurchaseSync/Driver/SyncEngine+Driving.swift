import Foundation
import PurchaseQueue

/// The dull part: performs the machine's actions, and feeds back what came of them.
extension SyncEngine {
  func start() throws(SyncError) {
    try openFile()
    listStore()
    checkFile()
  }

  /// Opens the file, and takes up what an earlier run, or the machine before this one, left undone.
  private func openFile() throws(SyncError) {
    opened = nil
    do throws(SyncError) {
      try openOnce()
    } catch {
      // Damage that shows only behind the header is noted by then: the second opening salvages what can be read.
      guard case .queue(let cause) = error, cause.asksForReopening else { throw error }
      try openOnce()
    }
  }

  private func openOnce() throws(SyncError) {
    let configuration = self.configuration
    let seed = configuration.surroundings.random()
    opened = try Self.storing { () throws(QueueError) in
      let queue = try QueueFile(
        path: configuration.path, limits: configuration.limits, vault: configuration.vault,
        now: configuration.now(), hook: configuration.hook)
      let file = try SyncFile(queue: queue)
      return Opened(
        file: file,
        machine: SyncMachine(
          storage: file, policy: configuration.retry, appVersion: configuration.appVersion, seed: seed))
    }
    generation += 1
    if isParked { opened?.machine.parked() }
    if let salvage = opened?.file.queue.salvage { emit(.recovered(salvage)) }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in try machine.started(now: now) })
    } catch {
      // A machine that has not started takes no events: the next call opens the file again.
      opened = nil
      throw error
    }
  }

  /// The open file. Opening it anew after damage may have failed: then it is tried again here.
  func file() throws(SyncError) -> SyncFile {
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    if opened == nil {
      try openFile()
      // What this file lacks, the store may deliver again; and what is owed to the store, it has to be told.
      listStore()
    }
    guard let opened else { throw .queue(.closed(path: configuration.path)) }
    return opened.file
  }

  /// The choke point: one event, one call of the machine, now. Throws after `shutdown`: nothing would be durable.
  func step(
    _ event: (inout SyncMachine<SyncFile>, Timestamp) throws(QueueError) -> [SyncAction]
  ) throws(SyncError) -> [SyncAction] {
    _ = try file()
    guard var machine = opened?.machine else { throw .queue(.closed(path: configuration.path)) }
    let now = configuration.now()
    do throws(QueueError) {
      defer { opened?.machine = machine }
      return try event(&machine, now)
    } catch {
      throw failed(error)
    }
  }

  /// What the app asks of the file beside the machine.
  func withFile<R>(_ body: (SyncFile) throws(QueueError) -> R) throws(SyncError) -> R {
    let file = try self.file()
    do throws(QueueError) {
      return try body(file)
    } catch {
      throw failed(error)
    }
  }

  /// A file that is not what it was is opened anew, at the latest in a while: nobody may ask for it until then. What was
  /// in flight is sent again by the next machine; answers to this one are nobody's.
  func failed(_ error: QueueError) -> SyncError {
    if error.asksForReopening, opened != nil {
      opened = nil
      lookAgain()
    }
    return .queue(error)
  }

  /// As `step`, for what came of a request of that generation, where nobody waits for the result: a storage error is
  /// reported, and everything is looked at again later.
  func feed(
    _ generation: Int, _ event: (inout SyncMachine<SyncFile>, Timestamp) throws(QueueError) -> [SyncAction]
  ) {
    // What comes after `shutdown` was in flight then: it is in the file, and is taken up at the next start. What an
    // earlier machine asked for, this one does not know.
    guard !isShutDown, generation == self.generation, opened != nil else { return }
    do throws(SyncError) {
      perform(try step(event))
    } catch {
      report(error)
      lookAgain()
    }
  }

  /// A request was cancelled on the way to the background, and the foreground is back already: it is sent again now.
  func interrupted(_ generation: Int) {
    guard !isParked else { return }
    feed(generation) { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
  }

  /// Something could not be taken over: the store is asked when everything is looked at again.
  func storeKeepsMore() {
    opened?.machine.storeKeepsMore()
    lookAgain()
  }

  /// After a storage error: not at once, since most of them last a while.
  func lookAgain() {
    setTimer(configuration.now().adding(milliseconds: configuration.retry.ceiling(afterFailures: 3)))
  }

  private static func storing<R>(_ body: () throws(QueueError) -> R) throws(SyncError) -> R {
    do throws(QueueError) {
      return try body()
    } catch {
      throw .queue(error)
    }
  }

  func perform(_ actions: [SyncAction]) {
    let generation = self.generation
    for action in actions {
      // The machine that asked for it may be gone by now: the next one asks again. What is so stays so.
      guard opened != nil, generation == self.generation else {
        if case .emit(let event) = action { emit(event) }
        continue
      }
      switch action {
      case .emit(let event): emit(event)
      case .wake(let due): setTimer(due)
      case .finish(let tombstone): finish(tombstone)
      case .send(let lane, let entries): upload(lane, entries)
      case .readReceipt(let key): readReceipt(for: key)
      case .listStore: listStore()
      case .claim(let account): claim(for: account)
      case .storageFailed(let error):
        report(failed(error))
        lookAgain()
      }
    }
  }

  func emit(_ event: SyncEvent) {
    if case .waiting(let lane, let reason, _) = event { waits[lane] = reason }
    configuration.log?(SyncLogRecord(event))
    events.send(event)
  }

  func report(_ error: SyncError) { emit(.failed(error)) }

  func closeStream(_ number: Int) { events.close(number) }

  // MARK: Timer

  /// The earliest counts, by a clock that nobody sets: after a jump of the wall clock, the moment of an earlier timer
  /// says nothing about when it fires.
  private func setTimer(_ due: Timestamp) {
    guard !isShutDown else { return }
    let horizon = max(0, configuration.retry.horizonMilliseconds)
    let delay = min(max(0, due.milliseconds(since: configuration.now())), horizon)
    let fires = configuration.surroundings.uptime().advanced(by: .milliseconds(delay))
    if let timerFires, timerFires <= fires { return }
    timer?.cancel()
    timerFires = fires
    let sleep = configuration.surroundings.sleep
    timer = Task { [weak self] in
      do {
        try await sleep(delay)
      } catch {
        return  // Cancelled: another timer, or shutdown.
      }
      await self?.timerFired()
    }
  }

  func stopTimer() {
    timer?.cancel()
    timer = nil
    timerFires = nil
  }

  private func timerFired() {
    timerFires = nil
    guard !isShutDown else { return }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in machine.timerFired(now: now) })
    } catch {
      report(error)
      lookAgain()
    }
  }

  // MARK: Tasks

  /// Starts a task that `shutdown` cancels; after it, nothing is started.
  func run(_ body: @escaping @Sendable (SyncEngine) async -> Void) {
    guard !isShutDown else { return }
    let number = nextWork
    nextWork += 1
    work[number] = Task {
      await body(self)
      self.ended(number)
    }
  }

  private func ended(_ number: Int) {
    work[number] = nil
    if work.isEmpty { maintain() }
  }

  // MARK: In a pause

  /// Tidies the file up while nothing is under way; cheap if there is nothing to tidy.
  func maintain() {
    do throws(QueueError) {
      try opened?.file.maintain(now: configuration.now())
    } catch {
      report(failed(error))
    }
  }

  /// Reads every value of the file beside it, once after the start, and sets apart what is damaged.
  private func checkFile() {
    let (path, elsewhere) = (configuration.path, configuration.surroundings.elsewhere)
    run { engine in
      switch await QueueCheck.inBackground(path: path, by: elsewhere) {
      case .success(let report): await engine.setApart(report)
      case .failure(let error): await engine.report(.queue(error))
      }
    }
  }

  private func setApart(_ report: CheckReport) {
    guard !report.isClean, !isShutDown else { return }
    do throws(SyncError) {
      try withFile { (file) throws(QueueError) in try file.queue.setApart(report) }
      guard !report.pages.isEmpty else { return }
      opened = nil
      _ = try self.file()
    } catch {
      self.report(error)
    }
  }
}
