import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What another process, the vault or another clock does between two steps of the machine.
@Suite struct SyncMachineBetweenTests {
  /// A storage in which something happens before the next write, and whose entries have no copy in the vault.
  private final class ChangedStorage: ForwardingStorage {
    let inner = MemoryStorage()
    var beforeNextWrite: (() -> Void)?
    var isVaultFull = false
    /// The lane of the update that has taken the place of each question.
    var updatesTake: Lane?

    var base: any SyncStorage { inner }

    func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R {
      beforeNextWrite?()
      beforeNextWrite = nil
      return try call()
    }

    func enqueue(
      _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
    ) throws(QueueError) -> Enqueued {
      let enqueued = try inner.enqueue(transaction, match, storeAccount: storeAccount, now: now)
      guard isVaultFull, case .inserted(var entry) = enqueued else { return enqueued }
      entry.isUnprotected = true
      return .inserted(entry)
    }

    func entry(_ key: EntryKey) -> Entry? {
      guard var entry = inner.entry(key) else { return nil }
      if let updatesTake { entry.lane = updatesTake }
      return entry
    }

    /// An answer leaves the tombstone of its transaction as it was.
    func settle(_ claims: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims {
      var settled = try write { () throws(QueueError) in try inner.settle(claims, now: now) }
      if claims.contains(where: \.keepsTombstone) { settled.tombstones = [] }
      return settled
    }
  }

  private static let granted = ClaimVerdict(
    environment: "Production", transactionID: "100", verdict: .granted)

  /// A machine that sends a purchase.
  private func sending(_ storage: ChangedStorage) throws -> SyncMachine<ChangedStorage> {
    storage.inner.book.add(1)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = try machine.started(now: midday)
    _ = machine.begin(try machine.transactionArrived(bought("100", token: 1), now: midday), now: midday)
    return machine
  }

  @Test func `a purchase that settles after another process heard of a new epoch is offered again`() throws {
    let storage = ChangedStorage()
    storage.inner.keepLedgerEpoch("epoch 1", offeringAgain: false)
    var machine = try sending(storage)
    storage.beforeNextWrite = { storage.inner.keepLedgerEpoch("epoch 2", offeringAgain: true) }
    let reply = UploadReply(ledgerEpoch: "epoch 1", verdicts: [Self.granted])
    let actions = machine.replyArrived(lane: alice, reply, now: midday)
    #expect(actions.delivered.map(\.verdict) == [.granted])
    #expect(actions.events.contains(.updateQueued(key("100"))))
  }

  @Test func `the app is warned of a purchase that the vault does not hold, once it knows of the purchase`()
    throws
  {
    let storage = ChangedStorage()
    storage.isVaultFull = true
    storage.inner.book.add(1)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = try machine.started(now: midday)
    let events = try machine.transactionArrived(bought("100", token: 1), now: midday).events
    #expect(events.count == 2)
    #expect(events.last == .unprotected(key("100")))
  }

  @Test func `a newer proof that another process got during an upload is sent after the verdict`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let newer = Payload(kind: "signedTransaction", bytes: Array("newer".utf8))
    run.storage.attach(newer, to: key("100"), now: run.now)
    let actions = run.reply(["100": .granted])
    #expect(actions.events.contains(.updateQueued(key("100"))))
    #expect(actions.sent == [["100"]])
  }

  // MARK: Questions

  private static let refund: StoreTransaction = {
    var refund = bought("100", proof: "refund")
    refund.revokedAt = midday
    return refund
  }()

  /// A machine that sends alice's question about a purchase.
  private func asking(_ storage: ChangedStorage) throws -> SyncMachine<ChangedStorage> {
    let match = OrderMatch(
      kind: .none, lane: .question(of: "alice"), transactionClass: .purchase, evidence: [])
    _ = try storage.inner.enqueue(bought("100"), match, storeAccount: nil, now: midday)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    #expect(machine.begin(try machine.started(now: midday), now: midday).sent == [["100"]])
    return machine
  }

  @Test func `a refund that comes during a question is sent once, after the answer`() throws {
    let storage = ChangedStorage()
    var machine = try asking(storage)
    _ = try machine.transactionArrived(Self.refund, now: midday)
    let reply = UploadReply(ledgerEpoch: "epoch 1", verdicts: [Self.granted])
    let actions = machine.replyArrived(lane: .question(of: "alice"), reply, now: midday)
    #expect(actions.events.count { $0 == .updateQueued(key("100")) } == 1)
  }

