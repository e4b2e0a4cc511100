import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Specification

/// Launches, shutdowns and kills.
extension EngineSimulation {
  /// Runs `body` as the app of a process.
  func start(_ process: EngineProcess, _ body: @escaping @Sendable () async -> Void) {
    let before = queue.owner
    queue.owner = process.number
    Task { await body() }
    queue.owner = before
  }

  /// Plans work of the simulation, for any caller.
  func later(_ milliseconds: Int64, _ body: @escaping () -> Void) {
    let before = queue.owner
    queue.owner = 0
    queue.after(milliseconds) { body() }
    queue.owner = before
  }

  func launch(_ name: String) {
    let process = makeProcess(name, in: directory)
    processes.append(process)
    tell(process, "is launched")
    start(process) { await self.open(process) }
  }

  func makeProcess(_ name: String, in directory: String) -> EngineProcess {
    launched += 1
    return EngineProcess(number: launched, name: name, directory: directory)
  }

  func open(_ process: EngineProcess) async {
    watchLaunch(process)
    while process.isAlive, !process.isEnding {
      do {
        let engine = try await SyncEngine.open(
          configuration(process), store: EngineStore(simulation: self, process: process),
          transport: transport(of: process),
          credentials: { [weak self] in await self?.credentials(of: $0.account, process) })
        guard process.isAlive, !process.isEnding else { return await engine.shutdown() }
        process.engine = engine
        process.remains = engine
        if process.phone == nil {
          neverOpened = nil
          if watch == nil { beginWatch() }
          noteWake(of: process)
        }
        start(process) { await self.listen(process) }
        return
      } catch {
        tell(process, "cannot open: \(error)")
        if process.phone == nil, watch == nil { neverOpened = "\(error)" }
        await queue.pause(5_000)
      }
    }
  }

  private func transport(of process: EngineProcess) -> any BackendTransport {
    let plain = EngineTransport(simulation: self, process: process)
    return bug.map { PlantedTransport(inner: plain, bug: $0) } ?? plain
  }

  private func configuration(_ process: EngineProcess) -> SyncConfiguration {
    var configuration = SyncConfiguration(
      path: process.path, vault: vault(of: process),
      limits: QueueLimits(entries: knobs.entries, payloadBytes: knobs.isByReference ? 4 : 1 << 20),
      now: { [unowned self] in now })
    if bug == .ceilingOfAShift { configuration.retry.ceiling = .seconds(8 * 3_600) }
    if knobs.makesOrders { configuration.orderPolicy = .backendFirst(timeLimit: .milliseconds(1_500)) }
    configuration.currentAccount = { [unowned self] in user(of: process) }
    configuration.requestTimeLimit = .milliseconds(Self.requestTime)
    configuration.system = system(process)
    configuration.checkpoint = { [unowned self] checkpoint in passed(checkpoint, process) }
    configuration.log = { [unowned self] record in logged(record, process) }
    return configuration
  }

  private func system(_ process: EngineProcess) -> SystemDependencies {
    let queue = self.queue
    let begin = ContinuousClock.now
    let bug = self.bug
    return SystemDependencies(
      executor: { SeededExecutor(queue) },
      uptime: { begin.advanced(by: .milliseconds(queue.now)) },
      sleep: { milliseconds in
        process.timersSet += 1
        if bug == .timerNeverRings, process.timersSet % 3 == 0 {
          return try await queue.sleep(400 * 86_400_000, .simulation)
        }
        if bug == .sleepIgnoresCancellation { return await queue.pause(milliseconds, .timer) }
        try await queue.sleep(milliseconds, .timer)
      },
      patience: { try await queue.sleep($0, .patience) },
      random: { [unowned self] in chance.next() },
      uuid: { [unowned self] in uuid() },
      elsewhere: { work in
        if bug == .workIsLost, process.number.isMultiple(of: 2) { return }
        queue.enqueue(work)
      })
  }

