import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Calls of the app, the store and the backend that do not return: each holds up nothing but itself, and is in the status.
@Suite struct LateCallTests {
  private static let year: Int64 = 365 * 86_400_000

  @Test(arguments: [1, 12])
  func `a fulfil that never returns keeps no other outcome from the app`(hanging: Int) async throws {
    try await ShopLab.launch { lab, app in
      let book = OutcomeBook()
      let shop = app.shop(waiting: .zero) { outcome in
        if outcome.purchase?.productID == ShopLab.gems { try await app.sleep(Self.year) }
        book.take(outcome)
      }
      for _ in 0..<hanging { _ = try await shop.purchase(ShopLab.gems, for: "alice") }
      for account in ["alice", "bob"] { _ = try await shop.purchase(ShopLab.coins, for: account) }
      try await lab.pass(.seconds(60))
      #expect(book.products == [ShopLab.coins, ShopLab.coins])
      let late = await shop.status().lateCalls
      #expect(late.count == hanging)
      #expect(await shop.status().fulfilmentProblem != nil)
      #expect(late.allSatisfy { $0.callback == .fulfil && $0.since <= app.now })
      await shop.close()
    }
  }

  @Test func `a refund waits for the late credit of its own key, which counts when it returns`() async throws
  {
    try await ShopLab.launch { lab, app in
      let book = OutcomeBook()
      let shop = app.shop(waiting: .zero) { outcome in
        if outcome.isFulfilled { try await app.sleep(7_200_000) }
        book.take(outcome)
      }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(60))
      try await lab.refund(transactionID: try lab.server.snapshot().charges[0].transactionID)
      try await shop.resume()
      try await lab.pass(.seconds(60))
      #expect(book.outcomes.isEmpty)
      try await lab.pass(.seconds(7_200))
      #expect(book.outcomes.map(\.verdict) == [.granted, .refunded])
      #expect(await shop.status().lateCalls.isEmpty)
      #expect(try await shop.syncEngine().snapshot().outcomes.isEmpty)
      await shop.close()
    }
  }

  @Test func `what a late fulfil has not confirmed comes again after a kill`() async throws {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      for launch in 0..<2 {
        try await phone.launch { app in
          let shop = app.shop(waiting: .zero) { outcome in
            if launch == 0 { try await app.sleep(Self.year) }
            book.take(outcome)
          }
          if launch == 0 { _ = try await shop.purchase(ShopLab.gems, for: "alice") }
          _ = try await shop.syncEngine()
          try await lab.pass(.seconds(60))
        }
      }
      #expect(book.products == [ShopLab.gems])
    }
  }

  @Test func `a background task and a suspension do not wait for a fulfil that is late`() async throws {
    try await ShopLab.launch { lab, app in
      let shop = app.shop(waiting: .zero) { _ in try await app.sleep(Self.year) }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(60))
      let before = app.now
      await shop.suspend()
      let isDone = try await shop.drain(until: app.now.addingTimeInterval(1_500))
      #expect(!isDone)
      #expect(app.now.timeIntervalSince(before) < 10)
      let engine = try await shop.syncEngine()
      #expect(await !engine.isFileOpen)
    }
  }

  @Test func `credentials that hang for one account hold up no other, and are in the status`() async throws {
    try await ShopLab.launch { lab, app in
      let book = OutcomeBook()
      var configuration = app.configuration
      configuration.orderPolicy = .deviceOnly
      let shop = app.shop(
        waiting: .zero, configuration: configuration,
        credentials: { request in
          if request.account == "alice" {
            do { try await app.sleep(3 * 3_600_000) } catch { return nil }
          }
          return "token-" + request.account
        }, fulfil: { book.take($0) })
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      _ = try await shop.purchase(ShopLab.coins, for: "bob")
      try await lab.pass(.seconds(120))
      #expect(book.products == [ShopLab.coins])
      let late = await shop.status().lateCalls
      #expect(late.contains { $0.callback == .credentials && $0.subject == "alice" })
      await shop.close()
    }
  }

  /// Its `verify` hangs for one product.
  private struct Hanging: PurchaseBackend {
    let sleep: @Sendable (Int64) async throws -> Void
    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      if purchase.productID == ShopLab.gems { try await sleep(365 * 86_400_000) }
      return .granted
    }
  }

  @Test func `a purchase whose verify hangs holds up no other of its account`() async throws {
    try await ShopLab.launch { lab, app in
      let book = OutcomeBook()
      let shop = Shop(
        store: app.store, backend: Hanging(sleep: app.sleep), configuration: app.configuration,
        lifecycle: .explicit, waiting: .zero, credentials: { "token-" + $0.account },
        fulfil: { book.take($0) })
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      _ = try await shop.purchase(ShopLab.coins, for: "alice")
      try await lab.pass(.seconds(60))
      #expect(book.products == [ShopLab.coins])
      #expect(await shop.status().lateCalls.map(\.callback).contains(.backend))
      await shop.close()
    }
  }

  @Test func `a close and a suspension from a cancelled task give fulfil its two seconds`() async throws {
    for suspends in [false, true] {
      try await ShopLab.launch { lab, app in
        let ends = Locked<[String]>([])
        let shop = app.shop(waiting: .zero) { _ in
          do {
            try await app.sleep(1_000)
            ends.withLock { $0.append("done") }
          } catch {
            ends.withLock { $0.append("cut off") }
            throw error
          }
        }
        _ = try await shop.purchase(ShopLab.gems, for: "alice")
        try await lab.pass(.milliseconds(500))
        let task = Task {
          if suspends { await shop.suspend() } else { await shop.close() }
        }
        task.cancel()
        await task.value
        #expect(ends.value == ["done"])
      }
    }
  }
}
