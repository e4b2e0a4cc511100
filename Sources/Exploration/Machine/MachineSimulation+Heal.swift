import PurchaseQueue
import PurchaseSync

/// The second half of a run: without faults, all work has to be completed.
extension MachineSimulation {
  private static let hour: Int64 = 3_600_000

  /// Ends all faults. All apps run, and all accounts are signed in.
  func heal() {
    if behaviours != nil { for phone in phones { note(.heals, on: phone) } }
    isCalm = true
    tell("the faults end")
    faults = []
    faultBits = 0
    if knobs.seed % 2 == 0 {
      for phone in phones { killAll(phone) }
    }
    for process in processes {
      process.storage.disarm()
      if process.role == 1 { die(process) }
    }
    for phone in phones {
      confirmAgain(phone)
      (phone.armed, phone.fulfilFailsUntil) = (nil, .min)
      phone.disk.setVault(fails: false)
      let app = processes[phone.number]
      if !app.isAlive { launch(app) }
      for account in 0..<knobs.accounts { signIn(phone, account) }
      wake(app, .foreground)
      list(app)
    }
    expectDelivery()
    plan(.cure, at: now + 3 * 24 * Self.hour)
    plan(.turnEnds, at: now + 71 * Self.hour)
    planTurns(from: now + 24 * Self.hour)
  }

  /// Each Apple ID has three days, then the run ends.
  private func planTurns(from start: Int64) {
    for turn in 1...knobs.storeAccounts {
      plan(.turn, at: start + Int64(3 * turn) * 24 * Self.hour, turn)
      for day in 1...2 {
        plan(.turnEnds, at: start + Int64(3 * turn + day) * 24 * Self.hour + 20 * Self.hour)
      }
    }
    let end = start + Int64(4 + 3 * knobs.storeAccounts) * 24 * Self.hour
    plan(.turnEnds, at: end - 30_000)
    plan(.end, at: end)
  }

  /// From now on the app confirms, and begins with the outcomes that were published to it.
  private func confirmAgain(_ phone: Phone) {
    guard !phone.confirms else { return }
    phone.confirms = true
    let process = processes[phone.number]
    guard process.isAlive else { return }
    for sale in phone.shadow.rows.indices where phone.shadow.rows[sale].isUnconfirmed {
      plan(.confirmation, at: now + 1, process.number, process.launch, sale)
    }
  }

  /// Invariant 24: the ceiling, or the rest of the backend's own waits, or a day for quarantined and postponed entries;
  /// and the time of the requests.
  private func expectDelivery() {
    var wait = policy.ceilingMilliseconds
    var count = 0
    for phone in phones {
      let now = deviceNow(phone).milliseconds
      let shadow = phone.shadow
      count += shadow.queued
      // A request in flight without a reply may be the last failure before its entry is quarantined.
      let isOut = processes[phone.number].uploads.contains { $0 >= 0 }
      if shadow.quarantined > 0 || isOut { wait = 24 * Self.hour }
      for row in shadow.rows where row.state == .queued { wait = max(wait, row.readyAt - now) }
      wait = max(wait, processes[phone.number].floorAsSaid - now, storedFloor(phone) - now)
      for floor in processes[phone.number].floorOfLane { wait = max(wait, floor - now) }
      for sale in shadow.rows.indices where shadow.rows[sale].state != .none {
        expected.append((phone.number, sale))
      }
    }
    wait = min(wait, 24 * Self.hour) + 24 * Self.hour / 100 * 20
    let isPoisoned = store.sales.contains { $0.poison != .none }
    // Each poison entry may block its lane for ten minutes and a ceiling before it is postponed.
    let blocked = isPoisoned ? Int64(store.sales.count { $0.poison != .none }) * 2 * Self.hour : 0
    let perEntry = Int64(2 * knobs.latency + 1_000)
    plan(.deadline, at: now + wait + blocked + Int64(count) * perEntry + policy.ceilingMilliseconds)
  }

  func checkDeadline() {
    for (number, sale) in expected {
      guard store.sales[sale].poison == .none else { continue }
      let row = phones[number].shadow.row(sale)
      // Several poison entries take turns at the head of their lane, for a random time.
      let poisonous = expected.count { other in
        other.phone == number && store.sales[other.sale].poison != .none
          && phones[number].shadow.row(other.sale).lane == row.lane
      }
      if poisonous > 1 { continue }
      // A full queue has no capacity to release a quarantined entry.
      if row.state == .quarantined, isFull(phones[number]) { continue }
      // A receipt without the transaction proves nothing, and only its Apple ID brings another one.
      if row.receipt >= 0, !row.isSigned, !store.holds(receipt: row.receipt, sale) { continue }
      checker.expect(
        .delivered, row.state == .none || row.isUpdate,
        "\(Names.id(sale)) is not delivered: \(pending()?.description ?? "the reason is unknown")")
    }
  }