  private func uuid() -> UUID {
    let (high, low) = (chance.next(), chance.next())
    func byte(_ word: UInt64, _ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * place)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), 0x40,
        byte(high, 7), 0x80, byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
        byte(low, 6), byte(low, 7)
      ))
  }

  // MARK: The end

  /// Shuts the engine down, as an app does. `then` runs after the end.
  func shutdown(_ process: EngineProcess, then: @escaping @Sendable () -> Void = {}) {
    guard let engine = process.engine else { return }
    process.isEnding = true
    if process.suspending > 0 { checker.mark(.shutdownWhileSuspending) }
    tell(process, "is shut down")
    start(process) { [self] in
      await engine.shutdown()
      guard process.isAlive else { return }
      hasShutDown(process)
      then()
    }
    obligations.append(
      (
        .shutdownReturns, "\(process.name) was shut down, and the call never returned", process,
        {
          process.hasEnded
        }
      ))
  }

  private func hasShutDown(_ process: EngineProcess) {
    process.endedAt = queue.now
    process.engine = nil
    watchEnd(process)
    tell(process, "has ended")
    checker.expect(
      .nothingAfterShutdown, queue.count(.timer, of: process.number) == 0,
      "\(process.name) has ended, and its timer is set")
    checkLeases(.nothingAfterShutdown, process, "\(process.name) has ended")
  }

  /// Kills the process: its work stops, its locks are free, and uncommitted work is lost.
  func kill(_ process: EngineProcess) {
    guard process.isAlive, !process.hasEnded else { return }
    process.isAlive = false
    process.endedAt = queue.now
    watchEnd(process)
    for lane in inFlight.keys.sorted() { inFlight[lane]?.removeAll { $0.process == process.number } }
    guard let engine = process.engine else { return queue.bury(process.number) }
    process.engine = nil
    start(process) { await engine.shutdown() }
    queue.bury(process.number)
  }

  /// Kills a process between two jobs. The other process of the file continues.
  func killBetweenJobs(_ process: EngineProcess) {
    checker.mark(.killedBetweenJobs)
    tell(process, "is killed")
    look()
    kill(process)
    look()
    relaunch(process)
  }

  func relaunch(_ process: EngineProcess) {
    guard process.name == "app" else { return }
    later(Int64(people.pick([0, 10, 1_000]))) { [self] in
      if !processes.contains(where: { $0.name == "app" && !$0.hasEnded }) { launch("app") }
    }
  }

  // MARK: Checkpoints

  /// The engine passes a checkpoint between two durable steps.
  private func passed(_ checkpoint: Checkpoint, _ process: EngineProcess) {
    guard process.isAlive else { return }
    if checkpoint == .uploadSending { decided(process) }
    if checkpoint == .uploadReceived, process.isEnding { checker.mark(.replyInShutdown) }
    planted(at: checkpoint, process)
    guard let left = boundariesLeft, left >= 0, process.directory == directory else { return }
    boundariesLeft = left - 1
    if left == 0 { takeImage(checkpoint) }
  }

  /// Copies the files as they are: the disk after a kill of all processes at this moment. The engines do not notice, and
  /// their further work does not count.
  private func takeImage(_ checkpoint: Checkpoint) {
    checker.mark(.killedAtBoundary)
    look()
    for process in processes where process.isAlive { tell(process, "is killed at \(checkpoint.rawValue)") }
    do {
      let image = try makeDirectory()
      for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      where !name.hasSuffix("-shm") && !name.contains("-lane-") {
        try FileManager.default.copyItem(atPath: directory + "/" + name, toPath: image + "/" + name)
      }
      directory = image
      if power.chance(500) { try cutPower() }
    } catch {
      checker.broken(.prefix, "the files could not be copied: \(error)")
    }
    for process in processes {
      process.isAlive = process.isAlive && process.hasEnded
      watchEnd(process)
    }
    atKill = watch?.content
    isDying = true
  }

  /// The kill is a power cut: of the log, anything behind its durable end may be gone.
  private func cutPower() throws {
    let path = directory + "/q"
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    guard let note = try WriteLock.note(of: path, on: .system), log.count > 32,
      unsafe log.withUnsafeBytes({ unsafe LogNote.salts(inHeader: $0) }) == note.salts, note.end < log.count
    else { return }
    checker.mark(.powerCut)
    let end = Int(note.end) + power.below(log.count - Int(note.end))
    try log.prefix(end).write(to: URL(fileURLWithPath: path + "-wal"))
    isPowerCut = true
  }

  /// Kills the processes after the job of the checkpoint has ended.
  func dieAtBoundary() throws {
    boundariesLeft = nil
    isDying = false
    watch = nil
    let dead = processes.filter { !$0.hasEnded }
    for process in dead {
      process.isAlive = true
      kill(process)
    }
    inFlight = [:]
    beginWatch()
    if let atKill, let watch {
      let isWhole = isPowerCut ? watch.content.mayPrecede(atKill) : watch.content == atKill
      checker.expect(.prefix, isWhole, "the file does not hold what was committed")
    }
    if isPowerCut { forgetLostAttempts() }
    isPowerCut = false
    for process in dead { relaunch(process) }
    if dead.isEmpty || !dead.contains(where: { $0.name == "app" }) {
      later(100) { [self] in
        if !processes.contains(where: { $0.name == "app" && !$0.hasEnded }) { launch("app") }
      }
    }
  }

  /// The sends whose attempts the power cut took.
  private func forgetLostAttempts() {
    for (key, row) in watch?.content.rows ?? [:] {
      let sale = Names.transaction(EntryKey(rawValue: key))
      if let count = sends[sale], count > row.attempts { sends[sale] = row.attempts }
    }
  }

  func beginWatch() {
    do throws(SQLiteError) {
      watch = try FileWatch(path: directory + "/q")
      _ = try watch?.look()
      watchCommits(of: 0, watch?.content)
    } catch {
      watch = nil
    }
  }
}
