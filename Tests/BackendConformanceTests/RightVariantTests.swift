import AppStoreReceipts
import BackendConformance
import BrokenBackends
import Foundation
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import TestSupport
import Testing

/// The kit fails no right backend: the sandbox, other answers to loosely stated rules, and replicas that lag.
@Suite struct RightVariantTests {
  private func failures(_ site: ConformanceSite, of checks: [ConformanceCheck]) async -> [String] {
    let findings = await ConformanceRun(ConformanceLab(site)).findings(of: checks)
    return findings.filter { $0.result != .passed }.map { "\($0.check): \($0.expected ?? "skipped")" }
  }

  @Test func `the mock passes each check in the sandbox, too`() async throws {
    let fixture = try ConformanceFixture(hooks: nil, environment: .sandbox)
    let failed = await failures(fixture.site, of: ConformanceCheck.all)
    #expect(failed == [])
  }

  /// The checks that are about a variant; `purchase-lab broken-backends` makes all of them.
  @Test(arguments: RightVariant.all)
  func `a backend that is right in another way passes`(variant: RightVariant) async throws {
    let known = Set(ConformanceCheck.all.map(\.name))
    #expect(!variant.about.isEmpty && variant.about.isSubset(of: known))
    let fixture = try ConformanceFixture(hooks: variant.hooks)
    let about = ConformanceCheck.all.filter { variant.about.contains($0.name) }
    let failed = await failures(fixture.site, of: about)
    #expect(failed == [])
  }

  @Test func `a read of a replica waits for the lag that the site names`() async throws {
    let names: Set = [
      "upload-granted", "order-ended", "refund-notified", "device-adopted", "order-pages-all",
    ]
    let checks = ConformanceCheck.all.filter { names.contains($0.name) }
    #expect(checks.count == names.count)
    for (lag, passes) in [(Duration.milliseconds(300), true), (.zero, false)] {
      let fixture = try ConformanceFixture()
      let replica = LaggingTransport(fixture.backend)
      var site = fixture.site
      (site.backend, site.lag) = (replica, lag)
      site.pause = { if $0 >= .milliseconds(300) { replica.catchUp() } }
      #expect(await failures(site, of: checks).isEmpty == passes)
    }
  }
}

/// Answers reads as of before the last write, until `catchUp`.
private final class LaggingTransport: BackendTransport {
  private struct State {
    var isBehind = false
    var answers: [String: BackendResponse] = [:]
  }

  private let backend: DirectTransport
  private let state = Locked(State())

  init(_ backend: DirectTransport) { self.backend = backend }

  func catchUp() { state.withLock { $0.isBehind = false } }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard request.method == "GET" else {
      state.withLock { $0.isBehind = true }
      return try await backend.send(request)
    }
    let old = state.withLock { $0.isBehind ? $0.answers[request.path] : nil }
    if let old { return old }
    let answer = try await backend.send(request)
    state.withLock { $0.answers[request.path] = answer }
    return answer
  }
}
