import PurchaseQueue
import PurchaseSync
import Specification

/// The driver of each process, as simple as the engine's: for each event it calls the machine once and performs the
/// actions.
extension MachineSimulation {
  // MARK: Launch and death

  func launch(_ process: Process) {
    let phone = process.phone
    process.forget()
    if let armed = phone.armed, armed.count >= 30 {
      // A full or failing disk fails at the opening as well.
      checker.mark(.openFailed)
      phone.armed = nil
      return plan(.launch, at: now + 8_000, process.number)
    }
    do throws(QueueError) {
      let base = try phone.disk.open(now: deviceNow(phone))
      if phone.isFresh || phone.disk.hasVault { adopt(base, of: phone) }
      checkOpened(base, of: phone)
      try watchLaunch(process, base)
      process.storage = WatchedStorage(base, phone.shadow, cutDisk: losesPower ? phone.disk : nil)
    } catch {
      checker.mark(.openFailed)
      return plan(.launch, at: now + 8_000, process.number)
    }
    if let armed = phone.armed { process.storage.arm(armed.kind, after: armed.after, count: armed.count) }
    phone.armed = nil
    process.machine = SyncMachine(
      storage: process.storage, policy: policy, appVersion: "1", seed: phone.machineSeeds.next())
    hash.add(Int64(process.number))
    process.isAlive = true
    restartWaitsAtLaunch(of: phone)
    process.isFailing = phone.shadow.retry.pace.isFailing
    process.recoveringSends = phone.shadow.retry.pace.pacedSendsLeft
    (process.floorOfAll, process.floorAsSaid) = (0, 0)
    process.raiseFloor(to: storedFloor(phone))
    tell("phone \(phone.number + 1): \(process.role == 0 ? "the app" : "the extension") is launched")
    let error = step(process) { (machine, now) throws(QueueError) in try machine.started(now: now) }
    guard error == nil else {
      // A machine that did not start accepts no events.
      checker.mark(.openFailed)
      die(process)
      return plan(.launch, at: now + 8_000, process.number)
    }
    note(.launches, process.role, on: phone)
    if process.isAlive { list(process) }
    noteWake(of: process, .foreground)
  }

  /// The stored floor of the former launch.
  func storedFloor(_ phone: Phone) -> Int64 {
    phone.shadow.retry.pace.asked?.opensAt(now: deviceNow(phone)).milliseconds ?? 0
  }

  /// A fresh install holds the entries of the vault, and no others.
  private func adopt(_ base: any SyncStorage, of phone: Phone) {
    phone.isFresh = false
    guard phone.disk.hasVault else { return }
    do throws(QueueError) {
      for entry in try phone.disk.entries(base) {
        let sale = Names.transaction(entry.key)
        let present = phone.shadow.row(sale)
        let earlier = previousShadows[phone.number].reversed().lazy.map { $0.row(sale) }
        let before = earlier.first { $0.place > 0 } ?? present
        // A copy of a former entry. It may be stale: the vault was locked when the entry was settled, and its tombstone
        // was dropped since.
        guard present.state == .none, before.place > 0 else { continue }
        guard try base.tombstone(entry.key) == nil else { continue }
        checker.mark(.vaultRestored)
        phone.shadow.inserted(entry, candidates: before.candidates.map { String($0 + 1) }, isUpdate: false)
        phone.shadow.change(sale) { ($0.receipt, $0.isSigned) = (before.receipt, before.isSigned) }
        if entry.state == .quarantined { phone.shadow.set(.quarantined, of: sale) }
      }
    } catch {
      checker.broken(.prefix, "a fresh install cannot be read: \(error)")
    }
  }

  func die(_ process: Process) {
    guard process.isAlive else { return }
    note(.dies, process.role, on: process.phone)
    tell("phone \(process.phone.number + 1): \(process.role == 0 ? "the app" : "the extension") dies")
    process.forget()
    watch?.take(.died(process.number))
    let phone = process.phone
    if processes.contains(where: { $0.phone === phone && $0.isAlive }) {
      process.storage.close()
    } else {
      phone.disk.kill { process.storage.close() }
    }
  }

