import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Adoptions of purchases from before sign-in.
@Suite struct SyncMachineClaimTests {
  /// A run with one entry of the device lane in flight.
  private func deviceRun() throws -> MachineRun {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100"))
    return run
  }

  @Test func `an adoption is durable before its request is sent`() throws {
    var run = try deviceRun()
    #expect(try run.claim("alice").claimed == ["alice"])
    #expect(run.storage.deviceAdoptions().map(\.account) == ["alice"])
    #expect(try run.restart().claimed == ["alice"])
  }

  @Test func `an adoption of an empty device lane ends when the backend has accepted it`() throws {
    var run = try MachineRun(orders: [])
    #expect(try run.claim("alice").claimed == ["alice"])
    #expect(try run.adoptionEnded("alice", .taken) == [])
    #expect(run.storage.deviceAdoptions() == [])
  }

  @Test func `an adoption that the backend takes shows that it answers: nothing waits for the budget`() throws
  {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100"))
    let none = UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil)
    // Nothing is left of the budget.
    for _ in 0..<200 {
      _ = run.wake(.foreground)
      if !run.isSending(.device) { _ = run.letPass(5_000) }
      if run.isSending(.device) { _ = try run.fail(.device, none) }
    }
    _ = run.wake(.foreground)
    run.now = run.now.adding(milliseconds: 2_000)
    _ = try run.claim("alice")
    let taken = run.now
    let actions = try run.adoptionEnded("alice", .taken)
    #expect(run.machine.retryState.pace.succeededAt == nil, "it says nothing of uploads that fail")
    if actions.sent.isEmpty { _ = run.letPass(45_000) }
    #expect(run.isSending(.device))
    #expect(run.now.milliseconds(since: taken) <= 2_000)
  }

  @Test func `an adoption is sent once more when its entries have left the device lane`() throws {
    var run = try deviceRun()
    _ = try run.claim("alice")
    #expect(try run.adoptionEnded("alice", .taken) == [])
    #expect(run.storage.deviceAdoptions().count == 1)
    #expect(run.wake(.foreground).claimed == [])
    #expect(run.reply(.device, ["100": .granted]).claimed == ["alice"])
    #expect(try run.adoptionEnded("alice", .taken) == [])
    #expect(run.storage.deviceAdoptions() == [])
  }

  @Test func `entries granted while the adoption is under way are adopted once more`() throws {
    var run = try deviceRun()
    _ = try run.claim("alice")
    // The backend may have granted the entry after it accepted the adoption.
    #expect(run.reply(.device, ["100": .granted]).claimed == [])
    #expect(try run.adoptionEnded("alice", .taken).claimed == ["alice"])
    _ = try run.adoptionEnded("alice", .taken)
    #expect(run.storage.deviceAdoptions() == [])
  }

  @Test func `an adoption that is requested again during a request does not end with that request`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    _ = try run.arrive(bought("100"))
    _ = run.reply(.device, ["100": .granted])
    #expect(try run.claim("alice").claimed == [], "one is out")
    #expect(try run.adoptionEnded("alice", .taken).claimed == ["alice"])
    #expect(run.storage.deviceAdoptions().count == 1)
    _ = try run.adoptionEnded("alice", .taken)
    #expect(run.storage.deviceAdoptions() == [])
  }

  @Test func `an entry queued after the adoption is not covered`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    _ = try run.arrive(bought("100"))
    _ = try run.adoptionEnded("alice", .taken)
    #expect(run.storage.deviceAdoptions() == [])
  }

  @Test func `a clock that went back does not change which entries are covered`() throws {
    var run = try deviceRun()
    run.now = run.now.adding(milliseconds: inDays(-365))
    _ = try run.claim("alice")
    _ = try run.adoptionEnded("alice", .taken)
    #expect(run.storage.deviceAdoptions().count == 1)
  }

  @Test func `an entry in quarantine is still adopted`() throws {
    var run = try deviceRun()
    _ = run.reply(.device, ["100": .rejected])
    _ = try run.claim("alice")
    _ = try run.adoptionEnded("alice", .taken)
    #expect(run.storage.deviceAdoptions().count == 1)
  }

  @Test func `an adoption without credentials waits for the sign-in`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(try run.adoptionEnded("alice", .failed(.signInNeeded)) == [.emit(.signInNeeded(alice))])
    #expect(run.wake(.networkBack).claimed == [])
    #expect(run.wake(.signedIn(account: "alice")).claimed == ["alice"])
  }

  @Test(arguments: [
    UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil),
    .retry(reason: "HTTP 500", retryAfterMilliseconds: 60_000),
    .backendBusy(reason: "HTTP 429", retryAfterMilliseconds: 60_000), .backendFault(reason: "HTTP 404"),
  ])
  func `an adoption that fails is tried again`(failure: UploadFailure) throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    let failed = try run.adoptionEnded("alice", .failed(failure))
    #expect(failed.claimed == [])
    #expect(!failed.wakes.isEmpty)
    var count = 0
    while run.now < midday.adding(milliseconds: inDays(1)), count == 0 { count = run.fire().claimed.count }
    #expect(count == 1)
    #expect(run.now <= midday.adding(milliseconds: 3_600_000))
  }

  @Test func `an adoption waits for the name of the device, and does not count as a failure of the backend`()
    throws
  {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(try run.adoptionEnded("alice", .failed(.unprepared(reason: "the vault is locked"))).claimed == [])
    #expect(!run.machine.retryState.pace.isFailing)
    var count = 0
    while run.now < midday.adding(milliseconds: 10_000), count == 0 { count = run.fire().claimed.count }
    #expect(count == 1)
  }

  @Test(arguments: [UploadFailure.interrupted, .proofMissing, .laneTaken])
  func `an adoption that was not refused is sent at the next wake-up`(failure: UploadFailure) throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(try run.adoptionEnded("alice", .failed(failure)) == [])
    #expect(run.wake(.foreground).claimed == ["alice"])
  }

  @Test func `a backend that answered an upload as busy gets no adoption request`() throws {
    var run = try deviceRun()
    _ = try run.fail(.device, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 60_000))
    #expect(try run.claim("alice").claimed == [])
    var claimed: [String] = []
    while run.now < midday.adding(milliseconds: 80_000), claimed.isEmpty { claimed = run.fire().claimed }
    #expect(claimed == ["alice"])
    #expect(run.now >= midday.adding(milliseconds: 60_000))
  }
}
