import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Specification

/// The end of a run: without faults everything is delivered, and all engines shut down.
extension EngineSimulation {
  private static let hour: Int64 = 3_600_000

  func heal() throws {
    isHealed = true
    isOffline = false
    temptations = []
    boundariesLeft = nil
    queue.stalls = 0
    tell(nil, "the faults end")
    if !processes.contains(where: { $0.name == "app" && !$0.hasEnded && !$0.isEnding }) { launch("app") }
    for account in signedOut.sorted() { signIn(account) }
    for process in processes where process.isRunning {
      if let engine = process.engine { wake(.foreground, process, engine) }
      // An app that confirmed nothing does now, beginning with what was published to it.
      if !process.confirms { start(process) { await self.listen(process) } }
    }
    wakePhones()
    let floor = allProcesses.map(\.floor).max() ?? 0
    try run(until: max(queue.now, floor + floor / 5) + 3 * Self.hour) { [self] in isOver }
    if checker.violation == nil, let left = pending(), left.isForNextLaunch { try launchAgain() }
    guard checker.violation == nil else { return }
    let left = pending()
    checker.expect(.delivered, left == nil, "in time: \(left?.what ?? "")")
    checkOwned()
    try beQuiet()
  }

  /// A launch delivers the outcomes that another process received. It also sends entries that had no capacity because a
  /// request for an order died with its process: its capacity is free a day later.
  private func launchAgain() throws {
    let nextDay = queue.now + 25 * Self.hour
    try run(until: nextDay) { false }
    queue.pass(until: nextDay)
    tell(nil, "the app is launched again")
    for process in processes where process.name == "app" && process.isRunning {
      shutdown(process) { [self] in relaunch(process) }
    }
    wakePhones()
    try run(until: queue.now + 3 * Self.hour) { [self] in isOver }
  }

  private var isOver: Bool { !queue.hasReady && pending() == nil }

  private func beQuiet() throws {
    // A listing may arrive after the last finish, and be older. And where two servers named their ledgers in turn, up to
    // two offers of everything settled are left, an hour apart (`CallPace.ledgerOffers`).
    try run(until: queue.now + 3 * Self.hour) { false }
    try run(until: queue.now + Self.hour) { [self] in isOver }
    guard checker.violation == nil else { return }
    let sent = uploads
    try run(until: queue.now + 26 * Self.hour) { false }
    guard checker.violation == nil else { return }
    checker.expect(.quiet, uploads == sent && pending() == nil, "no work is left, and something is sent")
    for process in allProcesses where process.isRunning && process.phone?.isClone != true {
      checker.expect(
        .quiet, queue.count(.timer, of: process.number) == 0,
        "no work is left, and \(process.name) has a timer")
    }
  }

  /// The first pending work; nil if none is.
  private func pending() -> (what: String, isForNextLaunch: Bool)? {
    if buyers > 0 { return ("a purchase has not ended", false) }
    // The next check continues the work that another process left.
    let isShared = processes.count { $0.directory == directory } > 1
    let canWait = isShared || knobs.entries < 64
    for sale in store.sales.indices {
      if store.sales[sale].isListed { return ("\(Names.id(sale)) is unfinished in the store", canWait) }
      if !isOnRecord[sale], !discarded.contains(sale) {
        return ("\(Names.id(sale)) is not delivered", canWait)
      }
    }
    guard let content = watch?.content else {
      return store.sales.isEmpty ? nil : ("there is no file", false)
    }
    if let key = content.rows.keys.min() { return ("\(key) is queued", canWait) }
    for (key, stone) in content.stones.sorted(by: { $0.key < $1.key }) {
      if stone.hasPendingFinish { return ("the finish of \(key) is pending", isShared) }
      // What another account has proved to be its own waits for that account.
      let isUsers = stone.outcome.hasSuffix("/yours/" + (user ?? "")) || !stone.outcome.contains("/yours/")
      if stone.isUnconfirmed, isUsers { return ("the app has not confirmed \(key)", isShared) }
    }
    do throws(SQLiteError) {
      if let key = try watch?.pendingUpdate() { return ("an update of \(key) waits for capacity", canWait) }
    } catch {
      return ("the pending updates cannot be read: \(error)", false)
    }
    if let what = pendingElsewhere() { return (what, canWait) }
    for sale in store.sales.indices where told[sale] == nil && !discarded.contains(sale) {
      if phones.contains(where: { $0.told.contains(sale) }) { continue }
      return ("the app never received the outcome of \(Names.id(sale))", isShared)
    }
    return nil
  }

  func end() throws {
    for process in allProcesses where !process.hasEnded && !process.isEnding {
      if process.engine == nil { kill(process) } else { shutdown(process) }
    }
    try run(until: queue.now) { false }
    settleObligations()
    guard checker.violation == nil else { return }
    for process in allProcesses {
      checker.expect(.shutdownReturns, process.hasEnded, "\(process.name) never ended")
    }
    let sent = sendCount
    try run(until: .max) { false }
    guard checker.violation == nil else { return }
    checker.expect(.nothingAfterShutdown, sendCount == sent, "every engine has ended, and something is sent")
    for process in allProcesses {
      if process.isAlive {
        checker.expect(
          .streamsEnd, process.streamsEnded == process.streamsOpened, "\(process.name) still listens")
      }
      checker.expect(
        .nothingIsKept, process.remains == nil,
        "something retains the engine of \(process.name), which has ended")
    }
    checker.expect(.nothingIsKept, queue.waiting == 0, "\(queue.waiting) continuations are never resumed")
    let strangers = unsafe ConcurrencyHook.strangers
    checker.expect(.oneThread, strangers == 0, "\(strangers) jobs came from another thread")
  }
}
