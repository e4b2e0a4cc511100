import PurchaseQueue
import PurchaseSync
import Specification

/// Deliveries of the store, listings and finishing.
extension MachineSimulation {
  // MARK: Arriving

  /// Delivers a transaction to the processes of its Apple ID.
  func deliver(_ sale: Int) {
    let buyer = store.sales[sale].buyer
    note(.isDelivered, of: sale)
    for process in processes where process.isAlive && process.phone.storeAccount == buyer {
      guard store.sales[sale].isListed else { return }
      _ = arrive(sale, process, listedFor: nil)
    }
  }

  /// False if the driver stops the listing.
  private func arrive(_ sale: Int, _ process: Process, listedFor account: String?) -> Bool {
    let proofs = store.sales[sale].proofs
    if proofs == .receipt, store.sales[sale].phone != process.phone.number { return true }
    if proofs != .receipt, !arrive(sale, process, bySignature: true, account) { return false }
    if proofs != .signed, process.isAlive { return arrive(sale, process, bySignature: false, account) }
    return true
  }

  private func arrive(_ sale: Int, _ process: Process, bySignature: Bool, _ account: String?) -> Bool {
    let isPaying = process.paid.contains(Int32(sale))
    var transaction = store.transaction(
      sale, bySignature: bySignature, isPaying: isPaying,
      lacksNewest: !bySignature && strikes(.receiptLacks, process.phone, &shop), at: storeNow)
    misread(&transaction, sale)
    note(bySignature ? .arrivesSigned : .arrivesByReceipt, account == nil ? 0 : 1, of: sale, process.phone)
    let row = process.phone.shadow.row(sale)
    if row.isBuried, row.state == .none { checker.mark(.redeliveredSettled) }
    if bug == .finishBeforeAcknowledgement { finishEarly(sale, process) }
    watch?.take(.arrives(sale, at: process.phone.number))
    tell("phone \(process.phone.number + 1): \(Names.id(sale)) arrives")
    let user = user(of: process.phone)
    let isNews = bySignature && saysNewRefund(sale, row)
    let error = step(process) { (machine, now) throws(QueueError) in
      try machine.transactionArrived(transaction, storeAccount: account, user: user, now: now)
    }
    guard let error else {
      if isNews, process.isAlive { checkRefundIsNews(sale, process) }
      return process.isAlive
    }
    tell("  it is not taken: \(error)")
    note(.isNotTaken, of: sale, process.phone)
    if case .queueFull(.entries, _, _) = error {
      checker.expect(
        .neverBlocked, process.phone.shadow.queued >= knobs.entries,
        "\(Names.id(sale)) has no capacity, with \(process.phone.shadow.queued) of \(knobs.entries) queued")
    } else {
      checker.expect(.neverBlocked, true, "")
    }
    if bug == .finishFailedEnqueue { finishEarly(sale, process) }
    switch error {
    case .queueFull, .invalid: return process.isAlive
    default:
      noteNotTaken(by: process)
      guard process.isAlive else { return false }
      process.machine.storeKeepsMore()
      setTimer(process, 8_000)
      return false
    }
  }

  /// Whether the present version of a settled transaction has another share refunded than the version that was settled.
  private func saysNewRefund(_ sale: Int, _ row: Shadow.Row) -> Bool {
    guard row.isBuried, row.state == .none, row.isSigned, store.sales[sale].refundedUnits > 0,
      let known = store.sales[sale].refundedUnits(in: row.version)
    else { return false }
    return known != store.sales[sale].refundedUnits
  }

  /// Invariant 43 on the device: a share that has changed goes up again, also with the same date.
  private func checkRefundIsNews(_ sale: Int, _ process: Process) {
    let shadow = process.phone.shadow
    checker.expect(
      .exactUnits, shadow.row(sale).state != .none || shadow.pendingUpdates.contains(sale),
      "\(store.sales[sale].refundedUnits) of \(store.sales[sale].units) of \(Names.id(sale)) are refunded, and phone "
        + "\(process.phone.number + 1) takes it for known")
  }

  // MARK: Listing

  func list(_ process: Process) {
    guard process.isAlive else { return }
    follow(process.listings.wanted(at: now), process)
  }

  private func follow(_ step: ListingTurns.Step, _ process: Process) {
    switch step {
    case .nothing: return
    case .list: beginListing(process)
    case .wait(let pause):
      plan(.listAgain, at: now + pause, process.number, process.launch, process.listings.failures)
    }
  }

