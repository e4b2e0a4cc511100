import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The backend has refused the token of the account that is signed in, and the app has no other one. A purchase of the
/// device waits for it.
@Suite struct RefusedTokenTests {
  private static let hour: Int64 = 3_600_000

  /// Alice is signed in, her token was refused once, and the device buys something for no account.
  private static func run(
    clockJumps days: Int = 0,
    _ body: @escaping @Sendable (AppLab, SyncEngine, _ credits: Locked<Int>) async throws -> Void
  ) async throws {
    try await ShopLab.launch { lab, app in
      let credits = Locked(0)
      let shop = app.shop { _ in credits.withLock { $0 += 1 } }
      try await shop.signedIn(as: "alice")
      let engine = try await shop.syncEngine()
      lab.server.revoke(token: "token-alice")
      await #expect(throws: SyncError.signInNeeded(account: "alice")) {
        try await engine.fetchOrders(of: "alice")
      }
      let paid = try await app.store.pay(product: ShopLab.gems, quantity: 1, accountToken: nil)
      lab.phone().setClockError(.seconds(days * 86_400))
      try await engine.receive(paid)
      try await lab.pass(.seconds(60))
      #expect(credits.value == 0)
      try await body(lab, engine, credits)
    }
  }

  @Test(arguments: [WakeReason.foreground, .networkBack, .userAsked, .signedIn(account: "alice")])
  func `once the token is taken again, a wake delivers the device's purchase within a minute`(
    reason: WakeReason
  ) async throws {
    try await Self.run { lab, engine, credits in
      lab.server.accept(token: "token-alice")
      try await engine.wake(reason)
      try await lab.pass(.seconds(60))
      #expect(credits.value == 1)
    }
  }

  @Test func `once the token is taken again, the device's purchase is delivered without a wake`() async throws
  {
    try await Self.run { lab, _, credits in
      lab.server.accept(token: "token-alice")
      try await lab.pass(.milliseconds(RetryPolicy().deliveryBoundMilliseconds))
      #expect(credits.value == 1)
    }
  }

  @Test(arguments: [0, 365, -365])
  func `a token that is refused for good holds up the device for two hours at most`(
    clockJumps days: Int
  ) async throws {
    try await Self.run(clockJumps: days) { lab, _, credits in
      try await lab.pass(.seconds(3_000))
      #expect(credits.value == 0, "her own purchase would be told to be another account's")
      try await lab.pass(.seconds(4_200))
      #expect(credits.value == 1)
    }
  }
}
