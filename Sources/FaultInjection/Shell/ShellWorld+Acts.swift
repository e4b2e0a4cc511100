import Foundation
import PurchaseQueue
import PurchaseSync

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What happens to the engines, and when.
extension ShellWorld {
  func plan() {
    for _ in 0..<knobs.purchases { later(moment()) { [self] in buy() } }
    for (act, count) in knobs.acts {
      for _ in 0..<count {
        // Some wait for a call of an engine, and come while that is out.
        let waits = people.chance(400)
        later(moment()) { [self] in
          if waits { armed.append(act) } else if !isHealed { perform(act) }
        }
      }
    }
  }

  /// An engine calls something outside: what waited for that comes now, or in a moment.
  func strike() {
    guard !isHealed, !armed.isEmpty else { return }
    let act = armed.removeFirst()
    later(Int64(people.pick([0, 0, 1, 3, people.below(knobs.latency + 1)]))) { [self] in
      if !isHealed { perform(act) }
    }
  }

  private func moment() -> Int64 { Int64(people.below(Int(knobs.length))) }

  private func any() -> ShellProcess? {
    let running = processes.filter(\.isRunning)
    return running.isEmpty ? nil : people.pick(running)
  }

  private func perform(_ act: ShellAct) {
    guard let process = any(), let engine = process.engine else { return }
    switch act {
    case .killAtBoundary: if boundariesLeft == nil { boundariesLeft = people.below(12) }
    case .killBetweenJobs: killBetweenJobs(process)
    case .shutdown: shutdown(process) { [self] in relaunch(process) }
    case .shutdownTwice:
      checker.mark(.shutdownTwice)
      shutdown(process) { [self] in relaunch(process) }
      start(process) { await engine.shutdown() }
    case .park: park(process, engine)
    case .parkTwice:
      park(process, engine, within: 1)
      // Back for an instant, and away again.
      later(Int64(people.below(1_000))) { [self] in
        guard process.isRunning else { return }
        park(process, engine, within: 4, afterForeground: true)
      }
    case .secondEngine: runExtension()
    case .signOut: signOut()
    case .wake: wake(people.pick([.foreground, .networkBack, .userAsked]), process, engine)
    case .refund:
      if !store.sales.isEmpty, store.refund(people.below(store.sales.count), at: now.milliseconds) {
        tell(nil, "the store gives money back")
      }
    case .replaceFile: replaceFile()
    default: start(process) { await self.ask(act, process, engine) }
    }
  }

  private func ask(_ act: ShellAct, _ process: ShellProcess, _ engine: SyncEngine) async {
    do {
      switch act {
      case .claim: try await engine.claimDevicePurchases(for: Names.accounts[people.below(knobs.accounts)])
      case .discard: try await discard(process, engine)
      case .redeliver:
        guard !store.sales.isEmpty else { return }
        let listed = store.listed[0].map { Int($0) }
        let sale =
          listed.isEmpty || people.chance(200) ? people.below(store.sales.count) : people.pick(listed)
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
      default: _ = try await engine.snapshot()
      }
    } catch {
      if process.isAlive { tell(process, "\(act) failed: \(error)") }
    }
  }

  private func discard(_ process: ShellProcess, _ engine: SyncEngine) async throws {
    look()
    let keys = watch?.content.rows.keys.sorted() ?? []
    guard !keys.isEmpty else { return }
    let key = EntryKey(rawValue: people.pick(keys))
    if !inFlight.values.allSatisfy(\.isEmpty) { checker.mark(.discardedInFlight) }
    discarded.insert(Names.transaction(key))
    tell(process, "gives \(key) up")
    try await engine.discard(key, by: "support", reason: "a test")
  }

  // MARK: Background

  private func park(
    _ process: ShellProcess, _ engine: SyncEngine, within fixed: Double? = nil, afterForeground: Bool = false
  ) {
    let seconds = fixed ?? Double(people.pick([0, 1, 4]))
    let begin = queue.now
    let foregrounds = process.foregrounds + (afterForeground ? 1 : 0)
    process.parking += 1
    tell(process, "goes to the background within \(Int(seconds)) s")
    if inFlight.values.contains(where: { $0.contains { $0.process == process.number } }) {
      checker.mark(.parkedWithUpload)
    }
    let before = queue.owner
    queue.owner = process.number
    let task = Task { [self] in
      if afterForeground { await toForeground(process, engine, .foreground) }
      // Of two without a foreground between them, either decides.
      let isAlone = process.parking == 1 || process.foregrounds > process.foregroundsAtPark
      process.foregroundsAtPark = process.foregrounds
      process.leftAloneUntil = isAlone ? queue.now + Int64(seconds * 1_000) : nil
      await engine.park(within: seconds)
      process.parking -= 1
      guard process.isAlive else { return }
      hasParked(process, since: begin, within: seconds, foregrounds)
    }
    queue.owner = before
    if people.chance(150) {
      later(Int64(people.below(1_500))) { [self] in
        if process.isRunning, process.parking > 0 { checker.mark(.parkCancelled) }
        process.leftAloneUntil = nil
        task.cancel()
      }
    }
    later(Int64(people.pick([5, 900, 6_000, 30_000]))) { [self] in
      if process.isRunning { wake(.foreground, process, engine) }
    }
  }

  private func hasParked(
    _ process: ShellProcess, since begin: Int64, within seconds: Double, _ foregrounds: Int
  ) {
    if knobs.stalls == 0 {
      let late = queue.now - begin - Int64(seconds * 1_000)
      checker.expect(.parkHolds, late <= 10, "park returned \(late) ms late")
    }
    guard process.foregrounds == foregrounds, !process.isEnding else { return }
    process.isParked = true
    tell(process, "is in the background")
    checkLeases(.parkHolds, process, "\(process.name) is in the background")
  }

  func wake(_ reason: WakeReason, _ process: ShellProcess, _ engine: SyncEngine) {
    start(process) { await self.toForeground(process, engine, reason) }
  }

  private func toForeground(_ process: ShellProcess, _ engine: SyncEngine, _ reason: WakeReason) async {
    if reason == .foreground {
      process.foregrounds += 1
      process.isParked = false
      if process.parking > 0 { checker.mark(.foregroundWhileParking) }
    }
    if queue.count(.timer, of: process.number) > 0 { checker.mark(.timerRacedWake) }
    tell(process, "wakes: \(reason)")
    do {
      try await engine.wake(reason)
    } catch {
      if process.isAlive { tell(process, "cannot wake: \(error)") }
    }
  }

  private func signOut() {
    let account = Names.accounts[people.below(knobs.accounts)]
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

  /// Somebody puts a copy in the place of the open file, with all that was committed: a restore from a backup. The
  /// engine has to begin anew, and what it had sent is nobody's.
  private func replaceFile() {
    let running = processes.filter { !$0.hasEnded }
    guard running.count == 1, running[0].isRunning, let watch else { return }
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
