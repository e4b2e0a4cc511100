import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Each kind of wait of the whole machine, when the clock of the device jumps.
@Suite struct SyncMachineJumpTests {
  enum Wait: CaseIterable, Sendable { case lane, adoption, finish, backend }

  /// A machine in which the wait has begun, and nothing else is to be done.
  private func waiting(_ wait: Wait, at now: Timestamp) throws -> MachineRun {
    var run = try MachineRun(isStarted: false)
    run.now = now
    _ = try run.started()
    switch wait {
    case .lane:
      _ = try run.arrive(bought("100", token: 1))
      _ = try run.fail(alice, .backendFault(reason: "HTTP 400"))
    case .adoption:
      _ = try run.claim("alice")
      _ = try run.adoptionEnded("alice", .failed(.backendFault(reason: "HTTP 400")))
    case .finish:
      _ = try run.purchase("100", token: 1)
      for _ in 0..<20 {
        _ = try run.finishEnded(key("100"), .failed)
        _ = try run.arrive(bought("100", token: 1))
      }
      _ = try run.finishEnded(key("100"), .failed)
    case .backend:
      _ = try run.arrive(bought("100", token: 1))
      let busy = UploadFailure.backendBusy(reason: "HTTP 503", retryAfterMilliseconds: inMinutes(60))
      _ = try run.fail(alice, busy)
    }
    return run
  }

  private func isOver(_ wait: Wait, _ actions: [SyncAction]) -> Bool {
    switch wait {
    case .lane, .backend: actions.sent == [["100"]]
    case .adoption: actions.claimed == ["alice"]
    case .finish: actions.finished == ["100"]
    }
  }

  @Test(arguments: Wait.allCases)
  func `a wait ends a day after the clock went back a year, though the app is looked at each hour`(
    wait: Wait
  ) throws {
    var run = try waiting(wait, at: midday.adding(milliseconds: inDays(365)))
    var hours: Int64 = 0
    while hours <= 25, !isOver(wait, run.fire(at: midday.adding(milliseconds: inMinutes(60) * hours))) {
      hours += 1
    }
    #expect(hours <= 25)
  }

  @Test(arguments: [Wait.lane, .adoption, .finish])
  func `a wait that was over stays over when the clock goes back`(
    wait: Wait
  ) throws {
    for wasOver in [true, false] {
      var run = try waiting(wait, at: midday)
      run.machine.suspended()
      if wasOver { _ = run.machine.timerFired(now: midday.adding(milliseconds: inMinutes(180))) }
      run.now = midday.adding(milliseconds: -inDays(1))
      #expect(isOver(wait, run.wake(.foreground)) == wasOver)
    }
  }

  @Test func `an answer for one lane ends a wait of another that was over by then`() throws {
    var run = try waiting(.lane, at: midday)
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(payment("200", token: orderToken(9), product: "coins"))
    run.machine.suspended()
    run.now = midday.adding(milliseconds: inMinutes(180))
    _ = run.reply(bob, ["200": .granted])
    run.now = midday.adding(milliseconds: -inDays(1))
    #expect(run.wake(.foreground).sent == [["100"]])
  }

  @Test func `the end of a finish ends a wait of a lane that was over by then`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.fail(alice, .backendFault(reason: "HTTP 400"))
    run.machine.suspended()
    run.now = midday.adding(milliseconds: inMinutes(180))
    _ = try run.finishEnded(key("100"), .finished)
    run.now = midday.adding(milliseconds: -inDays(1))
    #expect(run.wake(.foreground).sent == [["101"]])
  }

  /// The entry was postponed and sent again, so its timer is gone, and by the new time it is postponed once more.
  @Test func `a token that is refused before and after the clock goes back is asked for by a timer`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply([String: Verdict]())
    #expect(run.fire(at: midday.adding(milliseconds: inMinutes(180))).sent == [["100"]])
    #expect(try run.fail(alice, .tokenRefused).sent == [["100"]])
    run.now = midday.adding(milliseconds: -inDays(365))
    let wakes = try run.fail(alice, .tokenRefused).wakes
    #expect(wakes.contains { $0.milliseconds(since: run.now) <= inDays(1) }, "\(wakes)")
  }

  @Test func `an adoption that cannot be stored ends a wait of a lane that was over by then`() throws {
    let storage = FaultyStorage(MemoryStorage())
    storage.inner.book.add(1)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = try machine.started(now: midday)
    _ = machine.begin(try machine.transactionArrived(bought("100", token: 1), now: midday), now: midday)
    _ = try machine.uploadFailed(lane: alice, .backendFault(reason: "HTTP 400"), now: midday)
    machine.suspended()
    storage.begin((at: 0, how: .before))
    #expect(throws: QueueError.self) {
      try machine.adoptionRequested(by: "alice", now: midday.adding(milliseconds: inMinutes(180)))
    }
    storage.begin(nil)
    let back = machine.woken(.foreground, now: midday.adding(milliseconds: -inDays(1)))
    #expect(back.sent == [["100"]])
  }

  @Test func `a machine that starts once knows the budget and the attempts of the run before`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: inMinutes(60)))
    let stored = run.storage.retryState()
    #expect(try run.restart(after: 1_000).sent == [])
    #expect(run.machine.retryState.budget == stored.budget)
    #expect(run.machine.state(of: alice).backoff.failures == 1)
  }

  // MARK: A disk that is full

  @Test func `verdicts that cannot be stored are reported, and their entries are sent again`() throws {
    let storage = FaultyStorage(MemoryStorage())
    storage.inner.book.add(1)
    var machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
    _ = try machine.started(now: midday)
    _ = machine.begin(try machine.transactionArrived(bought("100", token: 1), now: midday), now: midday)
    storage.begin((at: 0, how: .death))
    let granted = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .granted)
    let reply = UploadReply(ledgerEpoch: "epoch 1", verdicts: [granted])
    let actions = machine.replyArrived(lane: alice, reply, now: midday)
    #expect(actions.contains { if case .storageFailed = $0 { true } else { false } })
    #expect(actions.delivered.isEmpty && actions.finished.isEmpty)
    storage.begin(nil)
    #expect(machine.timerFired(now: midday.adding(milliseconds: inMinutes(60))).sent == [["100"]])
  }
}
