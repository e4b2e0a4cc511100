import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A system may end a suspended app that has an open file.
@Suite struct BackgroundFileTests {
  /// Every upload is answered after three seconds, with 503.
  private struct Slow: BackendTransport {
    let inner: any BackendTransport
    let sleep: @Sendable (Int64) async throws -> Void

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      guard request.path == "v1/receipts" else { return try await inner.send(request) }
      do {
        try await sleep(3_000)
      } catch {
        throw TransportError(.cancelled, reason: "cancelled")
      }
      return BackendResponse(status: 503, body: Data())
    }
  }

  /// The answer comes in the grace of the suspension: the pause that follows it must not end in the background.
  @Test func `a request that fails on the way to the background does not open the file later`() async throws {
    try await AppLab.run(products: [StoreProduct(id: "gems", kind: .consumable)]) { lab in
      try await lab.phone().launch { app in
        let engine = try await SyncEngine.open(
          app.configuration, store: app.store,
          transport: Slow(inner: app.backend, sleep: app.configuration.system.sleep),
          credentials: { "token-" + $0.account })
        let order = try await engine.begin(product: "gems", account: "alice")
        try await engine.receive(
          try await app.store.pay(product: "gems", quantity: 1, accountToken: order.accountToken))
        try await lab.pass(.seconds(1))
        await engine.suspend(within: 10)
        #expect(await !engine.isFileOpen)
        try await lab.pass(.seconds(86_400))
        #expect(await !engine.isFileOpen)
        // In front it goes on.
        try await engine.wake(.foreground)
        try await lab.pass(.seconds(60))
        #expect(try lab.server.snapshot().requests["POST /v1/receipts"] == nil)
        #expect(try await engine.snapshot().purchases.first?.attempts ?? 0 > 1)
        await engine.shutdown()
      }
    }
  }
}
