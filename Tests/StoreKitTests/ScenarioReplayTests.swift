#if canImport(StoreKitTest)
  import Foundation
  import PurchaseSync
  import StoreKitTest
  import Testing

  /// Scenarios of the simulator, by their names there, with StoreKit itself and Xcode's App Store. A kill is a shop that
  /// is closed before its work is done.
  ///
  /// **Never run until it was**: on Linux it is only type-checked. It needs Xcode, and takes place if
  /// `PURCHASE_SYNC_STOREKIT_TESTS` is set. There is one App Store for all tests, so they run one after another.
  @MainActor
  @Suite(
    .serialized, .enabled(if: ProcessInfo.processInfo.environment["PURCHASE_SYNC_STOREKIT_TESTS"] != nil))
  struct ScenarioReplayTests {
    @Test func `purchase`() async throws {
      let phone = try Phone()
      let shop = phone.launch()
      #expect(try await shop.purchase("gems.100", for: "alice").isFulfilled)
      #expect(await phone.wallet.products == ["gems.100"])
      #expect(await phone.ledger.credits.count == 1)
      await shop.close()
    }

    @Test func `reply-lost`() async throws {
      let phone = try Phone()
      await phone.ledger.losesAnswers(1)
      let shop = phone.launch()
      #expect(try await shop.purchase("gems.100", for: "alice").isFulfilled)
      #expect(await phone.wallet.products == ["gems.100"])
      #expect(await phone.ledger.credits.count == 1)
      #expect(await phone.ledger.calls == 2)
      await shop.close()
    }

    @Test func `backend-outage`() async throws {
      let phone = try Phone()
      await phone.ledger.fails(1_000)
      let shop = phone.launch(waiting: .zero)
      #expect(try await shop.purchase("gems.100", for: "alice") == .pending(.delivery))
      await phone.ledger.fails(0)
      try await shop.retryNow()
      await phone.wallet.holds(["gems.100"])
      await shop.close()
    }

    @Test func `crash-after-payment`() async throws {
      let phone = try Phone()
      await phone.ledger.fails(1_000)
      let killed = phone.launch(waiting: .zero)
      _ = try await killed.purchase("gems.100", for: "alice")
      await killed.close()
      await phone.ledger.fails(0)
      let shop = phone.launch()
      await phone.wallet.holds(["gems.100"])
      #expect(await phone.ledger.credits.count == 1)
      await shop.close()
    }

    @Test func `ask-to-buy-approved-while-dead`() async throws {
      let phone = try Phone()
      phone.store.askToBuyEnabled = true
      let killed = phone.launch()
      #expect(try await killed.purchase("gems.100", for: "alice") == .pending(.approval))
      #expect(await phone.ledger.calls == 0)
      await killed.close()
      let asked = try #require(phone.store.allTransactions().first { $0.pendingAskToBuyConfirmation })
      try phone.store.approveAskToBuyTransaction(identifier: asked.identifier)
      let shop = phone.launch()
      await phone.wallet.holds(["gems.100"])
      #expect(await Array(phone.ledger.credits.values) == ["alice"])
      await shop.close()
    }

    @Test func `interrupted-purchase`() async throws {
      let phone = try Phone()
      phone.store.interruptedPurchasesEnabled = true
      let shop = phone.launch(waiting: .zero)
      #expect(try await !shop.purchase("gems.100", for: "alice").isFulfilled)
      phone.store.interruptedPurchasesEnabled = false
      let interrupted = try #require(phone.store.allTransactions().first)
      try phone.store.resolveIssueForTransaction(identifier: interrupted.identifier)
      await phone.wallet.holds(["gems.100"])
      await shop.close()
    }

    @Test func `owned-bought-again`() async throws {
      let phone = try Phone()
      let shop = phone.launch()
      #expect(try await shop.purchase("pro", for: "alice").isFulfilled)
      let again = try await shop.purchase("pro", for: "alice")
      guard case .alreadyOwned = again else {
        Issue.record("bought again: \(again)")
        return
      }
      #expect(phone.store.allTransactions().count == 1)
      await shop.close()
    }

    @Test func `restore-on-new-phone`() async throws {
      let phone = try Phone()
      let old = phone.launch()
      #expect(try await old.purchase("pro", for: "alice").isFulfilled)
      await old.close()
      phone.reinstall()
      let shop = phone.launch()
      #expect(try await shop.restore(for: "alice").compactMap { $0.purchase?.productID } == ["pro"])
      #expect(await phone.ledger.credits.count == 1)
      await shop.close()
    }

    @Test func `refund-after-grant`() async throws {
      let phone = try Phone()
      let shop = phone.launch()
      #expect(try await shop.purchase("gems.100", for: "alice").isFulfilled)
      let bought = try #require(phone.store.allTransactions().first)
      await phone.ledger.refund(String(bought.identifier))
      try phone.store.refundTransaction(identifier: bought.identifier)
      await phone.wallet.hears(.refunded)
      await shop.close()
    }
  }
#endif
