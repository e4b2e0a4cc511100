import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Processes begin, end and die.
extension ShellWorld {
  /// Runs that as the app of a process.
  func start(_ process: ShellProcess, _ body: @escaping @Sendable () async -> Void) {
    let before = queue.owner
    queue.owner = process.number
    Task { await body() }
    queue.owner = before
  }

  /// Plans that for the world, whoever asks.
  func later(_ milliseconds: Int64, _ body: @escaping () -> Void) {
    let before = queue.owner
    queue.owner = 0
    queue.after(milliseconds) { body() }
    queue.owner = before
  }

  func launch(_ name: String) {
    let process = ShellProcess(number: processes.count + 1, name: name, directory: directory)
    processes.append(process)
    tell(process, "is launched")
    start(process) { await self.open(process) }
  }

  private func open(_ process: ShellProcess) async {
    while process.isAlive, !process.isEnding {
      do {
        let engine = try await SyncEngine.open(
          configuration(process), store: ShellStore(world: self, process: process),
          transport: transport(of: process),
          credentials: { [weak self] account in await self?.credentials(of: account, process) })
        guard process.isAlive, !process.isEnding else { return await engine.shutdown() }
        process.engine = engine
        process.remains = engine
        neverOpened = nil
        if watch == nil { beginWatch() }
        start(process) { await self.listen(process) }
        return
      } catch {
        tell(process, "cannot open: \(error)")
        if watch == nil { neverOpened = "\(error)" }
        await queue.pause(5_000)
      }
    }
  }

  private func transport(of process: ShellProcess) -> any BackendTransport {
    let plain = ShellTransport(world: self, process: process)
    return plant.map { PlantedTransport(inner: plain, plant: $0) } ?? plain
  }

  private func configuration(_ process: ShellProcess) -> SyncConfiguration {
    var configuration = SyncConfiguration(
      path: process.path,
      limits: QueueLimits(entries: knobs.entries, proofBytes: knobs.isByReference ? 4 : 1 << 20),
      now: { [unowned self] in now })
    configuration.surroundings = surroundings(process)
    configuration.hook = { [unowned self] name in passed(name, process) }
    configuration.log = { [unowned self] record in logged(record, process) }
    return configuration
  }

  private func surroundings(_ process: ShellProcess) -> Surroundings {
    let queue = self.queue
    let begin = ContinuousClock.now
    let plant = self.plant
    return Surroundings(
      executor: { SeededExecutor(queue) },
      uptime: { begin.advanced(by: .milliseconds(queue.now)) },
      sleep: { milliseconds in
        process.timersSet += 1
        // Not the looks of `park`, whether it is over.
        if plant == .timerNeverRings, milliseconds > 10, process.timersSet % 3 == 0 {
          return try await queue.sleep(400 * 86_400_000, .world)
        }
        if plant == .sleepIgnoresCancellation { return await queue.pause(milliseconds, .timer) }
        try await queue.sleep(milliseconds, .timer)
      },
      patience: { try await queue.sleep($0, .patience) },
      random: { [unowned self] in chance.next() },
      uuid: { [unowned self] in uuid() },
      elsewhere: { work in
        if plant == .workIsLost, process.number.isMultiple(of: 2) { return }
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

  /// As an app ends its engine. `then` is done when it has ended.
  func shutdown(_ process: ShellProcess, then: @escaping @Sendable () -> Void = {}) {
    guard let engine = process.engine else { return }
    process.isEnding = true
    if process.parking > 0 { checker.mark(.shutdownWhileParking) }
    tell(process, "is shut down")
    start(process) { [self] in
      await engine.shutdown()
      guard process.isAlive else { return }
      hasShutDown(process)
      then()
    }
    obligations.append(
      (
        .shutdownReturns, "\(process.name) was shut down, and that never returned", process.number,
        {
          process.hasEnded
        }
      ))
  }

  private func hasShutDown(_ process: ShellProcess) {
    process.hasEnded = true
    process.engine = nil
    tell(process, "has ended")
    checker.expect(
      // A call of `park` looks every few milliseconds whether it is over.
      .nothingAfterShutdown, queue.count(.timer, of: process.number) <= process.parking,
      "\(process.name) has ended, and its timer is set")
    checkLeases(.nothingAfterShutdown, process, "\(process.name) has ended")
  }

  /// The process is gone: nothing that it began goes on, and no lock of it is held. What it had not committed is lost.
  func kill(_ process: ShellProcess) {
    guard process.isAlive, !process.hasEnded else { return }
    process.isAlive = false
    process.hasEnded = true
    for lane in inFlight.keys.sorted() { inFlight[lane]?.removeAll { $0.process == process.number } }
    guard let engine = process.engine else { return queue.bury(process.number) }
    process.engine = nil
    start(process) { await engine.shutdown() }
    queue.bury(process.number)
  }

  /// Between two jobs; the other process on the file lives on.
  func killBetweenJobs(_ process: ShellProcess) {
    checker.mark(.killedBetweenJobs)
    tell(process, "is killed")
    look()
    kill(process)
    look()
    relaunch(process)
  }

  func relaunch(_ process: ShellProcess) {
    guard process.name == "app" else { return }
    later(Int64(people.pick([0, 10, 1_000]))) { [self] in
      if !processes.contains(where: { $0.name == "app" && !$0.hasEnded }) { launch("app") }
    }
  }

  // MARK: At a boundary

  /// What the engine passes between two durable steps.
  private func passed(_ boundary: String, _ process: ShellProcess) {
    guard process.isAlive else { return }
    if boundary == "upload.sending" { decided(process) }
    if boundary == "upload.received", process.isEnding { checker.mark(.replyInShutdown) }
    planted(at: boundary, process)
    guard let left = boundariesLeft, left >= 0, process.directory == directory else { return }
    boundariesLeft = left - 1
    if left == 0 { takeImage(boundary) }
  }

  /// What would be on the disk if everything died now: the files as they are. The engine does not notice; nothing that
  /// it does from here on counts.
  private func takeImage(_ boundary: String) {
    checker.mark(.killedAtBoundary)
    look()
    for process in processes where process.isAlive { tell(process, "is killed at \(boundary)") }
    do {
      let image = try makeDirectory()
      for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      where !name.hasSuffix("-shm") && !name.contains("-lane-") {
        try FileManager.default.copyItem(atPath: directory + "/" + name, toPath: image + "/" + name)
      }
      directory = image
    } catch {
      checker.broken(.prefix, "no image could be made: \(error)")
    }
    for process in processes { process.isAlive = process.isAlive && process.hasEnded }
    atKill = watch?.content
  }

  /// The job in which everything died is through.
  func dieAtBoundary() throws {
    boundariesLeft = nil
    watch = nil
    let dead = processes.filter { !$0.hasEnded }
    for process in dead {
      process.isAlive = true
      kill(process)
    }
    inFlight = [:]
    beginWatch()
    if let atKill, let watch {
      checker.expect(.prefix, watch.content == atKill, "what is in the file is not what was committed")
    }
    for process in dead { relaunch(process) }
    if dead.isEmpty || !dead.contains(where: { $0.name == "app" }) {
      later(100) { [self] in
        if !processes.contains(where: { $0.name == "app" && !$0.hasEnded }) { launch("app") }
      }
    }
  }

  func beginWatch() {
    do throws(SQLiteError) {
      watch = try FileWatch(path: directory + "/q")
      _ = try watch?.look()
    } catch {
      watch = nil
    }
  }
}
