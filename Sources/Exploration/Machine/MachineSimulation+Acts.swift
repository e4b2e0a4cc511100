import PurchaseQueue
import PurchaseSync
import Specification
import VirtualTime

/// Performs the acts of the schedule.
extension MachineSimulation {
  func perform(_ act: Act, _ place: Int) {
    switch act {
    case .buy(let buying): buy(buying, place)
    case .dismissSheets(let number, let product, let count): dismissSheets(number, product, count)
    case .neverConfirm(let number):
      checker.mark(.neverConfirmed)
      tell("phone \(number + 1): the app confirms no outcome any more")
      phones[number].confirms = false
    case .fulfilFails(let number, let milliseconds): failFulfil(phones[number], for: milliseconds)
    case .fault(let fault, let phone, let milliseconds, let permille):
      faults.append((place, fault, phone, permille))
      faultBits |= 1 << fault.rawValue
      if fault == .vaultFails { setVaults(fail: true, phone) }
      tell("\(fault) for \(milliseconds / 1_000) s" + (phone < 0 ? "" : ", phone \(phone + 1)"))
      plan(.faultEnds, at: now + milliseconds, place)
    case .storageFault(let kind, let number, let after, let count):
      tell("phone \(number + 1): storage is to fail (\(kind)) after \(after) writes, \(count) times")
      let phone = phones[number]
      guard processes[number].isAlive else { return phone.armed = (kind, after, count) }
      processes[number].storage.arm(kind, after: after, count: count)
    case .kill(let number, let effects, let downFor):
      guard processes[number].isAlive else { return }
      tell("phone \(number + 1): a kill is \(effects) effects away")
      processes[number].storage.kill(afterEffects: effects)
      plan(.launch, at: now + downFor + 1, number)
    case .powerLoss(let number, let downFor):
      checker.mark(.powerLost)
      tell("phone \(number + 1) loses its power")
      killAll(phones[number])
      cutPower(of: phones[number])
      plan(.launch, at: now + downFor, number)
    case .clock(let number, let distance): setClock(phones[number], by: distance)
    case .user(let number, let account, let othersStay):
      switchUser(phones[number], to: account, othersStay: othersStay)
    case .appleID(let number, let storeAccount): switchAppleID(phones[number], to: storeAccount)
    case .reinstall(let number): reinstall(phones[number])
    case .takeImage(let number): takeImage(phones[number])
    case .restoreImage(let number): restoreImage(phones[number])
    case .claim(let number): adopt(processes[number])
    case .refund(let purchase): refund(saleOfAct[purchase])
    case .reverseRefund(let purchase):
      let sale = saleOfAct[purchase]
      guard sale >= 0, store.reverseRefund(sale, at: storeNow) else { return }
      watch?.take(.refunded(sale, false))
      checker.mark(.refundUndone)
      tell("the refund of \(Names.id(sale)) is undone")
      plan(.delivery, at: now + Int64(knobs.latency), sale)
    case .renew(let purchase, let isUpgrade): renew(saleOfAct[purchase], isUpgrade: isUpgrade)
    case .restore(let number): restore(processes[number])
    case .resubscribe(let purchase, let number): resubscribe(saleOfAct[purchase], phones[number])
    case .offerCode(let number): redeemOfferCode(phones[number])
    case .bundle(let number): buyBundle(phones[number])
    case .seat(let number): assignSeat(phones[number], place)
    case .redeliver(let number): if processes[number].isAlive { list(processes[number]) }
    case .wake(let number, let reason): wakeUp(processes[number], reason)
    case .suspend(let number, let milliseconds): suspend(processes[number], for: milliseconds)
    case .extensionRuns(let number, let milliseconds):
      let process = processes[phones.count + number]
      guard !process.isAlive else { return }
      checker.mark(.extensionRan)
      tell("phone \(number + 1): an extension starts")
      launch(process)
      if process.isAlive { plan(.extensionEnds, at: now + milliseconds, process.number, process.launch) }
    case .backup: backupOfBackend = backend.credits.count
    case .restoreBackup: restoreBackend()
    case .other: break
    }
  }

  func endFault(_ number: Int) {
    guard let index = faults.firstIndex(where: { $0.number == number }) else { return }
    if faults[index].fault == .vaultFails { setVaults(fail: false, faults[index].phone) }
    tell("\(faults[index].fault) ends")
    if faults[index].fault == .offline, faults[index].phone >= 0 {
      phones[faults[index].phone].cameOnlineAt = now
    }
    if behaviours != nil { for phone in phones { note(.faultEnds, on: phone) } }
    faults.remove(at: index)
    faultBits = faults.reduce(0) { $0 | 1 << $1.fault.rawValue }
  }