  /// Why a lane does not send, as the machine reports it.
  func why(_ process: Process, _ lane: Lane) -> String {
    let deviceNow = deviceNow(process.phone)
    let timer = process.timerAt.map { "in \(($0 - now) / 1_000) s" } ?? "never"
    do throws(QueueError) {
      switch try process.machine.status(of: lane, reason: nil, now: deviceNow) {
      case .waiting(let until, let reason):
        let seconds = until.milliseconds(since: deviceNow) / 1_000
        return "; the lane waits for \(seconds) s (\(reason)), the timer fires \(timer)"
      case let state: return "; the lane is \(state), the timer fires \(timer)"
      }
    } catch {
      return "; \(error)"
    }
  }

  private func isFull(_ phone: Phone) -> Bool {
    phone.shadow.queued >= knobs.entries
  }

  /// Invariant 25: poison entries are out of the way by now. Then they are repaired.
  func cure() {
    for (number, sale) in expected where store.sales[sale].poison != .none {
      let row = phones[number].shadow.row(sale)
      guard row.state != .none else { continue }
      checker.expect(
        .poison, row.state == .quarantined || row.wasPostponed,
        "\(Names.id(sale)) is poison, and neither postponed nor quarantined after \(row.attempts) attempts")
    }
    isCured = true
    tell("poison entries are repaired")
    // The next start delivers again the outcomes that another process received.
    for phone in phones {
      killAll(phone)
      launch(processes[phone.number])
    }
  }

  /// Each Apple ID comes to each phone in turn.
  func turn(_ number: Int) {
    for phone in phones {
      switchAppleID(phone, to: (phone.number + number) % knobs.storeAccounts)
      wake(processes[phone.number], .foreground)
    }
  }

  /// A backend that is slow to repair its poison may give a verdict after the turn of the only Apple ID that can finish
  /// the transaction. Then a person signs in to it again. Only if nothing else is left: all other work had its time.
  private func needsAnotherRound(_ reason: Pending) -> Bool {
    guard !hadAnotherRound, pending(besidesLateFinishes: true) == nil else { return false }
    tell("each Apple ID comes once more: \(reason.description)")
    hadAnotherRound = true
    planTurns(from: now - 48 * Self.hour)
    return true
  }

  /// Whether it was settled after the last turn of the only Apple ID that can finish it.
  private func isLateToFinish(_ sale: Int, on phone: Phone) -> Bool {
    let row = phone.shadow.row(sale)
    let buyer = store.sales[sale].buyer
    let left = phone.storeAccount == buyer ? now : phone.leftAppleID[buyer]
    // A turn may end while the finish is under way.
    return row.hasPendingFinish && row.settledAt > left - 60_000
  }

