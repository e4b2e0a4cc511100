import PurchaseQueue
import Testing

@testable import PurchaseSync

/// What an engine promised soon: it makes it durable by itself.
@Suite struct QuietTests {
  @Test func `what was promised soon is made durable after a second without another call`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      let quiet = Gate()
      quiet.close()
      let sleep = fixture.configuration.system.sleep
      fixture.configuration.system.sleep = { milliseconds in
        guard milliseconds == 1_000 else { return try await sleep(milliseconds) }
        await quiet.pass(ignoringCancellation: false)
      }
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      // The finish is done, and its record is not synced.
      try await until { await engine.owesSync }
      quiet.open()
      try await until { await !engine.owesSync }
      await engine.shutdown()
    }
  }
}

extension SyncEngine {
  fileprivate var owesSync: Bool { open.file?.queue.hasSoonCommits ?? false }
}
