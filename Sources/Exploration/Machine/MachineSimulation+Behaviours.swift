import PurchaseQueue
import PurchaseSync

/// Notes the behaviours of a run, if the search asks for them. Notes nothing else, and draws no random number.
extension MachineSimulation {
  // MARK: Entries

  /// An event of one entry.
  func note(_ event: EntryEvent, _ detail: Int = 0, of sale: Int, _ phone: Phone) {
    guard let behaviours, sale >= 0 else { return }
    note(event, detail, sale, phone.shadow.row(sale), phone, world(of: phone), behaviours)
  }

  /// An event of a phone: one of each of its entries that still has work.
  func note(_ event: EntryEvent, _ detail: Int = 0, on phone: Phone) {
    guard let behaviours else { return }
    let rows = phone.shadow.rows
    let world = world(of: phone)
    for sale in rows.indices where rows[sale].hasWork {
      note(event, detail, sale, rows[sale], phone, world, behaviours)
    }
  }

  /// The part of the state that the entries of a phone have in common.
  private func world(of phone: Phone) -> Int {
    let (app, helper) = (processes[phone.number], processes[phones.count + phone.number])
    return (app.isAlive ? app.isSuspended ? 2 : 1 : 0) * 2 + (helper.isAlive ? 1 : 0)
  }

  private func note(
    _ event: EntryEvent, _ detail: Int, _ sale: Int, _ row: Shadow.Row, _ phone: Phone, _ world: Int,
    _ behaviours: BehaviourLog
  ) {
    let (app, helper) = (processes[phone.number], processes[phones.count + phone.number])
    var behaviour = Behaviour.Builder(.entry, event: event.rawValue)
    behaviour.add(detail)
    let isOut = isOut(sale, row, app) || isOut(sale, row, helper)
    behaviour.add(stage(row, isOut: isOut, phone))
    behaviour.add(Self.bucket(row.attempts) * 2 + (row.isUpdate ? 1 : 0))
    let account = row.lane - 1
    let lane = account < 0 ? 0 : account == phone.user ? 1 : phone.isSignedIn(account) ? 2 : 3
    let proof = row.isSigned ? row.receipt >= 0 ? 3 : 2 : row.receipt >= 0 ? 1 : 0
    behaviour.add(lane * 4 + proof)
    let match = row.order >= 0 ? 3 : min(2, row.candidates.count)
    let isFull = phone.shadow.queued >= knobs.entries
    behaviour.add(match * 4 + (row.wasPostponed ? 2 : 0) + (isFull ? 1 : 0))
    behaviour.add(world)
    behaviours.add(behaviour.word)
  }

  private func isOut(_ sale: Int, _ row: Shadow.Row, _ process: Process) -> Bool {
    guard process.isAlive else { return false }
    let number = process.uploads[row.lane]
    return number >= 0 && uploads[Int(number)].claims.contains { $0.sale == sale }
  }

  private func stage(_ row: Shadow.Row, isOut: Bool, _ phone: Phone) -> Int {
    switch row.state {
    case .none:
      guard row.isBuried else { return row.hasFailed ? 9 : row.order >= 0 ? 10 : 0 }
      return 5 + (row.hasPendingFinish ? 1 : 0) + (row.isUnconfirmed ? 2 : 0)
    case .quarantined: return isOut ? 11 : 4
    case .queued:
      if isOut { return 3 }
      if row.readyAt > deviceNow(phone).milliseconds { return 2 }
      return 1
    }
  }

  /// 0, 1, up to 3, up to 8, and more.
  private static func bucket(_ count: Int) -> Int {
    switch count {
    case ..<2: max(0, count)
    case ..<4: 2
    case ..<9: 3
    default: 4
    }
  }

  /// An event of each entry of a request.
  func noteClaims(of number: Int, _ event: EntryEvent, _ detail: Int = 0) {
    if behaviours != nil { noteClaims(of: uploads[number], event, detail) }
  }

  func noteClaims(of upload: Upload, _ event: EntryEvent, _ detail: Int) {
    for claim in upload.claims { note(event, detail, of: claim.sale, phones[upload.phone]) }
  }

  func noteVerdicts(_ reply: UploadReply, _ phone: Phone) {
    guard behaviours != nil else { return }
    for verdict in reply.verdicts {
      note(.verdictHeard, Self.number(of: verdict.verdict), of: Names.order(verdict.transactionID), phone)
    }
  }

  func noteFinish(_ end: FinishEnd, _ sale: Int, _ process: Process) {
    guard behaviours != nil else { return }
    let number =
      switch end {
      case .finished: 0
      case .notListed: 1
      default: 2
      }
    note(.finishEnds, number, of: sale, process.phone)
    note(.finishEnds, number, of: sale)
  }

  /// An act, before it is performed: for the entries of its phone, or for its purchase.
  func note(_ act: Act) {
    guard behaviours != nil else { return }
    let number = act.number
    if let place = act.purchase { return noteSale(saleOfAct[place], number) }
    guard let phone = act.phone else { return }
    for one in phones where phone < 0 || phone == one.number {
      note(number < 16 ? .acts : .actsToo, number & 15, on: one)
    }
  }

  private func noteSale(_ sale: Int, _ number: Int) {
    guard sale >= 0 else { return }
    note(.isNamed, number & 15, of: sale)
    for phone in phones { note(.isNamed, number & 15, of: sale, phone) }
  }

  // MARK: Transactions

