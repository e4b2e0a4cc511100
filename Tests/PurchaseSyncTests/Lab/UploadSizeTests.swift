import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What failed in an outage does not go up one by one once the backend answers again.
@Suite struct UploadSizeTests {
  /// A first entry in flight, and others behind it that failed alone before, each so often.
  private func afterOutage(_ ids: [String], rounds: Int) throws -> MachineRun {
    var run = try MachineRun(orders: [], limits: QueueLimits(entries: 200))
    _ = try run.arrive(bought("first"))
    for id in ids { _ = try run.arrive(bought(id)) }
    let keys = ids.map { key($0) }
    try run.storage.recordAttempt(keys, keeping: nil, now: midday)
    let watch = PoisonWatch(failedRounds: rounds, failingSince: midday, unknownAnswers: 0, claimsPerUpload: 1)
    let watches = Dictionary(uniqueKeysWithValues: keys.map { ($0, watch) })
    run.storage.keep(run.machine.retryState, watches, now: midday)
    return run
  }

  private func granted(_ upload: [String]) -> [String: Verdict] {
    Dictionary(uniqueKeysWithValues: upload.map { ($0, .granted) })
  }

  @Test func `each answer doubles the next upload`() throws {
    let ids = (100..<130).map(String.init)
    var run = try afterOutage(ids, rounds: 5)
    var sizes: [Int] = []
    var sent = run.reply(.device, ["first": .granted]).sent
    while let upload = sent.first {
      sizes.append(upload.count)
      sent = run.reply(.device, granted(upload)).sent
    }
    #expect(sizes == [2, 4, 8, 16])
  }

  @Test func `a failure ends that: each goes alone again`() throws {
    var run = try afterOutage((100..<130).map(String.init), rounds: 5)
    var sent = run.reply(.device, ["first": .granted]).sent
    sent = run.reply(.device, granted(try #require(sent.first))).sent
    #expect(sent.first?.count == 4)
    let failure = UploadFailure.requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil)
    _ = try run.fail(.device, failure)
    #expect(run.letPass(3_600_000).sent.first?.count == 1)
  }

  @Test func `what got no answer alone takes no others with it`() throws {
    var run = try afterOutage(["100", "101"], rounds: 0)
    #expect(run.reply(.device, ["first": .granted]).sent == [["100"]])
  }
}