  func killAll(_ phone: Phone) {
    for process in processes where process.phone === phone { die(process) }
  }

  func endExtension(_ process: Process) {
    die(process)
    // The app behind it comes to the foreground.
    let app = processes[process.phone.number]
    if app.isAlive { wake(app, .foreground) }
  }

  // MARK: One event

  /// Gives the machine an event and performs its actions; returns the error that it threw.
  func step(
    _ process: Process,
    _ event: (inout SyncMachine<WatchedStorage>, Timestamp) throws(QueueError) -> [SyncAction]
  ) -> QueueError? {
    process.storage.beginEvent()
    var thrown: QueueError?
    process.machine.uptime = now
    do throws(QueueError) {
      let actions = try event(&process.machine, deviceNow(process.phone))
      if process.storage.isDead {
        killedInWrite(process)
      } else {
        process.phone.unseenJump = 0
        perform(actions, process)
      }
    } catch {
      thrown = error
      if process.storage.isDead { killedInWrite(process) } else { process.phone.unseenJump = 0 }
    }
    if process.storage.hasStruck { note(.storageFails, on: process.phone) }
    if process.isAlive, !process.isSuspended { checkTimer(process, hasThrown: thrown != nil) }
    return thrown
  }

  func killedInWrite(_ process: Process) {
    checker.mark(.killedInWrite)
    die(process)
  }

  /// As `step`; after an error the timer repeats the work.
  func feed(
    _ process: Process,
    _ event: (inout SyncMachine<WatchedStorage>, Timestamp) throws(QueueError) -> [SyncAction]
  ) {
    if step(process, event) != nil, process.isAlive { setTimer(process, 8_000) }
  }

  func perform(_ actions: [SyncAction], _ process: Process) {
    var actions = actions
    if bug == .refusedForEver, actions.contains(where: \.asksForSignIn), actions.contains(where: \.isWake) {
      deeds.note()
      actions.removeAll(where: \.isWake)
    }
    for action in actions {
      if process.storage.effectsLeft != nil, process.storage.passEffect() {
        checker.mark(.killedInActions)
        return die(process)
      }
      switch action {
      case .send(let lane, let entries): send(entries, in: Names.lane(lane), process)
      case .finish(let tombstone): finish(tombstone, process)
      case .readProof(let key):
        checker.mark(.unknownTransaction)
        plan(
          .receiptRead, at: now + Int64(1 + shop.below(knobs.latency)), process.number, process.launch,
          Names.transaction(key))
      case .listStore:
        checker.mark(.listedForCapacity)
        list(process)
      case .adopt(let account): sendAdoption(Names.account(account), process)
      case .storageFailed: setTimer(process, 8_000)
      case .wake(let moment): setTimer(process, at: moment)
      case .emit(let event): told(event, process)
      }
    }
  }

  // MARK: Timer

  /// A lane whose token was refused twice has a timer, unless something else brings it nearer.
  func checkRefusal(_ upload: Upload, _ failure: UploadFailure, _ process: Process) {
    guard failure == .tokenRefused, upload.lane > 0, process.isAlive, !process.isSuspended,
      !process.storage.hasStruck, process.phone.shadow.queuedInLane[upload.lane] > 0,
      process.machine.isWaitingForSignIn(in: Names.lanes[upload.lane])
    else { return }
    checker.mark(.refusedTwice)
    checker.expect(
      .refusal, process.timerAt.map { $0 - now <= 86_400_000 } ?? false,
      "a token of lane \(Names.lanes[upload.lane].rawValue) was refused, and nothing asks again")
  }

  private func setTimer(_ process: Process, at moment: Timestamp) {
    let now = deviceNow(process.phone)
    checker.expect(
      .timers, moment.milliseconds(since: now) <= 86_400_000,
      "a timer in \(moment.milliseconds(since: now) / 3_600_000) h")
    let delay = min(max(0, moment.milliseconds(since: now)), policy.horizonMilliseconds)
    if bug == .timerLost, let timer = process.timerAt {
      if self.now + delay < timer { deeds.note() }
      return
    }
    setTimer(process, delay)
  }

