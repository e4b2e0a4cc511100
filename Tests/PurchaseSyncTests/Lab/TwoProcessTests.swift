import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Faults that a reviewer found where two processes of one installation share a file: two machines on one storage.
@Suite struct TwoProcessTests {
  private func transaction(ofBob id: String) -> StoreTransaction {
    payment(id, token: orderToken(9), product: "coins") {
      $0.proof = Payload(kind: "signedTransaction", bytes: Array("jws of \(id)".utf8))
    }
  }

  private func other(_ app: MachineRun, seed: UInt64 = 2) throws -> SyncMachine<MemoryStorage> {
    var other = SyncMachine(storage: app.storage, policy: RetryPolicy(), seed: seed)
    _ = other.begin(try other.started(now: app.now), now: app.now)
    return other
  }

  // MARK: Capacity

  @Test func `capacity that another process freed is for transactions that the store keeps`() throws {
    var app = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try app.arrive(bought("100", token: 1))
    #expect(throws: QueueError.self) { try app.arrive(bought("101", token: 2)) }
    _ = try app.fail(alice, .laneTaken)
    _ = try app.listed([key("100"), key("101")])
    // The other process delivers it, shows it, and informs no other process.
    _ = try app.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: app.now)
    try app.storage.markConfirmed(key("100"))
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