  private func setVaults(fail: Bool, _ phone: Int) {
    for number in phones.indices where phone < 0 || phone == number {
      phones[number].disk.setVault(fails: fail)
    }
  }

  /// Whether the fault strikes now.
  func strikes(_ fault: Fault, _ phone: Phone, _ random: inout RandomStream) -> Bool {
    guard faultBits & 1 << fault.rawValue != 0 else { return false }
    for active in faults where active.fault == fault && (active.phone < 0 || active.phone == phone.number) {
      if random.chance(active.permille) { return true }
    }
    return false
  }

  // MARK: Buying

  private func buy(_ buying: Buying, _ place: Int) {
    let phone = phones[buying.phone]
    let process = processes[buying.phone]
    var order = -1
    if buying.hasOrder, phone.user >= 0, process.isAlive { order = makeOrder(phone, process, buying.product) }
    if buying.hasOrder, phone.user >= 0, process.isAlive, order < 0 { return }
    if bug == .ghostRow, buying.waits != 0 { enqueueGhost(process) }
    guard buying.waits == 0 else {
      checker.mark(buying.isCancelled ? .chargedAfterCancel : .askedToBuy)
      if buying.isCancelled, order >= 0 { cancel(order, phone, process) }
      tell("phone \(phone.number + 1): a purchase of \(Names.products[buying.product]) waits for approval")
      orderOfAct[place] = order
      if buying.waits > 0 { plan(.approval, at: now + buying.waits, place) }
      return
    }
    charge(buying, order, place, isPaying: process.isAlive)
  }

  func makeOrder(_ phone: Phone, _ process: Process, _ product: Int, for account: Int? = nil) -> Int {
    let account = account ?? phone.user
    let order = backend.makeOrder(account: account, product: product, at: storeNow)
    if backend.hasAccountTokens {
      checker.mark(.accountTokens)
      store.tokens[order] = Names.accountToken(account)
    }
    return keep(order, .open, phone, process) ? order : -1
  }

  /// Adds an order to the phone's journal, or changes its state there.
  private func keep(_ order: Int, _ state: OrderState, _ phone: Phone, _ process: Process) -> Bool {
    let made = backend.orders[order]
    let document = OrderDocument(
      number: String(order + 1), accountToken: store.tokens[order] ?? Names.token(order),
      productID: Names.products[made.product], quantity: Names.units(of: made.product), state: state,
      createdAt: Timestamp(milliseconds: made.createdAt))
    do throws(QueueError) {
      try phone.disk.add(document, account: Names.accounts[made.account], to: process.storage.base)
      process.storage.allIsDurable()
      return true
    } catch {
      return false
    }
  }

  private func cancel(_ order: Int, _ phone: Phone, _ process: Process) {
    guard process.isAlive else { return }
    tell("phone \(phone.number + 1): the sheet of order \(order + 1) says cancelled")
    _ = keep(order, .cancelled, phone, process)
  }

  private func dismissSheets(_ number: Int, _ product: Int, _ count: Int) {
    let (phone, process) = (phones[number], processes[number])
    guard process.isAlive, phone.user >= 0 else { return }
    checker.mark(.sheetsDismissed)
    tell("phone \(number + 1): \(count) sheets for \(Names.products[product]) are closed")
    for _ in 0..<count { _ = makeOrder(phone, process, product) }
  }

  func approve(_ place: Int) {
    guard case .buy(let buying) = acts[place].act else { return }
    charge(buying, orderOfAct[place] ?? -1, place, isPaying: false)
  }

  private func charge(_ buying: Buying, _ order: Int, _ place: Int, isPaying: Bool) {
    let phone = phones[buying.phone]
    let number = store.sales.count
    let sale = store.charge(
      LeanStore.Sale(
        buyer: phone.storeAccount, product: buying.product, paidAt: storeNow, order: order, original: number,
        forgetsToken: buying.forgetsToken, proofs: buying.proofs, poison: buying.poison,
        expiresAt: buying.product == 2 ? storeNow + LeanStore.period : nil, phone: phone.number))
    saleOfAct[place] = sale
    noted(sale, order)
    if isPaying { processes[buying.phone].paid.append(Int32(sale)) }
    figures.purchases += 1
    tell(
      "phone \(phone.number + 1): \(Names.products[buying.product]) is charged to "
        + "\(Names.storeAccounts[phone.storeAccount]) as \(Names.id(sale))"
        + (order < 0 ? ", without an order" : " for order \(order + 1)"))
    plan(.delivery, at: now + Int64(1 + shop.below(knobs.latency)), sale)
  }

