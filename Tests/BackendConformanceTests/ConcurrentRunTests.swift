import BackendConformance
import BrokenBackends
import Foundation
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// `conformance --concurrent` without sockets: the mock passes, and each planted race is found.
@Suite struct ConcurrentRunTests {
  private func verdict(
    _ name: String?, operations: Int = 240, kills: Int = 0
  ) async throws -> (history: ConcurrentRun.History, verdict: ConcurrentVerdict) {
    let broken = try name.map { try #require(BrokenBackend(rawValue: $0)) }
    let fixture = try ConformanceFixture(broken)
    let plan = ConcurrentRun.Plan(clients: 6, operations: operations, kills: kills)
    let history = try await ConcurrentRun(ConformanceLab(fixture.site), plan: plan).run()
    return (history, ConcurrentVerdict(history))
  }

  @Test func `the mock makes one order of a key and credits a transaction once`() async throws {
    let (history, verdict) = try await verdict(nil, kills: 2)
    #expect(verdict.contradictions == [])
    #expect(history.credited.found == history.credited.expected)
    #expect(history.callCount >= 240 && history.unansweredCount > 5 && history.kills >= 1)
  }

  @Test(arguments: [
    ("race-grant", "POST /v1/receipts", 2), ("race-order", "POST /v1/orders", 2),
    ("race-duplicate", "POST /v1/receipts", 2),
  ])
  func `a planted race is found, and shown by two answers`(
    name: String, request: String, count: Int
  ) async throws {
    var contradictions: [String] = []
    // A race needs requests that overlap, which a busy machine may run one after another.
    for _ in 0..<20 where contradictions.isEmpty {
      contradictions = try await verdict(name).verdict.contradictions
    }
    let first = try #require(contradictions.first)
    #expect(first.contains(request))
    #expect(first.split(separator: "\n").count == count + 1)
  }

  @Test func `a backend that forgets at a restart is found by its history`() async throws {
    // Of four rounds the first and the third are killed, so the grants of the second are there to be forgotten. All
    // requests of a killed round may be refused before the backend is back.
    let (history, verdict) = try await verdict("forgets-grants-at-restart", kills: 2)
    #expect(history.kills == 2)
    #expect(!verdict.contradictions.isEmpty)
  }
}
