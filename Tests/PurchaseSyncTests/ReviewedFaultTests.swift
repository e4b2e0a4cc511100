import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a reader with fresh eyes found in room, quarantine and clocks.
@Suite(.timeLimit(.minutes(1))) struct ReviewedFaultTests {
  // MARK: Room

  @Test func `what had no room when it was handed over alone is asked for again too`() throws {
    var app = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try app.arrive(bought("100", token: 1))
    _ = try app.fail(alice, .signInNeeded)
    // Not from a listing: the store's updates handed it over.
    #expect(throws: QueueError.self) { try app.arrive(bought("101", token: 2)) }
    _ = app.wake(.networkBack)
    _ = try app.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: app.now)
    try app.storage.markSeen(key("100"))
    let hasAsked = app.asksTheStore(within: 2 * 3_600_000)
    #expect(hasAsked)
  }

  @Test func `a refund that waits for room goes up though another process made it`() throws {
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
    // The other process delivers it, and tells nobody.
    if app.isSending(alice) { _ = try app.fail(alice, .laneTaken) }
    _ = try app.storage.acknowledge([SettledClaim(key: key("101"), verdict: .granted)], now: app.now)
    _ = app.letPass(10_000)
    try app.storage.markSeen(key("101"))
    #expect(app.letPass(2 * 3_600_000).sent == [["100"]])
  }

  /// Fails at some of its listings, the first is 1.
  private struct FailingStore: AppStore {
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
    func finish(transactionID: String) async throws -> FinishResult {
      try await inner.finish(transactionID: transactionID)
    }
  }

  @Test(arguments: [[], [2], [2, 3]])
  func `what had no room is delivered though nobody here makes room, and the store fails meanwhile`(
    failing: Set<Int>
  ) async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(entries: 1)
      world.configuration.retry.capMilliseconds = 100
      let store = FailingStore(inner: world.store, failing: failing)
      let engine = try await world.open(store: store)
      try await until { store.listings.arrivals == 1 }
      let order = try await engine.begin(product: EngineWorld.product, account: "bob")
      world.accounts.signOut("bob")
      let first = try await world.pay(token: order.accountToken)
      try await engine.receive(first)
      let second = try await world.pay()
      await #expect(throws: SyncError.self) { try await engine.receive(second) }
      try await until { store.listings.arrivals > failing.count + 1 }
      // Another process of this installation makes room, and tells nobody.
      let other = try QueueFile(path: world.configuration.path, now: Timestamp.wallClock())
      _ = try other.discard(first.key, by: "kim", reason: "not worth it", now: Timestamp.wallClock())
      try await until {
        try world.server.snapshot().charges.contains {
          $0.transactionID == second.transactionID && $0.isFinished
        }
      }
      await engine.shutdown()
    }
  }

  @Test func `what waits for the backend takes no room of a purchase when the app is updated`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .rejected], retryAfter: 72_000)
    _ = try run.restart(appVersion: "2", after: 60_000)
    #expect(throws: Never.self) { try run.arrive(bought("101", token: 2)) }
  }

  // MARK: What the backend asked for

  @Test(arguments: 0..<6, [FaultyStorage.Fault.before, .death])
  func `what is parked keeps to Retry-After, wherever the storage failed`(
    at: Int, how: FaultyStorage.Fault
  ) throws {
    let memory = MemoryStorage()
    memory.book.add(1)
    let storage = FaultyStorage(memory)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = try machine.started(now: midday)
    _ = try machine.transactionArrived(bought("100", token: 1), now: midday)
    storage.begin((at: at, how: how))
    let verdict = ClaimVerdict(
      environment: "Production", transactionID: "100", verdict: .rejected, retryAfter: 7_200)
    _ = machine.replyArrived(
      lane: alice, UploadReply(ledgerEpoch: "epoch 1", verdicts: [verdict]), now: midday)
    storage.begin(nil)
    // Of an answer of which nothing was kept nobody knows after a kill.
    guard memory.entry(key("100"))?.state == .quarantined else { return }
    let later = midday.adding(milliseconds: 60_000)
    if how == .death {
      machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 2)
      _ = try machine.started(now: later)
    }
    let actions = try machine.transactionArrived(bought("100", token: 1, proof: "signed anew"), now: later)
    #expect(actions.sent == [])
  }

  @Test func `nor does a full quarantine shorten what the backend asked for`() throws {
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

  @Test func `a newer proof that came meanwhile is asked about when the wait is over`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("100", token: 1, proof: "signed anew"))
    _ = run.reply(["100": .rejected], retryAfter: 60)
    #expect(run.letPass(2 * 3_600_000).sent == [["100"]])
  }

  @Test(arguments: [UploadFailure.unprepared(reason: "the vault is locked"), .laneTaken])
  func `what never went out costs no budget`(failure: UploadFailure) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    // Locked in a pocket, in a train: the network comes back each minute.
    for _ in 0..<45 {
      if run.isSending(alice) { _ = try run.fail(alice, failure) }
      _ = run.letPass(60_000)
      if !run.isSending(alice) { _ = run.wake(.networkBack) }
      if !run.isSending(alice) { _ = run.letPass(5_000) }
    }
    if run.isSending(alice) { _ = try run.fail(alice, failure) }
    // Unlocked, and open.
    var sent = run.wake(.foreground).sent
    if sent.isEmpty { sent = run.letPass(10_000).sent }
    #expect(sent == [["100"]])
  }

  // MARK: The clock

  @Test func `a wait of all lanes that was over stays over, though another process wrote the file since`()
    throws
  {
    var app = try MachineRun()
    app.storage.book.add(9, account: "bob", product: "coins")
    var other = SyncMachine(storage: app.storage, policy: RetryPolicy(), seed: 2)
    _ = try other.started(now: app.now)
    _ = try app.arrive(bought("100", token: 1))
    let ofBob = payment("200", token: orderToken(9), product: "coins") {
      $0.proof = Proof(kind: "signedTransaction", bytes: Array("jws of 200".utf8))
    }
    _ = try other.transactionArrived(ofBob, now: app.now)
    _ = try app.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 7_200_000))
    _ = try app.storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: app.now)
    app.now = app.now.adding(milliseconds: 10_000)
    _ = try other.uploadFailed(lane: bob, .retry(reason: "reset", retryAfterMilliseconds: nil), now: app.now)
    _ = try app.storage.acknowledge([SettledClaim(key: key("200"), verdict: .granted)], now: app.now)
    app.now = app.now.adding(milliseconds: 3 * 3_600_000)
    _ = app.wake(.networkBack)
    app.now = app.now.adding(milliseconds: -inDays(365))
    #expect(
      try app.arrive(bought("101", token: 2)).sent == [["101"]] || app.letPass(60_000).sent == [["101"]])
  }
}
