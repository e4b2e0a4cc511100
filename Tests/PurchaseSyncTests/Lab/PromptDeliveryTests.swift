import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A purchase that the backend would take is sent soon after a wake, and at once after a tap, whatever came before.
@Suite struct PromptDeliveryTests {
  private let minute: Int64 = 60_000
  private let none = UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil)

  /// The failures that say nothing about a purchase, and those that may.
  private static let failures: [UploadFailure] = [
    .retry(reason: "no answer", retryAfterMilliseconds: nil),
    .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil),
    .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: nil),
    .backendFault(reason: "HTTP 422"),
  ]

  /// Nothing works for so long, without a wake.
  private func outage(_ failure: UploadFailure, minutes: Int64, _ run: inout MachineRun) throws {
    let end = run.now.adding(milliseconds: minutes * minute)
    while run.now < end {
      if run.isSending(alice) { _ = try run.fail(alice, failure) }
      if run.letPass(end.milliseconds(since: run.now)).sent.isEmpty { break }
    }
    if run.isSending(alice) { _ = try run.fail(alice, failure) }
    run.now = max(run.now, end)
  }

  /// The time from now to the next upload; nil if there is none within an hour.
  private func next(_ actions: [SyncAction], _ run: inout MachineRun) -> Int64? {
    guard actions.sent.isEmpty else { return 0 }
    let start = run.now
    guard !run.letPass(60 * minute).sent.isEmpty else { return nil }
    return run.now.milliseconds(since: start)
  }

  @Test(arguments: failures, [2, 10, 45, 240, 1_500] as [Int64])
  func `after an outage of any length a wake sends within five seconds`(
    failure: UploadFailure, minutes: Int64
  ) throws {
    for reason in [WakeReason.networkBack, .foreground, .signedIn(account: "alice")] {
      var run = try MachineRun()
      _ = try run.arrive(bought("100", token: 1))
      try outage(failure, minutes: minutes, &run)
      let wait = next(run.wake(reason), &run)
      #expect(wait ?? .max <= 5_000, "\(reason)")
    }
  }

  @Test(arguments: failures, [2, 45, 1_500] as [Int64])
  func `after an outage of any length a tap sends at once`(failure: UploadFailure, minutes: Int64) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    try outage(failure, minutes: minutes, &run)
    run.now = run.now.adding(milliseconds: 1_000)
    #expect(next(run.wake(.userAsked), &run) == 0)
  }

  @Test func `no entry is at fault while nothing reaches the backend, however long that is`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    try outage(none, minutes: 3 * 24 * 60, &run)
    #expect(run.storage.watch(of: key("100")) == PoisonWatch())
    #expect(run.entry("100")?.readyAt == Timestamp(milliseconds: 0))
    #expect(run.entry("100")?.state == .queued)
  }

  @Test func `a hundred taps in ten seconds are ten requests`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, none)
    var count = 0
    for _ in 0..<100 {
      run.now = run.now.adding(milliseconds: 100)
      count += (run.wake(.userAsked) + run.fire(at: run.now)).sent.count
      if run.isSending(alice) { _ = try run.fail(alice, none) }
    }
    #expect((8...10).contains(count), "\(count)")
  }

  @Test func `taps on a purchase that the backend cannot decide yet are one request a second`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending])
    var count = 0
    for _ in 0..<100 {
      run.now = run.now.adding(milliseconds: 100)
      count += (run.wake(.userAsked) + run.fire(at: run.now)).sent.count
      if run.isSending(alice) { _ = run.reply(["100": .pending]) }
    }
    #expect((8...10).contains(count), "\(count)")
  }

  @Test(arguments: [WakeReason.foreground, .userAsked])
  func `no wake and no tap sends before Retry-After`(reason: WakeReason) throws {
    for failure in [
      UploadFailure.retry(reason: "HTTP 502", retryAfterMilliseconds: 600_000),
      .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: 600_000),
      .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 600_000),
    ] {
      var run = try MachineRun()
      _ = try run.arrive(bought("100", token: 1))
      let failed = run.now
      _ = try run.fail(alice, failure)
      for _ in 0..<5 {
        run.now = run.now.adding(milliseconds: 60_000)
        #expect(run.wake(reason).sent.isEmpty)
      }
      #expect(next([], &run) != nil)
      #expect(run.now >= failed.adding(milliseconds: 600_000))
    }
  }

  @Test func `a request that was under way when the network came back is repeated when it fails`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    try outage(none, minutes: 45, &run)
    _ = run.wake(.userAsked)
    run.now = run.now.adding(milliseconds: 1_000)
    if !run.isSending(alice) { _ = run.fire(at: run.now) }
    #expect(run.isSending(alice))
    #expect(run.wake(.userAsked).sent.isEmpty)
    // It had begun without a network, and times out.
    run.now = run.now.adding(milliseconds: 30_000)
    let wait = next(try run.fail(alice, none), &run)
    #expect(wait ?? .max <= 1_000)
  }

  @Test func `an answer in one lane ends the wait of the others`() throws {
    var run = try MachineRun()
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(bought("100", token: 1))
    try outage(none, minutes: 240, &run)
    _ = try run.arrive(payment("300", token: orderToken(9), product: "coins"))
    if !run.isSending(bob) { _ = run.letPass(2_000) }
    let actions = run.reply(bob, ["300": .granted])
    let wait = next(actions, &run)
    #expect(wait ?? .max <= 5_000)
    #expect(run.isSending(alice))
  }

  @Test(arguments: failures) func `a purchase behind one that always fails is sent within a minute of a wake`(
    failure: UploadFailure
  ) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    try outage(failure, minutes: 120, &run)
    var actions = try run.arrive(bought("101", token: 2))
    let start = run.now
    var isSent = false
    for _ in 0..<20 where !isSent {
      isSent = run.machine.state(of: alice).sent.contains { $0.key == key("101") }
      if isSent { break }
      actions = run.isSending(alice) ? try run.fail(alice, failure) : []
      _ = next(actions, &run)
    }
    #expect(isSent)
    #expect(run.now.milliseconds(since: start) <= minute)
  }

  @Test(arguments: [1, 365] as [Int64])
  func `a clock that jumps ahead and back in an outage makes no wait longer`(days: Int64) throws {
    for failure in Self.failures {
      var run = try MachineRun()
      _ = try run.arrive(bought("100", token: 1))
      try outage(failure, minutes: 45, &run)
      run.now = run.now.adding(milliseconds: inDays(days))
      try outage(failure, minutes: 45, &run)
      run.now = run.now.adding(milliseconds: -inDays(days))
      let wait = next(run.fire(at: run.now), &run)
      #expect(wait ?? .max <= run.machine.policy.deliveryBoundMilliseconds)
    }
  }

  @Test(arguments: [1, 365] as [Int64])
  func `a clock that jumps ahead and back leaves Retry-After its own length`(days: Int64) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    run.now = run.now.adding(milliseconds: inDays(days))
    _ = try run.fail(alice, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 60_000))
    run.now = run.now.adding(milliseconds: -inDays(days))
    let wait = next(run.wake(.foreground), &run)
    #expect((60_000...72_000 + 5_000).contains(wait ?? .max))
  }

  // MARK: Two lanes, and one budget

  /// The backend fails at a purchase of alice; one of the device waits for it, too, and nothing is left of the budget.
  private func twoLanesWithoutBudget() throws -> MachineRun {
    var run = try MachineRun(orders: [1])
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("200"))
    try #require(run.entry("200")?.lane == .device)
    for _ in 0..<60 {
      try fail(&run)
      run.now = run.now.adding(milliseconds: 3_000)
      _ = run.wake(.foreground)
      _ = run.letPass(6_000)
    }
    try fail(&run)
    try #require(run.machine.retryState.budget.spent(now: run.now, policy: run.machine.policy) >= 19)
    return run
  }

  private func fail(_ run: inout MachineRun) throws {
    if run.isSending(alice) {
      _ = try run.fail(alice, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil))
    }
    if run.isSending(.device) { _ = try run.fail(.device, none) }
  }

  @Test func `a purchase that the backend fails at takes the only request that another lane waits for`()
    throws
  {
    var run = try twoLanesWithoutBudget()
    _ = run.wake(.networkBack)
    #expect(run.letPass(minute).sent == [["200"]])
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `after an answer another lane of the device waits for a jitter`(seed: UInt64) throws {
    var run = try MachineRun(orders: [1], seed: seed)
    _ = try run.arrive(bought("100", token: 1))
    try outage(none, minutes: 45, &run)
    run.now = run.now.adding(milliseconds: 5_000)
    try #require(run.arrive(bought("200")).sent == [["200"]])
    _ = run.reply(.device, ["200": .granted])
    #expect(run.letPass(1_000).sent == [["100"]])
  }
}
