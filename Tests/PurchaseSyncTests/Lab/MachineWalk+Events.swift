import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting

@testable import PurchaseSync

/// The events of a walk.
extension MachineWalk {
  mutating func randomStep() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<8: buy()
    case 8..<15: redeliver()
    case 15..<20: list()
    case 20..<45: answer()
    case 45..<55: endFinish()
    case 55..<58: foundReceipt()
    case 58..<60: claim()
    case 60..<64: endAdoption()
    case 64..<84: passTime()
    case 84..<88: wake()
    case 88..<90: suspend()
    case 90..<92: jump()
    case 92..<93: storeAccount = pick(Self.storeAccounts)
    case 93..<95: restart("at random")
    default: confirm()
    }
  }

  // MARK: The store

  /// An order, or not; then a payment, with its token, or not.
  mutating func buy() {
    var token: UInt8?
    if orderCount < 200, chance(2, in: 3) {
      orderCount += 1
      let account = pick(Self.accounts)
      memory.book.add(UInt8(orderCount), account: account, product: pick(["gems", "coins"]))
      if chance(2, in: 3) { token = UInt8(orderCount) }
    }
    saleCount += 1
    let ordered = token.flatMap { memory.book.orders(TokenQuery(orderToken($0), limit: 1)).first }
    let product = ordered?.productID ?? pick(["gems", "coins"])
    let transaction = payment(
      "\(saleCount)", token: token.map(orderToken), product: product, at: Int64(saleCount)
    ) {
      // Few app receipts, so that entries share them.
      $0.proof = proof(own: "jws \(saleCount)")
    }
    unfinished[transaction.key] = transaction
    buyers[transaction.key] = storeAccount
    observer.paid.insert(transaction.key)
    arrive(transaction, from: nil)
  }

  private mutating func proof(own: String) -> Payload {
    guard chance(1, in: 2) else { return Payload(kind: "signedTransaction", bytes: Array(own.utf8)) }
    return Payload(kind: "appReceipt", bytes: [UInt8.random(in: 0..<3, using: &random)])
  }

  mutating func arrive(_ transaction: StoreTransaction, from account: String?) {
    step("\(transaction.key.id) arrives") { (machine, now) throws(QueueError) in
      try machine.transactionArrived(transaction, storeAccount: account, now: now)
    }
  }

  /// A redelivery, sometimes with another proof, sometimes revoked.
  mutating func redeliver() {
    guard let key = pickKey(unfinished.keys), var transaction = unfinished[key] else { return }
    if chance(1, in: 3) { transaction.proof = proof(own: "jws \(key.id) \(now.milliseconds)") }
    if chance(1, in: 8) { transaction.revokedAt = midday.adding(milliseconds: Int64(saleCount) * 1_000) }
    unfinished[key] = transaction
    arrive(transaction, from: nil)
  }

  mutating func list() {
    wantsListing = false
    let account = storeAccount
    let listed = unfinished.values.filter { buyers[$0.key] == account }
      .sorted { $0.key.rawValue < $1.key.rawValue }
    for transaction in listed { arrive(transaction, from: account) }
    let keys = Set(listed.map(\.key))
    step("listed \(keys.map(\.id).sorted()) of \(account)") { (machine, now) throws(QueueError) in
      try machine.storeListed(keys, account: account, now: now)
    }
  }

  mutating func endFinish() {
    guard let key = pickKey(finishes) else { return }
    finishes.remove(key)
    let end: FinishEnd
    if buyers[key] != storeAccount {
      end = isCalm || chance(3, in: 4) ? .notListed : .failed
    } else if isCalm || chance(2, in: 3) {
      unfinished[key] = nil
      // It worked, but the answer may be lost.
      end = isCalm || chance(5, in: 6) ? .finished : .failed
    } else {
      end = pick([.failed, .notListed])
    }
    step("finish of \(key.id): \(end)") { (machine, now) throws(QueueError) in
      try machine.finishEnded(key, end, now: now)
    }
  }

  mutating func foundReceipt() {
    guard let key = pickKey(reading) else { return }
    reading.remove(key)
    let proof = Payload(kind: "appReceipt", bytes: [UInt8.random(in: 0..<6, using: &random)])
    step("receipt holds \(key.id)") { (machine, now) throws(QueueError) in
      try machine.proofFound(proof, for: key, now: now)
    }
  }

  // MARK: The backend

  mutating func answer() {
    guard
      let lane = uploads.keys.sorted(by: { $0.rawValue < $1.rawValue }).first(where: { _ in chance(1, in: 2) }
      )
        ?? uploads.keys.min(by: { $0.rawValue < $1.rawValue }), let sent = uploads[lane]
    else { return }
    uploads[lane] = nil
    if isCalm || chance(3, in: 5) { return reply(to: lane, sent) }
    let wait: Int64? = chance(1, in: 2) ? pick([1_000, 60_000, 7_200_000, .max]) : nil
    let failure: UploadFailure = pick([
      .retry(reason: "no answer", retryAfterMilliseconds: nil),
      .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: wait),
      .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: wait), .backendFault(reason: "HTTP 400"),
      .signInNeeded, .tokenRefused, .proofMissing, .laneTaken, .unprepared(reason: "locked"), .interrupted,
      .accountRefused,
    ])
    observer.failed(failure, lane, sent.map(\.key), at: now)
    step("\(lane.rawValue): \(failure)") { (machine, now) throws(QueueError) in
      try machine.uploadFailed(lane: lane, failure, now: now)
    }
  }

  private mutating func reply(to lane: Lane, _ sent: [Entry]) {
    if !isCalm, chance(1, in: 20) { epoch = pick(["1", "2", "3"]) }
    var verdicts: [ClaimVerdict] = []
    for entry in sent {
      if !isCalm, chance(1, in: 12) { continue }
      verdicts.append(verdict(about: entry.key))
      if !isCalm, chance(1, in: 15) { verdicts.append(verdict(about: entry.key)) }
    }
    if !isCalm, chance(1, in: 15) {
      verdicts.append(ClaimVerdict(environment: "Production", transactionID: "666", verdict: .granted))
    }
    if !isCalm, chance(1, in: 4) { verdicts.shuffle(using: &random) }
    let reply = UploadReply(ledgerEpoch: epoch, verdicts: verdicts)
    observer.replied(verdicts, to: lane, sent.map(\.key), at: now)
    let words = verdicts.map { "\($0.transactionID) \($0.verdict.rawValue) \($0.retryAfter ?? 0)" }
    step("\(lane.rawValue): reply \(words)") { (machine, now) throws(QueueError) in
      machine.replyArrived(lane: lane, reply, now: now)
    }
  }

  private mutating func verdict(about key: EntryKey) -> ClaimVerdict {
    var verdict = ClaimVerdict(environment: "Production", transactionID: key.id, verdict: .granted)
    if isCalm { return verdict }
    verdict.verdict = pick([
      .granted, .granted, .granted, .duplicate, .lapsed, .refunded, .otherOwner, .pending, .pending,
      .unknownTransaction, .rejected, Verdict(rawValue: "of a newer protocol"),
    ])
    if orderCount > 0, chance(1, in: 4) {
      verdict.orderNumber = "\(Int.random(in: 1...orderCount, using: &random))"
    }
    if verdict.verdict != .rejected, chance(1, in: 4) { verdict.retryAfter = pick([-1, 5, 600, 1e9]) }
    return verdict
  }

  // MARK: The app

  mutating func claim() {
    let account = pick(Self.accounts)
    observer.claims(anew: account)
    step("\(account) adopts the device's purchases") { (machine, now) throws(QueueError) in
      try machine.adoptionRequested(by: account, now: now)
    }
  }

  mutating func endAdoption() {
    guard let account = claims.min() else { return }
    claims.remove(account)
    var end = AdoptionEnd.taken
    if !isCalm, chance(1, in: 2) {
      let failure: UploadFailure = pick([
        .retry(reason: "no answer", retryAfterMilliseconds: nil), .signInNeeded, .interrupted,
        .backendBusy(reason: "HTTP 429", retryAfterMilliseconds: 30_000), .backendFault(reason: "HTTP 404"),
      ])
      end = .failed(failure)
      observer.adoptionFailed(failure, at: now)
    }
    step("adoption of \(account): \(end)") { (machine, now) throws(QueueError) in
      try machine.adoptionEnded(account: account, end, now: now)
    }
  }

  mutating func confirm() {
    guard let key = pickKey(observer.told) else { return }
    step("\(key.id) is seen") { (machine, now) throws(QueueError) in
      try machine.outcomeConfirmed(key, now: now)
    }
  }

  mutating func wake() {
    wake(
      pick([
        .foreground, .networkBack, .userAsked, .signedIn(account: "alice"), .signedIn(account: "bob"),
      ]))
  }

  mutating func wake(_ reason: WakeReason) {
    if reason == .foreground { isSuspended = false }
    observer.woke(reason)
    step("\(reason)") { (machine, now) throws(QueueError) in machine.woken(reason, now: now) }
  }

  mutating func suspend() {
    isSuspended = true
    timer = nil
    step("to the background") { (machine, now) throws(QueueError) in
      machine.suspended()
      return []
    }
  }

  // MARK: Time

  /// Time passes, at most until the timer.
  mutating func passTime() {
    let some = now.adding(milliseconds: pick([10, 1_000, 30_000, 600_000, 7_200_000]))
    guard let timer, timer <= some || chance(1, in: 2) else {
      now = some
      return
    }
    now = max(now, timer)
    fire()
  }

  mutating func fire() {
    timer = nil
    step("timer") { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
  }

  /// The clock is set; the timers of the process are not.
  mutating func jump() {
    let distance = pick([inDays(365), inDays(-365), 3_600_000, -3_600_000])
    let before = now
    now = now.adding(milliseconds: distance)
    timer = timer?.adding(milliseconds: distance)
    trace.append("the clock jumps by \(distance) ms")
    observer.jumped(from: before, to: now)
  }
}
