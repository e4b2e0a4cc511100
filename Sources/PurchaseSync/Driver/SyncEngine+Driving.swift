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
    let configuration = self.configuration
    let seed = UInt64.random(in: .min ... .max)
    opened = try Self.storing { () throws(QueueError) in
      let queue = try QueueFile(
        path: configuration.path, limits: configuration.limits, vault: configuration.vault,
        now: configuration.now())
      queue.hook = configuration.hook
      let file = try SyncFile(queue: queue)
      return Opened(
        file: file,
        machine: SyncMachine(
          storage: file, policy: configuration.retry, appVersion: configuration.appVersion, seed: seed))
    }
    generation += 1
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
    if opened == nil { try openFile() }
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
      // What was in flight is sent again by the next machine; answers to this one are nobody's.
      if error.asksForReopening { opened = nil }
      throw .queue(error)
    }
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

  /// After a storage error: not at once, since most of them last a while.
  func lookAgain() {
    setTimer(configuration.now().adding(milliseconds: configuration.retry.ceiling(afterFailures: 3)))
  }

  static func storing<R>(_ body: () throws(QueueError) -> R) throws(SyncError) -> R {
    do throws(QueueError) {
      return try body()
    } catch {
      throw .queue(error)
    }
  }

  func perform(_ actions: [SyncAction]) {
    for action in actions {
      switch action {
      case .emit(let event): emit(event)
      case .wake(let due): setTimer(due)
      case .finish(let tombstone): finish(tombstone)
      case .send(let lane, let entries): upload(lane, entries)
      case .readReceipt(let key): readReceipt(for: key)
      case .listStore: listStore()
      case .claim(let account): claim(for: account)
      case .storageFailed(let error):
        report(.queue(error))
        if error.asksForReopening { opened = nil }
        lookAgain()
      }
    }
  }

  func emit(_ event: SyncEvent) {
    configuration.log?(SyncLogRecord(event))
    events.send(event)
  }

  func report(_ error: SyncError) { emit(.failed(error)) }

  func closeStream(_ number: Int) { events.close(number) }

  // MARK: Timer

  private func setTimer(_ due: Timestamp) {
    if let timerDue, timerDue <= due { return }
    timer?.cancel()
    timerDue = due
    let delay = max(0, due.milliseconds(since: configuration.now()))
    timer = Task { [weak self] in
      do {
        try await Task.sleep(for: .milliseconds(delay))
      } catch {
        return  // Cancelled: another timer, or shutdown.
      }
      await self?.timerFired()
    }
  }

  private func timerFired() {
    timerDue = nil
    guard !isShutDown else { return }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in machine.timerFired(now: now) })
    } catch {
      report(error)
      lookAgain()
    }
  }

  // MARK: Tasks

  /// Starts a task that `shutdown` cancels.
  func run(_ body: @escaping @Sendable (SyncEngine) async -> Void) {
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
      report(.queue(error))
    }
  }

  /// Reads every value of the file beside it, once after the start, and sets apart what is damaged.
  private func checkFile() {
    let path = configuration.path
    run { engine in
      switch await QueueCheck.inBackground(path: path) {
      case .success(let report): await engine.setApart(report)
      case .failure(let error): await engine.report(.queue(error))
      }
    }
  }

  private func setApart(_ report: CheckReport) {
    guard !report.isClean, !isShutDown else { return }
    do throws(SyncError) {
      let file = try file()
      try Self.storing { () throws(QueueError) in try file.queue.setApart(report) }
      guard !report.pages.isEmpty else { return }
      opened = nil
      _ = try self.file()
    } catch {
      self.report(error)
    }
  }
}
