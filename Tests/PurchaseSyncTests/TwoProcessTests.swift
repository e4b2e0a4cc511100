import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a reader found where two processes of one installation share a file: two machines on one storage.
@Suite struct TwoProcessTests {
  private func transaction(ofBob id: String) -> StoreTransaction {
    payment(id, token: orderToken(9), product: "coins") {
      $0.proof = Proof(kind: "signedTransaction", bytes: Array("jws of \(id)".utf8))
    }
  }

  private func other(_ app: MachineRun, seed: UInt64 = 2) throws -> SyncMachine<MemoryStorage> {
    var other = SyncMachine(storage: app.storage, policy: RetryPolicy(), seed: seed)
    _ = try other.started(now: app.now)
    return other
  }

  // MARK: Room

  @Test func `room that another process made is for what the store keeps`() throws {
    var app = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try app.arrive(bought("100", token: 1))
    #expect(throws: QueueError.self) { try app.arrive(bought("101", token: 2)) }
    _ = try app.fail(alice, .laneTaken)
    _ = try app.listed([key("100"), key("101")])
    // The other one delivers it, shows it, and tells nobody.
    _ = try app.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: app.now)
    try app.storage.markSeen(key("100"))
    let hasAsked = app.asksTheStore(within: 2 * 3_600_000)
    #expect(hasAsked)
    #expect(try app.arrive(bought("101", token: 2)).sent == [["101"]])
    _ = try app.listed([key("101")])
    _ = app.reply(["101": .granted])
    _ = try app.finishEnded(key("101"), .finished)
    _ = try app.listed([])
    let asksAgain = app.asksTheStore(within: 2 * 3_600_000)
    #expect(!asksAgain, "nothing is kept")
    #expect(app.timer == nil)
  }

  // MARK: The ledger's epoch, two processes

  @Test func `an answer of before the restoration, that comes after another process heard of it`() throws {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    _ = try app.purchase("100", token: 1)
    _ = try app.finishEnded(key("100"), .finished)
    _ = try app.confirm(key("100"))
    var other = try other(app)
    // Out in the other process; the backend grants it under epoch 1, the answer is slow.
    #expect(try other.transactionArrived(transaction(ofBob: "200"), now: app.now).sent == [["200"]])
    // The backend is restored to a backup of before that grant; this process hears of it.
    _ = try app.arrive(bought("101", token: 2))
    #expect(app.reply(["101": .granted], epoch: "epoch 2").events.contains(.ledgerChanged))
    // It may not send what the other one has out.
    if app.isSending(bob) { _ = try app.fail(bob, .laneTaken) }
    // Now the slow answer.
    let late = ClaimVerdict(environment: "Production", transactionID: "200", verdict: .granted)
    let settled = other.replyArrived(
      lane: bob, UploadReply(ledgerEpoch: "epoch 1", verdicts: [late]), now: app.now)
    #expect(settled.finished == ["200"])
    _ = try other.finishEnded(key("200"), .finished, now: app.now)
    _ = try other.outcomeConfirmed(key("200"), now: app.now)
    // Every later answer, in both processes and after a restart, is of epoch 2.
    var offered: Set<String> = []
    func note(_ actions: [SyncAction]) { offered.formUnion(actions.sent.joined()) }
    for round in 0..<4 {
      for lane in [alice, bob] {
        while app.isSending(lane) {
          let sent = app.machine.lanes[lane]?.sent.map(\.key.id) ?? []
          note(
            app.reply(lane, Dictionary(uniqueKeysWithValues: sent.map { ($0, .duplicate) }), epoch: "epoch 2")
          )
        }
        while let sent = other.lanes[lane]?.sent.map(\.key.id), !sent.isEmpty {
          let verdicts = sent.map {
            ClaimVerdict(environment: "Production", transactionID: $0, verdict: .duplicate)
          }
          note(
            other.replyArrived(
              lane: lane, UploadReply(ledgerEpoch: "epoch 2", verdicts: verdicts), now: app.now))
        }
      }
      app.now = app.now.adding(milliseconds: 3_600_000)
      note(app.fire())
      note(other.timerFired(now: app.now))
      if round == 0 {
        note(try other.transactionArrived(bought("102", token: 3), now: app.now))
      }
      if round == 2 { note(try app.restart()) }
    }
    #expect(offered.contains("200"), "finished, and never offered again: \(offered)")
  }

  // MARK: A durable claim is deleted by another process

  @Test func `the end of one process's claim does not end a wider one of another`() throws {
    var app = try MachineRun(orders: [])
    var other = try other(app)
    #expect(try app.claim("alice").claimed == ["alice"])
    // Bought without anybody signed in, and claimed in the other process, while the first claim is out.
    _ = try other.transactionArrived(bought("100"), now: app.now)
    #expect(app.storage.entry(key("100"))?.lane == .device)
    _ = try other.deviceClaimed(by: "alice", now: app.now)
    #expect(app.storage.deviceClaims().map(\.throughPlace) == [1])
    _ = try app.claimEnded("alice", .taken)
    // The other process is killed here, before 100 is settled.
    #expect(
      app.storage.deviceClaims().map(\.throughPlace) == [1], "the claim of what is still in the device lane")
  }

  // MARK: The budget: a failure writes back what this process knew of it when it sent

  @Test func `requests of two lanes in two processes share the budget`() throws {
    var policy = RetryPolicy()
    // Else both heads are set aside after eight requests, and there is nothing to count.
    policy.poisonRounds = 1_000
    var app = try MachineRun(policy: policy)
    app.storage.book.add(9, account: "bob", product: "coins")
    let down = UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil)
    var other = SyncMachine(storage: app.storage, policy: policy, seed: 2)
    _ = try other.started(now: app.now)
    _ = try app.arrive(bought("100", token: 1))
    _ = try other.transactionArrived(transaction(ofBob: "200"), now: app.now)
    _ = try other.uploadFailed(lane: bob, down, now: app.now)
    var sends = (app: 1, other: 1)
    for second in stride(from: 10, through: 3_400, by: 10) {
      app.now = midday.adding(milliseconds: Int64(second) * 1_000)
      // The app's requests time out after a minute, those of the other process are refused at once.
      if second % 60 == 0, app.isSending(alice) { _ = try app.fail(alice, down) }
      // Nothing else happens there meanwhile.
      if !app.isSending(alice) { sends.app += app.wake(.userAsked).sent.count { $0 == ["100"] } }
      if other.woken(.userAsked, now: app.now).sent.contains(["200"]) {
        sends.other += 1
        _ = try other.uploadFailed(lane: bob, down, now: app.now)
      }
    }
    #expect(sends.app + sends.other <= 62, "\(sends) requests within an hour")
  }

  // MARK: Retry-After for the whole backend: not seen by another process, and overwritten by it

  @Test func `what the backend asked of one process holds for the other`() throws {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    var other = try other(app)
    _ = try app.arrive(bought("100", token: 1))
    _ = try app.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000))
    app.now = app.now.adding(milliseconds: 10_000)
    #expect(try other.transactionArrived(transaction(ofBob: "200"), now: app.now).sent == [])
  }

  @Test func `a failure in another process does not make a Retry-After forgotten`() throws {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    var other = try other(app)
    _ = try app.arrive(bought("100", token: 1))
    _ = try other.transactionArrived(transaction(ofBob: "200"), now: app.now)
    _ = try app.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000))
    // The other one's was out meanwhile, and is lost.
    _ = try other.uploadFailed(lane: bob, .retry(reason: "reset", retryAfterMilliseconds: nil), now: app.now)
    // The app is killed, and comes back.
    var sent = try app.restart(after: 10_000).sent
    if sent.isEmpty { sent = app.letPass(3_600_000).sent }
    #expect(sent == [], "within an hour of two")
  }

  // MARK: News that reaches another process while the entry is out

  @Test func `news that another process took in while its entry was out is not lost`() throws {
    var app = try MachineRun()
    var other = try other(app)
    #expect(try app.arrive(bought("100", token: 1)).sent == [["100"]])
    var refund = bought("100", token: 1, proof: "refund of 100")
    refund.revokedAt = midday
    // Taken: the store need not deliver it again.
    _ = try other.transactionArrived(refund, now: app.now)
    let actions = app.reply(["100": .granted])
    #expect(actions.finished == ["100"])
    let isQueued =
      app.storage.entry(key("100")) != nil
      || app.storage.queueOwedUpdates(now: app.now).queued == [key("100")]
    #expect(isQueued, "the refund is nowhere")
  }

  // MARK: Turns: one that had to wait, behind new ones that fail

  @Test(arguments: [10, 30, 60])
  func `one that is due waits less than a day behind new ones that never work`(count: Int) throws {
    var run = try MachineRun(orders: [])
    for number in 1...100 { run.storage.book.add(UInt8(number)) }
    // The store had not answered yet when it was asked: again in a minute.
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending], retryAfter: 60)
    for number in 0..<count { _ = try run.arrive(bought(String(200 + number), token: UInt8(2 + number))) }
    let begin = run.now
    let end = begin.adding(milliseconds: inDays(7))
    while run.now < end {
      let sent = run.machine.lanes[alice]?.sent.map(\.key.id) ?? []
      if sent.contains("100") { break }
      if !sent.isEmpty { _ = try run.fail(alice, .retry(reason: "HTTP 500", retryAfterMilliseconds: nil)) }
      if !run.isSending(alice), run.letPass(3_600_000).sent.contains(["100"]) { break }
    }
    let hours = Double(run.now.milliseconds - begin.milliseconds) / 3_600_000
    #expect(hours < 24, "behind \(count) it was asked about again after \(hours) hours")
  }
}
