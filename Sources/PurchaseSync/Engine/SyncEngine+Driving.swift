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

  /// A transaction could not be stored: the store is asked again when everything is looked at again.
  func storeKeepsMore() {
    inform { $0.storeKeepsMore() }
    lookAgain()
  }

  /// Looks at everything again after a storage error. Not at once: most of them last a while.
  func lookAgain() {
    setTimer(configuration.now().adding(milliseconds: configuration.retry.ceiling(afterFailures: 3)))
  }

  func perform(_ action: SyncAction, of generation: Int) {
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
    case .readProof(let key): if decisions.presence.place != .background { readProof(for: key) }
    case .listStore: if !takeCopies() { listStore() }
    case .adopt(let account): adopt(for: account)
    case .storageFailed(let error):
      report(failed(error))
      lookAgain()
    }
  }

  // MARK: Timer

  /// In the background there is no timer: it would open the file, and the foreground looks at everything.
  private func setTimer(_ due: Timestamp) {
    let now = configuration.now()
    guard isAwake,
      let delay = decisions.timer.isSet(
        to: due, now: now, at: configuration.system.uptime(), configuration.retry)
    else { return }
    set(.timer, in: delay) { $0.timerFired() }
  }

  func stopTimers() {
    for timer in Timer.allCases { stop(timer) }
    decisions.timer.ended()
    decisions.wakes.forgetPending()
    endListingWait()
  }

  private func timerFired() {
    decisions.timer.ended()
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

  // MARK: In a pause

  /// Tidies the file up while nothing is under way; cheap if there is nothing to tidy.
  ///
  /// - Parameter isShort: More is to come soon, and another pause after it.
  func maintain(isShort: Bool) {
    do throws(QueueError) {
      try open.file?.maintain(now: configuration.now(), isShort: isShort)
    } catch {
      report(failed(error))
    }
  }

  /// What was promised soon is durable after a second without another such commit. In the background the file is closed,
  /// which makes it durable at once.
  func makeDurableInQuiet() {
    guard isAwake, tasks[.quiet] == nil, let queue = open.file?.queue, queue.hasSoonCommits else { return }
    let seen = queue.soonCommits
    set(.quiet, in: Self.quiet) { $0.quietEnded(after: seen) }
  }

  private func quietEnded(after seen: Int) {
    ended(.quiet)
    guard isAwake, let queue = open.file?.queue else { return }
    guard queue.soonCommits == seen else { return makeDurableInQuiet() }
    // Emptying the log makes it durable, too. Then the sync has nothing to do.
    maintain(isShort: isSendingSoon)
    do throws(QueueError) {
      try queue.makeDurable()
    } catch {
      report(failed(error))
      lookAgain()
    }
  }

  /// Nothing is under way. What is promised soon is followed by a quiet second, and that by a pause of its own.
  func restBegins() {
    maintain(isShort: isSendingSoon || open.file?.queue.hasSoonCommits ?? false)
  }

  /// Whether the next batch of a backlog, or something else, is due within a second.
  private var isSendingSoon: Bool {
    !decisions.timer.isQuiet(until: configuration.system.uptime().advanced(by: .milliseconds(Self.quiet)))
  }

  /// In milliseconds.
  private static let quiet: Int64 = 1_000

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
    reporting { () throws(SyncError) in
      try withFile { (file) throws(QueueError) in try file.queue.isolate(report) }
      guard !report.pages.isEmpty else { return }
      closeFile()
      try withFile { _ in }
    }
  }
}