  func noted(_ sale: Int, _ order: Int) {
    checker.sales = store.sales.count
    isOnRecord.append(false)
    purposes.append(order < 0 ? -1 : backend.orders[order].account)
    note(.isCharged, of: sale)
    watchCharge(sale)
    planNotification(of: sale)
  }

  private func refund(_ sale: Int) {
    guard sale >= 0, store.refund(sale, at: storeNow) else { return }
    let sold = store.sales[sale]
    if sold.isSeat { checker.mark(.seatRevoked) }
    watch?.take(sold.isTakenBack ? .refunded(sale, true) : .partlyRefunded(sale))
    if !sold.isTakenBack { checker.mark(.partRefunded) }
    tell("\(Names.id(sale)) is refunded: \(sold.refundedUnits) of \(sold.units)")
    plan(.delivery, at: now + Int64(1 + shop.below(knobs.latency)), sale)
  }

  private func renew(_ sale: Int, isUpgrade: Bool) {
    guard sale >= 0, let next = store.renew(sale, isUpgrade: isUpgrade, at: storeNow) else { return }
    checker.mark(isUpgrade ? .upgraded : .renewed)
    if store.sales[next].isSeat { checker.mark(.seatRenewed) }
    purposes.append(purposes[sale])
    isOnRecord.append(false)
    checker.sales = store.sales.count
    watchCharge(next)
    figures.purchases += 1
    tell("\(Names.id(sale)) is \(isUpgrade ? "upgraded" : "renewed") by \(Names.id(next))")
    let arrival = now + Int64(1 + shop.below(knobs.latency))
    // The store delivers what changed, too: it lists that again.
    if isUpgrade { plan(.delivery, at: arrival, sale) }
    plan(.delivery, at: arrival, next)
  }

  // MARK: People

  private func switchUser(_ phone: Phone, to account: Int, othersStay: Bool) {
    phone.user = account
    if !othersStay { phone.signedIn = 0 }
    tell("phone \(phone.number + 1): \(account < 0 ? "no account" : Names.accounts[account]) uses the app")
    if account >= 0 { signIn(phone, account) }
  }

  func signIn(_ phone: Phone, _ account: Int) {
    phone.signedIn |= 1 << account
    for process in processes where process.phone === phone && process.isAlive {
      wake(process, .signedIn(account: Names.accounts[account]))
    }
  }

  func switchAppleID(_ phone: Phone, to storeAccount: Int) {
    if phone.storeAccount != storeAccount {
      checker.mark(.appleIDSwitched)
      phone.leftAppleID[phone.storeAccount] = now
    }
    phone.storeAccount = storeAccount
    // The store lists something else from now on.
    phone.taking.observe(.unlisted, at: now)
    tell("phone \(phone.number + 1): \(Names.storeAccounts[storeAccount]) is signed in to the store")
    if processes[phone.number].isAlive { list(processes[phone.number]) }
  }

  private func adopt(_ process: Process) {
    let account = process.phone.user
    guard process.isAlive, account >= 0 else { return }
    tell("phone \(process.phone.number + 1): \(Names.accounts[account]) adopts the device's purchases")
    process.personAdoptions |= 1 << account
    feed(process) { (machine, now) throws(QueueError) in
      try machine.adoptionRequested(by: Names.accounts[account], now: now)
    }
  }

  private func suspend(_ process: Process, for milliseconds: Int64) {
    guard process.isAlive, !process.isSuspended else { return }
    checker.mark(.suspended)
    tell("phone \(process.phone.number + 1): to the background")
    process.isSuspended = true
    process.timerAt = nil
    _ = process.listings.stopped()
    process.machine.suspended()
    // Requests without a reply within a few seconds are cancelled.
    for number in process.uploads where number >= 0 {
      uploads[Int(number)].fate = .stall
      uploads[Int(number)].failure = uploads[Int(number)].failure ?? .interrupted
      plan(.uploadEnds, at: now + 4_000, Int(number))
    }
    plan(.foreground, at: now + max(milliseconds, 5_000), process.number, process.launch)
  }