  /// Checks that all work is completed.
  func end() {
    if let reason = pending() {
      if needsAnotherRound(reason) { return }
      checker.broken(reason.invariant, reason.description)
    }
    for phone in phones { checkOpened(processes[phone.number].storage.base, of: phone) }
    for sale in store.sales.indices {
      checker.expect(
        .conservation, isOnRecord[sale] || store.sales[sale].isListed,
        "\(Names.id(sale)) was paid, and never settled")
      checkPresentLedger(sale)
    }
    checker.expect(.finished, true, "")
    isOver = true
    guard checker.violation == nil else { return }
    for process in processes
    where process.isAlive && !process.phone.shadow.rows.contains(where: { $0.state != .none }) {
      let before = uploads.count
      feed(process) { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
      checker.expect(
        .quiet,
        uploads.count == before && process.finishing.isEmpty
          && process.timerAt.map { $0 < now + 25 * Self.hour } ?? true,
        "no work is left, and something is sent")
      // An earlier timer may remain. It finds no work and sets no other timer.
      if process.timerAt != nil { fire(process, process.timerNumber) }
      checker.expect(.quiet, process.timerAt == nil, "no work is left, and a timer is set")
    }
  }

  /// After the backend was restored from a backup, its present ledger credits the earlier settled transactions again, if
  /// a phone knows of both.
  private func checkPresentLedger(_ sale: Int) {
    guard backend.epoch > 0, backend.count(of: sale) == 0, store.sales[sale].revokedAt == nil else { return }
    if let end = store.sales[sale].expiresAt, end < storeNow { return }
    // The backend's own notifications report a reversed refund. A phone may have finished the transaction before the
    // update arrived, or lost the update with a reinstall: no vault keeps updates.
    if store.sales[sale].wasRefunded { return }
    // If a phone still has the entry, `pending` checks it.
    if phones.contains(where: { $0.shadow.row(sale).state != .none }) { return }
    let epoch = Self.ledger(backend.epoch)
    // An pending update waits while undeliverable entries use the capacity.
    for phone in phones where !isFull(phone) && (phone.shadow.epoch == epoch || bug == .epochIgnored) {
      checker.expect(
        .delivered, !phone.shadow.row(sale).isBuried,
        "\(Names.id(sale)) was settled before the backend was restored, and is not credited now")
    }
  }

  struct Pending: CustomStringConvertible {
    var invariant: MachineInvariant
    var description: String
  }

  /// The first work that is still pending, with the reason; nil if none is.
  func pending(besidesLateFinishes: Bool = false) -> Pending? {
    for phone in phones {
      let shadow = phone.shadow
      let name = "phone \(phone.number + 1)"
      for sale in shadow.rows.indices where shadow.rows[sale].state != .none {
        let row = shadow.rows[sale]
        // An old backup may hold a receipt that has since lost the transaction, and a faulty backend may have bound the
        // wrong order. Such an entry is kept, tried daily and reported.
        let isAside = row.state == .quarantined || row.wasPostponed
        // A restored backend has to be shown a proof of what no order names. A finished consumable has none in the store, and
        // neither has its update, nor an entry that a vault without space for the proof gave back.
        let isUnproven =
          row.receipt < 0 && !row.isSigned && store.sales[sale].order < 0 && !store.sales[sale].isListed
        if isAside, isOnRecord[sale], row.receipt >= 0 && !row.isSigned || isUnproven || lied.contains(sale) {
          checker.mark(.keptForSupport)
          continue
        }
        // If such entries use all the capacity, no entry can be released.
        if row.state == .quarantined, isFull(phone) { continue }
        let wait = row.readyAt - deviceNow(phone).milliseconds
        return Pending(
          invariant: .delivered,
          description:
            "\(name) has \(Names.id(sale)) \(row.state) in lane \(Names.lanes[row.lane].rawValue), "
            + "\(row.attempts) attempts" + (wait > 0 ? ", postponed for \(wait / 1_000) s" : "")
            + why(processes[phone.number], Names.lanes[row.lane]))
      }
      for sale in shadow.rows.indices where shadow.rows[sale].hasPendingFinish {
        // The store no longer lists it: it is finished, and a listing of its account will show that.
        if !store.sales[sale].isListed || besidesLateFinishes && isLateToFinish(sale, on: phone) { continue }
        return Pending(invariant: .finished, description: "\(name) still has to finish \(Names.id(sale))")
      }
      for sale in shadow.rows.indices where shadow.rows[sale].isUnconfirmed {
        return Pending(
          invariant: .finished, description: "\(name) never received the outcome of \(Names.id(sale))")
      }
      if shadow.adoptions != 0, !shadow.rows.contains(where: { $0.state != .none && $0.lane == 0 }) {
        return Pending(invariant: .delivered, description: "\(name) has an adoption that is never completed")
      }
    }
    for sale in store.sales.indices where store.sales[sale].isListed {
      if besidesLateFinishes, phones.contains(where: { isLateToFinish(sale, on: $0) }) { continue }
      // It may wait for capacity that undeliverable entries use.
      let isListedNowhere = !phones.contains { store.lists(sale, to: $0.number, as: $0.storeAccount) }
      let isSettled = isOnRecord[sale]
      // If no phone knows that it is settled, a phone has to take it once more.
      let isKnown = isSettled && phones.contains { $0.shadow.row(sale).isBuried }
      if !isKnown, phones.contains(where: isFull) { continue }
      // There was none while its Apple ID was signed in.
      if !isKnown, isListedNowhere, knobs.entries < 64 { continue }
      return Pending(
        invariant: isSettled ? .finished : .delivered,
        description: "\(Names.id(sale)) is \(isSettled ? "settled" : "paid") and unfinished in the store")
    }
    return nil
  }
}
