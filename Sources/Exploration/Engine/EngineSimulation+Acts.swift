import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Performs the acts of the schedule on the engines.
extension EngineSimulation {
  func plan() {
    if let chainEnd = knobs.chainEnd { later(chainEnd) { [self] in endChain() } }
    for (place, entry) in EngineSchedule(knobs, &people).entries.enumerated() {
      guard places?.contains(place) ?? true else { continue }
      later(entry.at) { [self] in
        guard let act = entry.act else { return buy() }
        if entry.waits { armed.append(act) } else if !isHealed { perform(act) }
      }
    }
  }

  /// An engine makes a call: a waiting act happens now or in a moment.
  func strike() {
    guard !isHealed, !armed.isEmpty else { return }
    let act = armed.removeFirst()
    later(Int64(people.pick([0, 0, 1, 3, people.below(knobs.latency + 1)]))) { [self] in
      if !isHealed { perform(act) }
    }
  }

  private func any() -> EngineProcess? {
    let running = processes.filter(\.isRunning)
    return running.isEmpty ? nil : people.pick(running)
  }

  private func perform(_ act: EngineAct) {
    guard let process = any(), let engine = process.engine else { return }
    switch act {
    case .killAtBoundary: if boundariesLeft == nil { boundariesLeft = people.below(12) }
    case .killBetweenJobs: killBetweenJobs(process)
    case .shutdown: shutdown(process) { [self] in relaunch(process) }
    case .shutdownTwice:
      checker.mark(.shutdownTwice)
      shutdown(process) { [self] in relaunch(process) }
      start(process) { await engine.shutdown() }
    case .suspend: suspend(process, engine)
    case .suspendTwice:
      suspend(process, engine, within: 1)
      // To the foreground for an instant, and to the background again.
      later(Int64(people.below(1_000))) { [self] in
        guard process.isRunning else { return }
        suspend(process, engine, within: 4, afterForeground: true)
      }
    case .secondEngine: runExtension()
    case .signOut: signOut()
    case .wake: wake(people.pick([.foreground, .networkBack, .userAsked]), process, engine)
    case .refund:
      guard !store.sales.isEmpty else { return }
      let sale = people.below(store.sales.count)
      guard store.refund(sale, at: now.milliseconds) else { return }
      protocolWatch?.take(store.sales[sale].isTakenBack ? .refunded(sale, true) : .partlyRefunded(sale))
      tell(nil, "the store refunds a purchase")
    case .replaceFile: replaceFile()
    case .restore: restoreOnNewPhone()
    case .clone: startFromCopy()
    case .lift: loseNetwork()
    case .twoServers, .callsBack: tempt(act)
    default: start(process) { await self.ask(act, process, engine) }
    }
  }

  private func ask(_ act: EngineAct, _ process: EngineProcess, _ engine: SyncEngine) async {
    do {
      switch act {
      case .claim: try await engine.adoptDevicePurchases(for: Names.accounts[people.below(knobs.accounts)])
      case .discard: try await discard(process, engine)
      case .redeliver:
        let own = ownSales
        guard !own.isEmpty else { return }
        let listed = store.listed[0].map { Int($0) }
        let sale =
          people.pick(listed.isEmpty || people.chance(200) ? own : listed)
        await handOver(sale, process, engine)
      case .stream:
        checker.mark(.streamsOpenedLate)
        var left = people.below(4)
        for await _ in try await engine.eventStream() {
          left -= 1
          if left <= 0 { break }
        }
      case .confirmTwice: await listen(process)
      case .fetchOrders: try await engine.fetchOrders(of: Names.accounts[people.below(knobs.accounts)])
      case .beginTwice:
        checker.mark(.beginTwice)
        let account = Names.accounts[people.below(knobs.accounts)]
        async let first = engine.begin(product: Names.products[0], account: account)
        async let second = engine.begin(product: Names.products[0], account: account)
        let (one, other) = (try await first, try await second)
        checker.expect(.binding, one.number != other.number, "order \(one.number) was handed out twice")
        try await engine.cancel(order: one.number)
        try await engine.cancel(order: other.number)
      case .refresh: try await engine.refreshReceipt()
      case .dismissSheets, .chargeCancelled, .buyOwned, .pendingSignOut, .neverConfirm:
        try await buy(act, process, engine)
      case .heardElsewhere, .resubscribe, .offerCode, .bundle, .seat: await own(act, process, engine)
      default: _ = try await engine.snapshot()
      }
    } catch {
      if process.isAlive { tell(process, "\(act) failed: \(error)") }
    }
    await checkFile(process, engine, after: act)
  }

  /// In the background, a call has closed the file.
  private func checkFile(_ process: EngineProcess, _ engine: SyncEngine, after act: EngineAct) async {
    let foregrounds = process.foregrounds
    func isAway() -> Bool {
      process.isRunning && process.isSuspended && process.suspending == 0
        && process.foregrounds == foregrounds
    }
    guard isAway() else { return }
    let isOpen = await engine.isFileOpen
    guard isAway() else { return }
    checker.expect(
      .suspensionHolds, !isOpen, "\(process.name) is in the background, and \(act) left its file open")
  }