  private func beginListing(_ process: Process) {
    countStoreCall(process)
    noteListing(by: process)
    plan(.listed, at: now + Int64(1 + shop.below(knobs.latency)), process.number, process.launch)
  }

  func listed(_ process: Process) {
    let isFollowed = process.listings.ended()
    defer { if isFollowed { list(process) } }
    if bug == .listsWithoutEnd {
      deeds.note()
      beginListing(process)
    }
    if strikes(.listingFails, process.phone, &shop) { return listingFailed(process, isFollowed: isFollowed) }
    let account = process.phone.storeAccount
    let name = Names.storeAccounts[account]
    var keys: Set<EntryKey> = []
    let copies = strikes(.listingTwice, process.phone, &shop) ? 2 : 1
    let unfinished = store.listed[account]
    for _ in 0..<copies {
      for sale in unfinished {
        guard store.lists(Int(sale), to: process.phone.number, as: account) else { continue }
        keys.insert(Names.key(Int(sale)))
        guard arrive(Int(sale), process, listedFor: name) else { return }
      }
    }
    process.listings.succeeded()
    feed(process) { (machine, now) throws(QueueError) in
      try machine.storeListed(keys, account: name, now: now)
    }
  }

  /// It is repeated after a backoff, or in the foreground.
  private func listingFailed(_ process: Process, isFollowed: Bool) {
    if bug == .listingGivenUp { return deeds.note() }
    feed(process) { (machine, now) throws(QueueError) in machine.storeNotListed(now: now) }
    guard process.isAlive else { return }
    follow(process.listings.failed(isFollowed: isFollowed, policy), process)
  }

  /// The moment of a list has come.
  func listAgain(_ process: Process) {
    guard !process.isSuspended else { return }
    follow(process.listings.momentCame(at: now), process)
  }

  func receiptRead(_ process: Process, _ sale: Int) {
    let account = process.phone.storeAccount
    let lacks = strikes(.receiptLacks, process.phone, &shop)
    let receipt = store.receipt(of: account, lacking: lacks ? sale : nil)
    guard store.holds(receipt: receipt, sale) else { return }
    checker.mark(.proofFound)
    note(.proofFound, of: sale, process.phone)
    feed(process) { (machine, now) throws(QueueError) in
      try machine.proofFound(LeanStore.receipt(receipt), for: Names.key(sale), now: now)
    }
  }

  // MARK: Finishing

  func finish(_ tombstone: Tombstone, _ process: Process) {
    let sale = Names.transaction(tombstone.key)
    checkFinish(sale, process)
    note(.finishBegins, of: sale, process.phone)
    note(.isAsked, of: sale)
    watch?.take(.finishes(sale, by: process.phone.number))
    process.finishing.append(Int32(sale))
    // What is finished at one moment goes in one call (`FinishCalls`).
    if process.finishCallAt != now { countStoreCall(process) }
    process.finishCallAt = now
    tell("phone \(process.phone.number + 1): \(Names.id(sale)) is to be finished")
    plan(
      .finishEnds, at: now + Int64(1 + shop.below(knobs.latency)), process.number, process.launch, sale)
  }

  func finishEnds(_ process: Process, _ sale: Int) {
    process.finishing.removeAll { $0 == sale }
    var end = FinishEnd.failed
    if bug == .finishCalledOnce, !finishedOnce.insert(sale).inserted {
      deeds.note(sale)
      end = .finished
    } else if strikes(.finishFails, process.phone, &shop) {
      if bug == .finishCalledOnce {
        deeds.note(sale)
        end = .finished
      }
    } else if finishAtStore(sale, process) {
      end = .finished
      if strikes(.finishLost, process.phone, &shop) {
        checker.mark(.finishLost)
        end = .failed
      }
    } else {
      checker.mark(.finishNotListed)
      end = .notListed
    }
    noteFinish(end, sale, process)
    feed(process) { (machine, now) throws(QueueError) in
      try machine.finishEnded(Names.key(sale), end, now: now)
    }
  }

  private func finishAtStore(_ sale: Int, _ process: Process) -> Bool {
    guard store.finish(sale, as: process.phone.storeAccount) else { return false }
    checkGone(sale, "was finished")
    return true
  }

  /// A planted bug: the transaction is finished too early.
  private func finishEarly(_ sale: Int, _ process: Process) {
    deeds.note(sale)
    checkFinish(sale, process)
    watch?.take(.finishes(sale, by: process.phone.number))
    _ = finishAtStore(sale, process)
  }
}