  /// Keeps the earlier timer. Uses the clock that no act changes.
  func setTimer(_ process: Process, _ delay: Int64) {
    let fires = now + delay
    if let timer = process.timerAt, timer <= fires { return }
    process.timerAt = fires
    process.timerNumber += 1
    plan(.timer, at: fires, process.number, process.timerNumber)
  }

  func fire(_ process: Process, _ number: Int32) {
    guard process.isAlive, process.timerNumber == number, process.timerAt != nil else { return }
    process.timerAt = nil
    note(.timerFires, on: process.phone)
    if bug == .timerForEver {
      deeds.note()
      setTimer(process, 3_600_000)
    }
    feed(process) { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
  }

  // MARK: Events for the app

  private func told(_ event: SyncEvent, _ process: Process) {
    if knobs.seed % 256 == 0 || bug == .logsProof { checkSecrets(event, process) }
    switch event {
    case .delivered(let outcome), .settled(let outcome): told(outcome, process)
    case .queued(let key, let match):
      process.personLanes |= 1 << Names.lane(match.lane)
      checkSeat(Names.transaction(key), match)
      figures.queued(behind: process.phone.shadow.queued - 1)
      if case .proposed = match.kind { checker.mark(.proposed) }
      if match.lane == .device { checker.mark(.deviceLane) }
      if match.evidence.last == .ownerSignedIn { checker.mark(.unclaimedSignedIn) }
      tell(
        "phone \(process.phone.number + 1): \(key.rawValue.dropFirst(11)) is queued, \(match.lane.rawValue)")
    case .updateQueued: checker.mark(.updateQueued)
    case .signInNeeded: checker.mark(.signInNeeded)
    case .postponed(let key, _, _):
      checker.mark(.postponed)
      process.phone.shadow.change(Names.transaction(key)) { $0.wasPostponed = true }
    case .quarantined(let key, let reason):
      if reason.hasPrefix("fails") { checker.mark(.poisonQuarantined) }
      process.phone.shadow.change(Names.transaction(key)) { $0.wasPostponed = true }
    case .ledgerChanged: checker.mark(.epochChanged)
    case .backendFault: checker.mark(.backendFault)
    default: break
    }
  }

  private func told(_ outcome: Outcome, _ process: Process) {
    let sale = Names.transaction(outcome.key)
    if behaviours != nil { note(.isTold, Self.number(of: outcome.verdict), of: sale, process.phone) }
    watch?.take(.told(sale, on: process.phone.number, .init(outcome.verdict)))
    if outcome.verdict == .otherOwner { checker.mark(.otherOwner) }
    if outcome.verdict == .duplicate { checker.mark(.duplicateVerdict) }
    if outcome.verdict == .refunded { checker.mark(.refundedVerdict) }
    if outcome.verdict == .lapsed { checker.mark(.lapsedVerdict) }
    guard process.phone.confirms else { return }
    if bug == .outcomeNotTold, process.number % 2 == 0, sale % 3 == 0 { return deeds.note(sale) }
    if process.phone.fulfilFailsUntil > now || !process.fulfilments.isEmpty {
      process.fulfilments.received(outcome)
      return planFulfilment(process, at: now + 1)
    }
    plan(
      .confirmation, at: now + Int64(1 + app.below(knobs.confirmation)), process.number, process.launch, sale)
  }

  /// An app confirms again if the confirmation could not be stored.
  func confirm(_ process: Process, _ sale: Int) {
    note(.isConfirmed, of: sale, process.phone)
    let error = step(process) { (machine, now) throws(QueueError) in
      try machine.outcomeConfirmed(Names.key(sale), now: now)
    }
    guard error != nil, process.isAlive else { return }
    plan(.confirmation, at: now + 60_000, process.number, process.launch, sale)
  }
}

extension SyncAction {
  fileprivate var asksForSignIn: Bool { if case .emit(.signInNeeded) = self { true } else { false } }
  fileprivate var isWake: Bool { if case .wake = self { true } else { false } }
}
