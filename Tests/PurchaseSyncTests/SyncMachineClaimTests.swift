import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What was bought before anybody was signed in.
@Suite struct SyncMachineClaimTests {
  /// One entry in the device lane, out.
  private func deviceRun() throws -> MachineRun {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100"))
    return run
  }

  @Test func `a claim is durable before it goes up`() throws {
    var run = try deviceRun()
    #expect(try run.claim("alice").claimed == ["alice"])
    #expect(run.storage.deviceClaims().map(\.account) == ["alice"])
    #expect(try run.restart().claimed == ["alice"])
  }

  @Test func `a claim of nothing is over when the backend took it`() throws {
    var run = try MachineRun(orders: [])
    #expect(try run.claim("alice").claimed == ["alice"])
    #expect(try run.claimEnded("alice", .taken) == [])
    #expect(run.storage.deviceClaims() == [])
  }

  @Test func `it is sent once more when what it covers has left the device lane`() throws {
    var run = try deviceRun()
    _ = try run.claim("alice")
    #expect(try run.claimEnded("alice", .taken) == [])
    #expect(run.storage.deviceClaims().count == 1)
    #expect(run.wake(.foreground).claimed == [])
    #expect(run.reply(.device, ["100": .granted]).claimed == ["alice"])
    #expect(try run.claimEnded("alice", .taken) == [])
    #expect(run.storage.deviceClaims() == [])
  }

  @Test func `what is granted while the claim is under way is claimed once more`() throws {
    var run = try deviceRun()
    _ = try run.claim("alice")
    // The backend may have granted it after it took the claim.
    #expect(run.reply(.device, ["100": .granted]).claimed == [])
    #expect(try run.claimEnded("alice", .taken).claimed == ["alice"])
    _ = try run.claimEnded("alice", .taken)
    #expect(run.storage.deviceClaims() == [])
  }

  @Test func `a claim that was made again while one was out is not over with the first`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    _ = try run.arrive(bought("100"))
    _ = run.reply(.device, ["100": .granted])
    #expect(try run.claim("alice").claimed == [], "one is out")
    #expect(try run.claimEnded("alice", .taken).claimed == ["alice"])
    #expect(run.storage.deviceClaims().count == 1)
    _ = try run.claimEnded("alice", .taken)
    #expect(run.storage.deviceClaims() == [])
  }

  @Test func `what was queued after the claim is not covered`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    _ = try run.arrive(bought("100"))
    _ = try run.claimEnded("alice", .taken)
    #expect(run.storage.deviceClaims() == [])
  }

  @Test func `a clock that went back changes nothing about what is covered`() throws {
    var run = try deviceRun()
    run.now = run.now.adding(milliseconds: inDays(-365))
    _ = try run.claim("alice")
    _ = try run.claimEnded("alice", .taken)
    #expect(run.storage.deviceClaims().count == 1)
  }

  @Test func `one in quarantine is still claimed`() throws {
    var run = try deviceRun()
    _ = run.reply(.device, ["100": .rejected])
    _ = try run.claim("alice")
    _ = try run.claimEnded("alice", .taken)
    #expect(run.storage.deviceClaims().count == 1)
  }

  @Test func `a claim without credentials waits for the sign-in`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(try run.claimEnded("alice", .failed(.signInNeeded)) == [.emit(.signInNeeded(alice))])
    #expect(run.wake(.networkBack).claimed == [])
    #expect(run.wake(.signedIn(account: "alice")).claimed == ["alice"])
  }

  @Test(arguments: [
    UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil),
    .retry(reason: "HTTP 500", retryAfterMilliseconds: 60_000),
    .backendBusy(reason: "HTTP 429", retryAfterMilliseconds: 60_000), .backendFault(reason: "HTTP 404"),
  ])
  func `a claim that fails is tried again`(failure: UploadFailure) throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    let failed = try run.claimEnded("alice", .failed(failure))
    #expect(failed.claimed == [])
    #expect(!failed.wakes.isEmpty)
    var count = 0
    while run.now < midday.adding(milliseconds: inDays(1)), count == 0 { count = run.fire().claimed.count }
    #expect(count == 1)
    #expect(run.now <= midday.adding(milliseconds: 3_600_000))
  }

  @Test func `a claim of a device without a name waits, and the backend has not failed`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(try run.claimEnded("alice", .failed(.unprepared(reason: "the vault is locked"))).claimed == [])
    #expect(!run.machine.retry.pace.isFailing)
    var count = 0
    while run.now < midday.adding(milliseconds: 10_000), count == 0 { count = run.fire().claimed.count }
    #expect(count == 1)
  }

  @Test(arguments: [UploadFailure.interrupted, .proofMissing, .laneTaken])
  func `a claim that nobody failed goes up at the next wake-up`(failure: UploadFailure) throws {
    var run = try MachineRun(orders: [])
    _ = try run.claim("alice")
    #expect(try run.claimEnded("alice", .failed(failure)) == [])
    #expect(run.wake(.foreground).claimed == ["alice"])
  }

  @Test func `a backend that is busy with an upload is not asked for a claim`() throws {
    var run = try deviceRun()
    _ = try run.fail(.device, .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 60_000))
    #expect(try run.claim("alice").claimed == [])
    var claimed: [String] = []
    while run.now < midday.adding(milliseconds: 80_000), claimed.isEmpty { claimed = run.fire().claimed }
    #expect(claimed == ["alice"])
    #expect(run.now >= midday.adding(milliseconds: 60_000))
  }
}
