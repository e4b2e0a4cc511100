import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Faults in capacity, quarantine and clocks that a reviewer found.
@Suite struct ReviewedFaultTests {
  // MARK: Capacity

  @Test func `a transaction without capacity is asked for again, even if it was not in a listing`() throws {
    var app = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try app.arrive(bought("100", token: 1))
    _ = try app.fail(alice, .signInNeeded)
    // The transaction comes from the store's updates, not from a listing.
    #expect(throws: QueueError.self) { try app.arrive(bought("101", token: 2)) }
    _ = app.wake(.networkBack)
    _ = try app.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: app.now)
    try app.storage.markConfirmed(key("100"))
    let hasAsked = app.asksTheStore(within: 2 * 3_600_000)
    #expect(hasAsked)
  }

  @Test func `a refund that waits for capacity is sent although another process freed it`() throws {
    var app = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try app.purchase("100", token: 1)
    _ = try app.finishEnded(key("100"), .finished)
    _ = try app.confirm(key("100"))
    _ = try app.arrive(bought("101", token: 2))
    _ = try app.fail(alice, .signInNeeded)
    var refund = bought("100", token: 1, proof: "refund of 100")
    refund.revokedAt = midday
    _ = try app.arrive(refund)
    _ = try app.finishEnded(key("100"), .finished)
    _ = app.wake(.signedIn(account: "alice"))
    // The other process delivers it, and informs no other process.
    if app.isSending(alice) { _ = try app.fail(alice, .laneTaken) }
    _ = try app.storage.acknowledge([SettledClaim(key: key("101"), verdict: .granted)], now: app.now)
    #expect(app.letPass(2 * 3_600_000).sent == [["100"]])
  }

  /// Fails at some of its listings. The first listing is number 1.
  private struct FailingStore: StoreClient {
    let inner: MockStoreClient
    let failing: Set<Int>
    let listings = Gate()

    func unfinished() async throws -> StoreListing {
      _ = listings.isFirst()
      if failing.contains(listings.arrivals) { throw URLError(.timedOut) }
      return try await inner.unfinished()
    }
    func receipt() async throws -> [UInt8]? { try await inner.receipt() }
    func refreshReceipt() async throws -> [UInt8]? { try await inner.refreshReceipt() }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  @Test(arguments: [[], [2], [2, 3]])
  func
    `a transaction without capacity is delivered although another process frees it, and the store fails meanwhile`(
      failing: Set<Int>
    ) async throws
  {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(entries: 1)
      fixture.configuration.retry.ceilingMilliseconds = 100
      let store = FailingStore(inner: fixture.store, failing: failing)
      let engine = try await fixture.open(store: store)
      try await until { store.listings.arrivals == 1 }
      let order = try await engine.begin(product: EngineFixture.product, account: "bob")
      fixture.accounts.signOut("bob")
      let first = try await fixture.pay(token: order.accountToken)
      try await engine.receive(first)
      let second = try await fixture.pay()
      await #expect(throws: SyncError.self) { try await engine.receive(second) }
      try await until { store.listings.arrivals > failing.count + 1 }
      // Another process of this installation frees capacity, and informs no other process.
      let other = try QueueFile(path: fixture.configuration.path, now: Timestamp.wallClock())
      _ = try other.discard(first.key, by: "kim", reason: "not worth it", now: Timestamp.wallClock())
      try await until {
        try fixture.server.snapshot().charges.contains {
          $0.transactionID == second.transactionID && $0.isFinished
        }
      }
      await engine.shutdown()
    }
  }

  @Test func `an entry with a Retry-After takes no capacity from a purchase when the app is updated`() throws
  {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .rejected], retryAfter: 72_000)
    _ = try run.restart(appVersion: "2", after: 60_000)
    #expect(throws: Never.self) { try run.arrive(bought("101", token: 2)) }
  }

  // MARK: Retry-After

  @Test(arguments: 0..<6, [FaultyStorage.Fault.before, .death])
  func `a quarantined entry keeps to Retry-After, wherever the storage failed`(
    at: Int, how: FaultyStorage.Fault
  ) throws {
    let memory = MemoryStorage()
    memory.book.add(1)
    let storage = FaultyStorage(memory)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = machine.begin(try machine.started(now: midday), now: midday)
    _ = machine.begin(try machine.transactionArrived(bought("100", token: 1), now: midday), now: midday)
    storage.begin((at: at, how: how))
    let verdict = ClaimVerdict(
      environment: "Production", transactionID: "100", verdict: .rejected, retryAfter: 7_200)
    _ = machine.begin(
      machine.replyArrived(
        lane: alice, UploadReply(ledgerEpoch: "epoch 1", verdicts: [verdict]), now: midday), now: midday)
    let isQuarantined = memory.entry(key("100"))?.state == .quarantined
    #expect(isQuarantined || storage.hasStruck, "not quarantined, and no write failed")
    storage.begin(nil)
    // If nothing of the answer was stored, the next process cannot know it after a kill.
    guard isQuarantined else { return }
    let later = midday.adding(milliseconds: 60_000)
    if how == .death {
      machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 2)
      _ = machine.begin(try machine.started(now: later), now: later)
    }
    let actions = machine.begin(
      try machine.transactionArrived(bought("100", token: 1, proof: "signed anew"), now: later), now: later)
    #expect(actions.sent == [])
  }

  @Test func `a full quarantine does not shorten Retry-After`() throws {
    var policy = RetryPolicy()
    policy.quarantineRetryMilliseconds = 3_600_000
    var run = try MachineRun(limits: QueueLimits(quarantinedEntries: 1), policy: policy)
    _ = try run.purchase("100", token: 1, .rejected)
    _ = try run.arrive(bought("101", token: 2))
    _ = run.reply(["101": .rejected], retryAfter: 7_200)
    let asked = run.now.adding(milliseconds: 7_200_000)
    #expect(run.entry("101")?.state == .queued)
    #expect(try #require(run.entry("101")).readyAt >= asked)
  }

  @Test func `a newer proof that came during the wait is uploaded when the wait is over`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("100", token: 1, proof: "signed anew"))
    _ = run.reply(["100": .rejected], retryAfter: 60)
    #expect(run.letPass(2 * 3_600_000).sent == [["100"]])
  }

  @Test(arguments: [UploadFailure.unprepared(reason: "the vault is locked"), .laneTaken])
  func `an upload that was never sent costs no budget`(failure: UploadFailure) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    // The phone is locked, in a train: the network comes back each minute.
    for _ in 0..<45 {
      if run.isSending(alice) { _ = try run.fail(alice, failure) }
      _ = run.letPass(60_000)
      if !run.isSending(alice) { _ = run.wake(.networkBack) }
      if !run.isSending(alice) { _ = run.letPass(5_000) }
    }
    if run.isSending(alice) { _ = try run.fail(alice, failure) }
    // The phone is unlocked, and the app is opened.
    var sent = run.wake(.foreground).sent
    if sent.isEmpty { sent = run.letPass(10_000).sent }
    #expect(sent == [["100"]])
  }

  // MARK: The clock

  @Test func `a wait of all lanes that has ended stays ended, even if another process wrote the file since`()
    throws
  {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    var other = SyncMachine(storage: app.storage, policy: RetryPolicy(), seed: 2)
    _ = other.begin(try other.started(now: app.now), now: app.now)
    _ = try app.arrive(bought("100", token: 1))
    let ofBob = payment("200", token: orderToken(9), product: "coins") {
      $0.proof = Payload(kind: "signedTransaction", bytes: Array("jws of 200".utf8))
    }
    _ = other.begin(try other.transactionArrived(ofBob, now: app.now), now: app.now)
    _ = try app.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000))
    _ = try app.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: app.now)
    app.now = app.now.adding(milliseconds: 10_000)
    _ = other.begin(
      try other.uploadFailed(lane: bob, .retry(reason: "reset", retryAfterMilliseconds: nil), now: app.now),
      now: app.now)
    _ = try app.storage.acknowledge([SettledClaim(key: key("200"), verdict: .granted)], now: app.now)
    app.now = app.now.adding(milliseconds: 3 * 3_600_000)
    _ = app.wake(.networkBack)
    app.now = app.now.adding(milliseconds: -inDays(365))
    #expect(
      try app.arrive(bought("101", token: 2)).sent == [["101"]] || app.letPass(60_000).sent == [["101"]])
  }
}