  func note(_ event: TransactionEvent, _ detail: Int = 0, of sale: Int) {
    guard let behaviours, sale >= 0 else { return }
    let sold = store.sales[sale]
    var behaviour = Behaviour.Builder(.transaction, event: event.rawValue)
    behaviour.add(detail)
    let money = sold.revokedAt != nil ? 1 : sold.wasRefunded ? 2 : 0
    behaviour.add((sold.isListed ? sold.wasFinished ? 2 : 0 : 1) * 3 + money)
    let isExpired = sold.expiresAt.map { $0 <= storeNow } ?? false
    let chain = sold.expiresAt == nil ? 0 : sold.original == sale ? 1 : sold.isRenewal ? 2 : 3
    behaviour.add(chain + (isExpired ? 4 : 0) + (sold.isUpgraded ? 8 : 0))
    behaviour.add(Int(sold.proofs.rawValue) * 4 + Int(sold.poison.rawValue))
    let token = sold.isSeat ? 3 : sold.order < 0 ? 0 : sold.forgetsToken ? 2 : 1
    behaviour.add(token * 4 + min(3, sold.version))
    behaviour.add(owner(of: sale) + (isOnRecord[sale] ? 8 : 0))
    var (holding, settled) = (0, 0)
    for phone in phones {
      let row = phone.shadow.row(sale)
      if row.state != .none { holding += 1 } else if row.isBuried { settled += 1 }
    }
    behaviour.add(holding * 4 + settled)
    let buyers = phones.count { $0.storeAccount == sold.buyer }
    behaviour.add(buyers * 4 + (isCalm ? 0 : faultBits == 0 ? 1 : 2))
    behaviours.add(behaviour.word)
  }

  /// No owner; a device; the account of its order; another account; the same after an adoption.
  private func owner(of sale: Int) -> Int {
    guard let credit = backend.credit(of: sale) else { return 0 }
    let owner = backend.owner(of: credit, store)
    if owner < 0 { return 1 }
    return (owner == purposes[sale] ? 2 : 3) + (credit.owner < 0 ? 2 : 0)
  }

  // MARK: Lines of the ledger

  /// What the backend answers to a claim, or to a notification.
  func note(
    _ event: LineEvent, _ claim: LeanBackend.LeanClaim, before: Int, uploader: Int, signedIn: Int,
    tokenIsTold: Bool, _ ruling: LeanBackend.Ruling
  ) {
    guard let behaviours else { return }
    let sold = store.sales[claim.sale]
    var behaviour = Behaviour.Builder(.line, event: event.rawValue)
    behaviour.add(Self.number(of: ruling))
    behaviour.add(before)
    behaviour.add(owner(of: claim.sale))
    let match =
      switch claim.match {
      case .none: 0
      case .bound(let order): order == sold.order ? 1 : 2
      case .proposed(let orders): orders.contains(sold.order) ? 3 : 4
      }
    behaviour.add(match)
    let isCaused = handled != nil
    behaviour.add((tokenIsTold ? 1 : 0) + (isCaused ? 2 : 0))
    let purpose = purposes[claim.sale]
    let name = uploader < 0 ? 0 : uploader == purpose ? 1 : 2
    behaviour.add(name * 3 + (signedIn < 0 ? 0 : signedIn == purpose ? 1 : 2))
    behaviour.add(
      (sold.revokedAt != nil ? 1 : 0) + (sold.expiresAt.map { $0 <= storeNow } ?? false ? 2 : 0)
        + (sold.original != claim.sale ? 4 : 0) + (sold.forgetsToken ? 8 : 0))
    let order =
      sold.order < 0
      ? 0 : backend.orders[sold.order].fulfilledBy.map { $0 == claim.sale ? 2 : 3 } ?? 1
    behaviour.add(order * 4 + min(3, backend.epoch))
    behaviours.add(behaviour.word)
  }

  /// The same for every line, at an event of the whole ledger.
  func noteLines(_ event: LineEvent) {
    guard let behaviours else { return }
    for sale in store.sales.indices {
      var behaviour = Behaviour.Builder(.line, event: event.rawValue)
      behaviour.add(0)
      behaviour.add(owner(of: sale))
      behaviour.add(isOnRecord[sale] ? 1 : 0)
      behaviour.add(store.sales[sale].revokedAt == nil ? 0 : 1)
      behaviour.add(min(3, backend.epoch))
      behaviours.add(behaviour.word)
    }
  }

  func ledgerOwner(of sale: Int) -> Int { behaviours == nil ? 0 : owner(of: sale) }

  private static func number(of ruling: LeanBackend.Ruling) -> Int {
    switch ruling {
    case .granted: 0
    case .duplicate: 1
    case .otherOwner: 2
    case .lapsed: 3
    case .refunded: 4
    case .pending: 5
    case .unknown: 6
    }
  }

  // MARK: Numbers of words

  static func number(of verdict: Verdict) -> Int {
    switch verdict {
    case .granted: 0
    case .duplicate: 1
    case .otherOwner: 2
    case .lapsed: 3
    case .refunded: 4
    case .pending: 5
    case .unknownTransaction: 6
    case .rejected: 7
    default: 8
    }
  }

  static func number(of failure: UploadFailure) -> Int {
    switch failure {
    case .retry(_, nil), .requestFailed(_, nil): 0
    case .retry, .requestFailed: 1
    case .backendBusy(_, nil): 2
    case .backendBusy: 3
    case .backendFault: 4
    case .otherProtocol: 5
    case .tokenRefused: 6
    case .interrupted: 7
    case .signInNeeded: 8
    case .laneTaken: 9
    default: 10
    }
  }
}

extension Shadow.Row {
  /// Whether anything is left to do about the entry.
  fileprivate var hasWork: Bool {
    state != .none || isBuried && (hasPendingFinish || isUnconfirmed) || hasFailed
  }
}