  // MARK: Phones

  private func setClock(_ phone: Phone, by distance: Int64) {
    checker.mark(distance < 0 ? .clockBack : .clockForward)
    if distance < 0, faults.contains(where: { $0.fault == .offline && $0.phone == phone.number }) {
      checker.mark(.clockJumpedOffline)
    }
    tell("phone \(phone.number + 1): the clock is set by \(distance / 3_600_000) h")
    let before = deviceNow(phone).milliseconds
    restartWaits(of: phone, by: distance)
    phone.clock += distance
    let latest = deviceNow(phone).milliseconds + policy.horizonMilliseconds
    // An expired floor stays expired. Of the others the rest is left after a clock that went back: a wait is a length.
    phone.floors.removeAll { $0.until <= before }
    func clamped(_ floor: Int64) -> Int64 { floor <= before ? 0 : min(floor + min(distance, 0), latest) }
    for index in phone.floors.indices { phone.floors[index].until = clamped(phone.floors[index].until) }
    phone.spent = []
    for process in processes where process.phone === phone {
      process.floorOfAll = clamped(process.floorOfAll)
      for lane in process.floorOfLane.indices {
        let floor = process.floorOfLane[lane]
        process.floorOfLane[lane] = clamped(floor)
        // A machine notices the clock at its next event, and obeys the floor for a day from then.
        if floor > latest { process.floorAsSaid = max(process.floorAsSaid, floor) }
      }
    }
  }

  /// Of the commits that were promised soon, any number is lost from the end.
  private func cutPower(of phone: Phone) {
    let count = phone.shadow.soonCommits
    let kept = power.below(count + 1)
    guard phone.disk.cutPower(keeping: kept) else { return }
    phone.shadow.cutPower(keeping: kept)
    guard kept < count else { return }
    checker.mark(.commitsLost)
    tell("\(count - kept) commits are lost")
  }

  private func reinstall(_ phone: Phone) {
    checker.mark(.reinstalled)
    tell("phone \(phone.number + 1): the app is deleted and installed again")
    killAll(phone)
    checkWipe(phone)
    do throws(QueueError) {
      try phone.disk.wipe()
    } catch {
      return checker.broken(.prefix, "a wiped disk cannot be used: \(error)")
    }
    let old = phone.shadow
    phone.shadow = makeShadow(phone.number)
    previousShadows[phone.number].append(old)
    watch?.take(.reinstalled(phone.number))
    beginLineage(phone)
    phone.isFresh = true
    plan(.launch, at: now + 1_000, phone.number)
  }

  private func takeImage(_ phone: Phone) {
    tell("phone \(phone.number + 1) is backed up")
    do throws(QueueError) {
      try phone.disk.takeImage()
      phone.image = phone.shadow.image
      (phone.askedInImage, phone.clockInImage, phone.imageTakenAt) = (phone.asked, phone.clock, now)
      watch?.take(.backedUp(phone.number))
    } catch {
      phone.image = nil
    }
  }

  private func restoreImage(_ phone: Phone) {
    guard let image = phone.image else { return }
    checker.mark(.imageRestored)
    tell("phone \(phone.number + 1) is set back to its backup")
    killAll(phone)
    checkWipe(phone)
    do throws(QueueError) {
      guard try phone.disk.restoreImage() else { return }
    } catch {
      return checker.broken(.prefix, "a restored disk cannot be used: \(error)")
    }
    // The vault restores what it kept since then.
    previousShadows[phone.number].append(phone.shadow)
    phone.shadow = makeShadow(phone.number)
    phone.shadow.restore(image)
    restoreWaits(of: phone)
    watch?.take(.setBack(phone.number))
    beginLineage(phone)
    phone.isFresh = true
    plan(.launch, at: now + 1_000, phone.number)
  }

  /// A wiped or restored disk has no floors and no spent budget.
  private func beginLineage(_ phone: Phone) {
    phone.floors = []
    phone.spent = []
  }

  private func restoreBackend() {
    guard let count = backupOfBackend, count <= backend.credits.count else { return }
    tell("the backend is restored from its backup")
    checker.mark(.backendRestored)
    backend.restore(credits: count, epoch: backend.epoch + 1)
    watch?.take(.ledgerRestored(backend.credits.map(\.sale)))
    noteLines(.isRestored)
  }
}