  @Test func `an answer from before a restoration arrives after another process has seen the new epoch`()
    throws
  {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    _ = try app.purchase("100", token: 1)
    _ = try app.finishEnded(key("100"), .finished)
    _ = try app.confirm(key("100"))
    var other = try other(app)
    // The entry is in flight in the other process. The backend grants it under epoch 1, and the answer is slow.
    #expect(
      other.begin(try other.transactionArrived(transaction(ofBob: "200"), now: app.now), now: app.now).sent
        == [["200"]])
    // The backend is restored from a backup from before that grant. This process gets the new epoch.
    _ = try app.arrive(bought("101", token: 2))
    #expect(app.reply(["101": .granted], epoch: "epoch 2").events.contains(.ledgerChanged))
    // This process may not send an entry that is in flight in the other one.
    if app.isSending(bob) { _ = try app.fail(bob, .laneTaken) }
    // The slow answer arrives.
    let late = ClaimVerdict(environment: "Production", transactionID: "200", verdict: .granted)
    let settled = other.begin(
      other.replyArrived(
        lane: bob, UploadReply(ledgerEpoch: "epoch 1", verdicts: [late]), now: app.now), now: app.now)
    #expect(settled.finished == ["200"])
    _ = try other.finishEnded(key("200"), .finished, now: app.now)
    _ = try other.outcomeConfirmed(key("200"), now: app.now)
    // Each later answer, in both processes and after a restart, has epoch 2.
    var offered: Set<String> = []
    func note(_ actions: [SyncAction]) { offered.formUnion(actions.sent.joined()) }
    for round in 0..<4 {
      for lane in [alice, bob] {
        while app.isSending(lane) {
          let sent = app.machine.state(of: lane).sent.map(\.key.id)
          note(
            app.reply(lane, Dictionary(uniqueKeysWithValues: sent.map { ($0, .duplicate) }), epoch: "epoch 2")
          )
        }
        while other.state(of: lane).inFlight != nil {
          let sent = other.state(of: lane).sent.map(\.key.id)
          let verdicts = sent.map {
            ClaimVerdict(environment: "Production", transactionID: $0, verdict: .duplicate)
          }
          note(
            other.begin(
              other.replyArrived(
                lane: lane, UploadReply(ledgerEpoch: "epoch 2", verdicts: verdicts), now: app.now),
              now: app.now))
        }
      }
      app.now = app.now.adding(milliseconds: 3_600_000)
      note(app.fire())
      note(other.begin(other.timerFired(now: app.now), now: app.now))
      if round == 0 {
        note(other.begin(try other.transactionArrived(bought("102", token: 3), now: app.now), now: app.now))
      }
      if round == 2 { note(try app.restart()) }
    }
    #expect(offered.contains("200"), "finished, and never offered again: \(offered)")
  }

  // MARK: Another process deletes a durable adoption

  @Test func `the end of an adoption in one process does not end a wider one of another process`() throws {
    var app = try MachineRun(orders: [])
    var other = try other(app)
    #expect(try app.claim("alice").claimed == ["alice"])
    // Bought before sign-in, and adopted in the other process, while the first request is in flight.
    _ = other.begin(try other.transactionArrived(bought("100"), now: app.now), now: app.now)
    #expect(app.storage.entry(key("100"))?.lane == .device)
    _ = try other.adoptionRequested(by: "alice", now: app.now)
    #expect(app.storage.deviceAdoptions().map(\.throughPlace) == [1])
    _ = try app.adoptionEnded("alice", .taken)
    // The other process is killed here, before 100 is settled.
    #expect(
      app.storage.deviceAdoptions().map(\.throughPlace) == [1],
      "the adoption of entries that are still in the device lane")
  }

  // MARK: The budget: a failure in one process overwrites the budget that the other has spent

  @Test func `requests of two lanes in two processes share the budget`() throws {
    var policy = RetryPolicy()
    // Otherwise both heads are postponed after eight requests, and the test counts nothing.
    policy.poisonRounds = 1_000
    var app = try MachineRun(policy: policy)
    app.storage.book.add(9, account: "bob", product: "coins")
    let down = UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil)
    var other = SyncMachine(storage: app.storage, policy: policy, seed: 2)
    _ = other.begin(try other.started(now: app.now), now: app.now)
    _ = try app.arrive(bought("100", token: 1))
    _ = other.begin(try other.transactionArrived(transaction(ofBob: "200"), now: app.now), now: app.now)
    _ = other.begin(try other.uploadFailed(lane: bob, down, now: app.now), now: app.now)
    var sends = (app: 1, other: 1)
    for second in stride(from: 10, through: 3_400, by: 10) {
      app.now = midday.adding(milliseconds: Int64(second) * 1_000)
      // The app's requests time out after a minute, those of the other process are refused at once.
      if second % 60 == 0, app.isSending(alice) { _ = try app.fail(alice, down) }
      // The app's machine gets no other event than its wake.
      if !app.isSending(alice) { sends.app += app.wake(.networkBack).sent.count { $0 == ["100"] } }
      if other.begin(other.woken(.networkBack, now: app.now), now: app.now).sent.contains(["200"]) {
        sends.other += 1
        _ = other.begin(try other.uploadFailed(lane: bob, down, now: app.now), now: app.now)
      }
    }
    // And the first request of each. Only the budget holds them back, and most of it comes back within the hour.
    let all = sends.app + sends.other
    #expect(all <= policy.mostRetriesPerWindow + 2, "\(sends) requests within an hour")
    #expect(all >= policy.budgetPerWindow / 2, "\(sends) requests within an hour")
  }

  // MARK: Retry-After for the whole backend: not seen by another process, and overwritten by it

  @Test func `a Retry-After that one process got holds for the other`() throws {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    var other = try other(app)
    _ = try app.arrive(bought("100", token: 1))
    _ = try app.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000))
    app.now = app.now.adding(milliseconds: 10_000)
    #expect(
      other.begin(try other.transactionArrived(transaction(ofBob: "200"), now: app.now), now: app.now).sent
        == [])
  }

  @Test func `a failure in another process does not remove a Retry-After`() throws {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    var other = try other(app)
    _ = try app.arrive(bought("100", token: 1))
    _ = other.begin(try other.transactionArrived(transaction(ofBob: "200"), now: app.now), now: app.now)
    _ = try app.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000))
    // The other process had a request in flight in the meantime, and its answer is lost.
    _ = other.begin(
      try other.uploadFailed(lane: bob, .retry(reason: "reset", retryAfterMilliseconds: nil), now: app.now),
      now: app.now)
    // The app is killed and launched again.
    var sent = try app.restart(after: 10_000).sent
    if sent.isEmpty { sent = app.letPass(3_600_000).sent }
    #expect(sent == [], "within an hour of two")
  }

  // MARK: Updates that reach another process while the entry is in flight

  @Test func `an update that another process stored while its entry was in flight is not lost`() throws {
    var app = try MachineRun()
    var other = try other(app)
    #expect(try app.arrive(bought("100", token: 1)).sent == [["100"]])
    var refund = bought("100", token: 1, proof: "refund of 100")
    refund.revokedAt = midday
    // The update is stored, so the store need not deliver it again.
    _ = other.begin(try other.transactionArrived(refund, now: app.now), now: app.now)
    let actions = app.reply(["100": .granted])
    #expect(actions.finished == ["100"])
    let isQueued =
      app.storage.entry(key("100")) != nil
      || app.storage.queuePendingUpdates(now: app.now).queued == [key("100")]
    #expect(isQueued, "the refund is nowhere")
  }

  // MARK: Turns: an entry that had to wait, behind new entries that fail

  @Test(arguments: [10, 30, 60])
  func `a due entry waits less than a day behind new entries that always fail`(count: Int) throws {
    var run = try MachineRun(orders: [])
    for number in 1...100 { run.storage.book.add(UInt8(number)) }
    // The store had no answer yet when the backend asked it: try again in a minute.
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending], retryAfter: 60)
    for number in 0..<count { _ = try run.arrive(bought(String(200 + number), token: UInt8(2 + number))) }
    let begin = run.now
    let end = begin.adding(milliseconds: inDays(7))
    while run.now < end {
      let sent = run.machine.state(of: alice).sent.map(\.key.id)
      if sent.contains("100") { break }
      if !sent.isEmpty { _ = try run.fail(alice, .retry(reason: "HTTP 500", retryAfterMilliseconds: nil)) }
      if !run.isSending(alice), run.letPass(3_600_000).sent.contains(["100"]) { break }
    }
    let hours = Double(run.now.milliseconds - begin.milliseconds) / 3_600_000
    #expect(hours < 24, "behind \(count), the entry was sent again after \(hours) hours")
  }
}
