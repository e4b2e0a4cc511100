import Foundation
import PurchaseQueue

/// Performs the machine's actions, and feeds the results back to it.
extension SyncEngine {
  func start() throws(SyncError) {
    try openFile()
    listStore()
    continueRestoring()
    checkFile()
    sendNotices()
  }

  /// Opens the file and starts a machine, which takes up everything that an earlier one left undone.
  private func openFile() throws(SyncError) {
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
    if isSuspended { open.pair?.machine.suspended() }
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
    _ events: (inout SyncMachine<SyncFile>, SyncFile, Timestamp) throws(QueueError) -> R
  ) throws(QueueError) -> R {
    guard !isShutDown, let pair = open.pair else { throw .closed(path: configuration.path) }
    var machine = pair.machine
    let now = configuration.now()
    machine.uptime = uptime
    let result = try pair.file.queue.inOneCommit { () throws(QueueError) in
      try events(&machine, pair.file, now)
    }
    open.pair?.machine = machine
    return result
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

  /// A transaction could not be stored: the store is asked again when everything is looked at again.
  func storeKeepsMore() {
    open.pair?.machine.storeKeepsMore()
    lookAgain()
  }

  /// Looks at everything again after a storage error. Not at once: most of them last a while.
  func lookAgain() {
    setTimer(configuration.now().adding(milliseconds: configuration.retry.ceiling(afterFailures: 3)))
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

  private func perform(_ action: SyncAction, of generation: Int) {
    // The machine that asked for it may have been replaced: the next one asks again. An event has happened all the same.
    guard open.isOpen(as: generation) else {
      if case .emit(let event) = action { emit(event) }
      return
    }
    switch action {
    case .emit(let event): emit(event)
    case .wake(let due): setTimer(due)
    case .finish(let tombstone):
      if decisions.presence.place != .background { decisions.finishes.add(tombstone) }
    case .send(let lane, let entries): upload(lane, entries)
    case .readReceipt(let key): if decisions.presence.place != .background { readReceipt(for: key) }
    case .listStore: if !takeCopies() { listStore() }
    case .adopt(let account): adopt(for: account)
    case .storageFailed(let error):
      report(failed(error))
      lookAgain()
    }
  }

  /// An outcome goes out with the context of its order, as it is published to the account that is signed in. The
  /// outcomes of orders that the store answered with the same transaction follow.
  func emit(_ event: SyncEvent) {
    guard let outcome = event.outcome, !outcome.isAlreadyOwned, let file = open.file else {
      return send(event)
    }
    do throws(QueueError) {
      var told = outcome.addressed(to: configuration.currentAccount?())
      told.context = try file.context(of: told.orderNumber)
      send(SyncEvent(publishing: told))
      for owned in try file.ownedOutcomes(of: outcome.key) { send(SyncEvent(publishing: owned)) }
    } catch {
      // The outcome itself is in the tombstone. The others are in the file, and come with the next stream.
      send(SyncEvent(publishing: outcome.addressed(to: configuration.currentAccount?())))
      send(.failed(.queue(error)))
    }
  }

  private func send(_ event: SyncEvent) {
    saw(.event(event))
    meter.count(event)
    if events.send(event) { configuration.log?(SyncLogRecord(event)) }
  }

  /// Reports answers that the verifier refused.
  func reportRefusedReplies() {
    for reason in ports.backend.takeRefusedReplies() { emit(.replyRejected(reason: reason)) }
  }

  func report(_ error: SyncError) { emit(.failed(error)) }

  func closeStream(_ number: Int) { events.close(number) }

  // MARK: Timer

  /// The earliest timer counts, by the monotonic clock: after a jump of the wall clock, the moment of an earlier timer
  /// says nothing about when it fires. In the background there is none: it would open the file, and the foreground looks
  /// at everything.
  private func setTimer(_ due: Timestamp) {
    guard !isShutDown, !isSuspended else { return }
    let horizon = max(0, configuration.retry.horizonMilliseconds)
    let delay = min(max(0, due.milliseconds(since: configuration.now())), horizon)
    let fires = configuration.system.uptime().advanced(by: .milliseconds(delay))
    guard timer.isSet(to: fires) else { return }
    let sleep = configuration.system.sleep
    tasks[.timer] = Task { [weak self] in
      do {
        try await sleep(delay)
      } catch {
        return  // Cancelled: another timer, or shutdown.
      }
      await self?.timerFired()
    }
  }

  func stopTimer() {
    tasks[.timer] = nil
    timer.ended()
    tasks[.wake] = nil
    decisions.wakes.forgetPending()
    endListingWait()
  }

  private func timerFired() {
    timer.ended()
    guard !isShutDown else { return }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in machine.timerFired(now: now) })
      // Another process of this installation may have settled what this one waited for.
      announceOutcomes()
    } catch {
      report(error)
      lookAgain()
    }
    changes.send()
  }

  // MARK: Tasks

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
    if !isSuspended { maintain() }
    changes.send()
  }

  // MARK: In a pause

  /// Tidies the file up while nothing is under way; cheap if there is nothing to tidy.
  func maintain() {
    do throws(QueueError) {
      try open.file?.maintain(now: configuration.now())
    } catch {
      report(failed(error))
    }
  }

  /// Reads every value of the file once after the start, on another thread, and isolates damaged rows.
  private func checkFile() {
    let (setup, elsewhere) = (open.session.setup, configuration.system.elsewhere)
    run { engine in
      switch await QueueSession.check(setup, by: elsewhere) {
      case .success(let report): await engine.isolate(report)
      // Ended on the way to the background, or at the end. A damaged value is found when it is read, too.
      case .failure(.closed): return
      case .failure(let error): await engine.report(.queue(error))
      }
    }
  }

  private func isolate(_ report: CheckReport) {
    guard !report.isClean, !isShutDown else { return }
    do throws(SyncError) {
      try withFile { (file) throws(QueueError) in try file.queue.isolate(report) }
      guard !report.pages.isEmpty else { return }
      closeFile()
      try withFile { _ in }
    } catch {
      self.report(error)
    }
  }
}