  private func discard(_ process: EngineProcess, _ engine: SyncEngine) async throws {
    look()
    let keys = watch?.content.rows.keys.sorted() ?? []
    guard !keys.isEmpty else { return }
    let key = EntryKey(rawValue: people.pick(keys))
    if !inFlight.values.allSatisfy(\.isEmpty) { checker.mark(.discardedInFlight) }
    discarded.insert(Names.transaction(key))
    tell(process, "discards \(key)")
    try await engine.discard(key, by: "support", reason: "a test")
  }

  // MARK: Background

  private func suspend(
    _ process: EngineProcess, _ engine: SyncEngine, within fixed: Double? = nil, afterForeground: Bool = false
  ) {
    let seconds = fixed ?? Double(people.pick([0, 1, 4]))
    let begin = queue.now
    let foregrounds = process.foregrounds + (afterForeground ? 1 : 0)
    process.suspending += 1
    tell(process, "goes to the background within \(Int(seconds)) s")
    if inFlight.values.contains(where: { $0.contains { $0.process == process.number } }) {
      checker.mark(.suspendedWithUpload)
    }
    let before = queue.owner
    queue.owner = process.number
    let task = Task { [self] in
      if afterForeground { await toForeground(process, engine, .foreground) }
      // Of two calls without a foreground between them, either one may decide.
      let isAlone = process.suspending == 1 || process.foregrounds > process.foregroundsAtSuspension
      process.foregroundsAtSuspension = process.foregrounds
      process.leftAloneUntil = isAlone ? queue.now + Int64(seconds * 1_000) : nil
      await engine.suspend(within: seconds)
      process.suspending -= 1
      guard process.isAlive else { return }
      hasSuspended(process, since: begin, within: seconds, foregrounds)
    }
    queue.owner = before
    if people.chance(150) {
      later(Int64(people.below(1_500))) { [self] in
        if process.isRunning, process.suspending > 0 { checker.mark(.suspensionCancelled) }
        process.leftAloneUntil = nil
        task.cancel()
      }
    }
    later(Int64(people.pick([5, 900, 6_000, 30_000]))) { [self] in
      if process.isRunning { wake(.foreground, process, engine) }
    }
  }

  private func hasSuspended(
    _ process: EngineProcess, since begin: Int64, within seconds: Double, _ foregrounds: Int
  ) {
    if knobs.stalls == 0 {
      let late = queue.now - begin - Int64(seconds * 1_000)
      checker.expect(.suspensionHolds, late <= 10, "suspend returned \(late) ms late")
    }
    guard process.foregrounds == foregrounds, !process.isEnding else { return }
    process.isSuspended = true
    tell(process, "is in the background")
    checkLeases(.suspensionHolds, process, "\(process.name) is in the background")
  }

  func wake(_ reason: WakeReason, _ process: EngineProcess, _ engine: SyncEngine) {
    start(process) { await self.toForeground(process, engine, reason) }
  }

  private func toForeground(_ process: EngineProcess, _ engine: SyncEngine, _ reason: WakeReason) async {
    if reason == .foreground {
      process.foregrounds += 1
      process.isSuspended = false
      if process.suspending > 0 { checker.mark(.foregroundWhileSuspending) }
    }
    if queue.count(.timer, of: process.number) > 0 { checker.mark(.timerRacedWake) }
    tell(process, "wakes: \(reason)")
    do {
      if bug != .wakeForgotten { try await engine.wake(reason) }
      noteWake(of: process, reason)
    } catch {
      if process.isAlive { tell(process, "cannot wake: \(error)") }
    }
  }

  private func signOut() { signOut(Names.accounts[people.below(knobs.accounts)]) }

  func signOut(_ account: String) {
    signedOut.insert(account)
    checker.mark(.signInNeeded)
    tell(nil, "\(account) signs out")
    later(Int64(people.pick([10, 1_000, 60_000]))) { [self] in signIn(account) }
  }

  func signIn(_ account: String) {
    signedOut.remove(account)
    lastSignedIn = account
    tell(nil, "\(account) signs in")
    for process in processes where process.isRunning {
      if let engine = process.engine { wake(.signedIn(account: account), process, engine) }
    }
  }

  // MARK: The file

  private func runExtension() {
    guard !processes.contains(where: { $0.name == "extension" && !$0.hasEnded }) else { return }
    launch("extension")
    let process = processes[processes.count - 1]
    later(Int64(people.between(1, Int(knobs.length)))) { [self] in
      guard process.isRunning else { return }
      if people.chance(500) { shutdown(process) } else { killBetweenJobs(process) }
    }
  }

  /// Replaces the open file by a copy with all committed content, as a restored backup does. The engine has to start
  /// again and drop the replies to its requests.
  private func replaceFile() {
    let running = processes.filter { !$0.hasEnded }
    guard running.count == 1, running[0].isRunning, let watch else { return }
    restartDeadlines()
    let isOut = inFlight.values.contains { !$0.isEmpty }
    do {
      try watch.gather()
      self.watch = nil
      let path = directory + "/q"
      try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
      guard unsafe rename(path + "-copy", path) == 0 else { return beginWatch() }
      beginWatch()
    } catch {
      return beginWatch()
    }
    checker.mark(.fileReplaced)
    if isOut { checker.mark(.answerToFormerMachine) }
    tell(nil, "the file is replaced by a copy")
  }
}