  @Test func `a refund that comes during an upload is sent once, after the verdict`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100"))
    _ = try run.arrive(Self.refund)
    let actions = run.reply(.device, ["100": .granted])
    #expect(actions.events.count { $0 == .updateQueued(key("100")) } == 1)
  }

  @Test func `the answer to a question does not settle the update that took its place`() throws {
    let storage = ChangedStorage()
    var machine = try asking(storage)
    storage.updatesTake = .device
    let reply = UploadReply(ledgerEpoch: "epoch 1", verdicts: [Self.granted])
    _ = machine.replyArrived(lane: .question(of: "alice"), reply, now: midday)
    #expect(storage.inner.entry(key("100")) != nil)
    #expect(storage.inner.tombstone(key("100")) == nil)
  }

  // MARK: Another clock

  private var latest: Timestamp { RetryPolicy().bounded(.distantFuture, after: midday) }
  private var nextYear: Timestamp { midday.adding(milliseconds: inDays(365)) }

  @Test func `a pause that a process with a clock a year ahead stored is brought back in the file`() throws {
    var ahead = try MachineRun(isStarted: false)
    ahead.now = nextYear
    _ = try ahead.started()
    _ = try ahead.arrive(bought("100", token: 1))
    let busy = UploadFailure.backendBusy(reason: "HTTP 503", retryAfterMilliseconds: inMinutes(60))
    _ = try ahead.fail(alice, busy)
    var run = try MachineRun()
    run.storage.keep(ahead.storage.retryState(), [:], now: midday)
    _ = run.wake(.foreground)
    let pause = try #require(run.storage.retryState().pace.asked)
    #expect(pause.ends <= midday.adding(milliseconds: inMinutes(72)))
  }

  @Test func `an entry that is postponed by a year is brought back while its lane is sending`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    let wait = Wait(.asked, began: nextYear, milliseconds: inMinutes(60))
    try run.storage.postpone(key("101"), wait, reason: "another clock", now: midday)
    _ = run.wake(.foreground)
    let moment = try #require(run.entry("101")).readyAt
    #expect(moment == midday.adding(milliseconds: inMinutes(60)))
  }

  @Test func `a trial of the quarantine a year ahead is brought back before the next one is timed`() throws {
    var policy = RetryPolicy()
    policy.quarantineRetryMilliseconds = inMinutes(60)
    var run = try MachineRun(policy: policy)
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .rejected])
    run.storage.keep(TrialRecord(at: nextYear, appVersion: ""))
    #expect(run.wake(.foreground).wakes == [midday.adding(milliseconds: inMinutes(60))])
  }

  @Test(arguments: [false, true])
  func `a pause in quarantine is brought back, though a first attempt fails`(fails: Bool) throws {
    let storage = FaultyStorage(MemoryStorage())
    storage.inner.book.add(1)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = try machine.started(now: midday)
    _ = machine.begin(try machine.transactionArrived(bought("100", token: 1), now: midday), now: midday)
    let rejected = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .rejected)
    let reply = UploadReply(ledgerEpoch: "epoch 1", verdicts: [rejected])
    _ = machine.replyArrived(lane: alice, reply, now: midday)
    var record = try #require(storage.inner.quarantineTrial())
    record.notBefore = [key("100"): nextYear]
    storage.inner.keep(record)
    // The only write of the event is the one that brings the pause back.
    storage.begin(fails ? (at: 0, how: .before) : nil)
    _ = machine.woken(.foreground, now: midday)
    #expect(storage.hasStruck == fails)
    storage.begin(nil)
    _ = machine.timerFired(now: midday)
    #expect(storage.inner.quarantineTrial()?.notBefore == [key("100"): latest])
  }

  // MARK: What comes first

  @Test func `an update that was pending at the start goes in one upload with what was queued`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.confirm(key("100"))
    run.machine.suspended()
    _ = try run.arrive(bought("101", token: 2))
    run.storage.oweUpdate(of: key("100"))
    #expect(try run.restart().sent == [["101", "100"]])
  }

  @Test func `an upload that is due begins before a finish that is due`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .failed)
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.fail(alice, .retry(reason: "no answer", retryAfterMilliseconds: nil))
    let actions = run.fire(at: midday.adding(milliseconds: inMinutes(180)))
    let sends = try #require(actions.firstIndex { if case .send = $0 { true } else { false } })
    let finishes = try #require(actions.firstIndex { if case .finish = $0 { true } else { false } })
    #expect(sends < finishes)
  }

  @Test func `an adoption that is due begins before the next upload of the device`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100"))
    _ = try run.claim("alice")
    _ = try run.arrive(bought("101"))
    _ = try run.adoptionEnded("alice", .taken)
    let actions = run.reply(.device, ["100": .granted])
    let adopts = try #require(actions.firstIndex(of: .adopt(account: "alice")))
    let sends = try #require(actions.firstIndex { if case .send = $0 { true } else { false } })
    #expect(adopts < sends)
  }

  @Test func `the store is not asked for more while a refused upload is sent again`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    #expect(throws: QueueError.self) { try run.arrive(bought("101", token: 2)) }
    #expect(!run.machine.capacityFreed(now: run.now).contains(.listStore))
    let actions = try run.fail(alice, .tokenRefused)
    #expect(actions.sent == [["100"]])
    #expect(!actions.contains(.listStore))
  }

  @Test func `what does not fit after a listing is asked for again after the backoff ceiling`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    #expect(throws: QueueError.self) { try run.arrive(bought("101", token: 2)) }
    let next = midday.adding(milliseconds: RetryPolicy().ceilingMilliseconds)
    #expect(try run.listed([key("100"), key("101")]).wakes == [next])
  }

  @Test func `a discard before the start is a mistake of the program`() async {
    await #expect(processExitsWith: .failure) {
      var machine = SyncMachine(storage: MemoryStorage(), policy: RetryPolicy(), seed: 1)
      machine.discarded(key("100"))
    }
  }
}
