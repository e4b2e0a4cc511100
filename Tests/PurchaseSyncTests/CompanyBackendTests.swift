import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A shop whose backend has a protocol of its own.
@Suite struct CompanyBackendTests {
  private func with(
    waiting: Duration = .seconds(3_000_000_000),
    _ body: (BuyingFixture, CompanyServer, Shop, Wallet) async throws -> Void
  ) async throws {
    try await BuyingFixture.with { fixture in
      let server = CompanyServer()
      let (shop, wallet) = try self.shop(fixture, server, on: "phone", waiting: waiting)
      try await body(fixture, server, shop, wallet)
      await shop.close()
    }
  }

  private func shop(
    _ fixture: BuyingFixture, _ server: CompanyServer, on device: String,
    waiting: Duration = .seconds(3_000_000_000), credentials: CredentialSource? = nil
  ) throws -> (Shop, Wallet) {
    let (wallet, accounts) = (Wallet(), fixture.accounts)
    let shop = Shop(
      store: fixture.store, backend: server.backend, configuration: try fixture.configuration(device),
      lifecycle: .explicit, waiting: waiting,
      credentials: credentials ?? { accounts.token(of: $0.account) }, fulfil: { try wallet.take($0) })
    return (shop, wallet)
  }

  @Test func `a purchase reaches a backend that knows nothing of orders`() async throws {
    try await with { _, server, shop, wallet in
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
      #expect(server.state.value.credits == [outcome.key.transactionID: ["alice", outcome.orderNumber]])
      #expect(outcome.orderNumber?.hasPrefix("device-") == true && wallet.products == ["gems"])
      let engine = try await shop.syncEngine()
      try await until { try await engine.pendingNotices() == 0 }
    }
  }

  @Test func `a lost answer is asked for again, and credits once`() async throws {
    try await with { _, server, shop, wallet in
      server.state.withLock { $0.lost = [1, 2] }
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled && wallet.products == ["gems"])
      #expect(server.state.value.credits.count == 1 && server.state.value.calls == 3)
    }
  }

  @Test(arguments: [500, 503, 429, 302, 404])
  func `a backend that fails for a while keeps the purchase waiting`(status: Int) async throws {
    try await with(waiting: .zero) { _, server, shop, wallet in
      server.state.withLock { $0.status = status }
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale == .pending(.delivery))
      try await until { server.state.value.calls > 0 }
      server.state.withLock { $0.status = 200 }
      try await until {
        try await shop.retryNow()
        return wallet.products == ["gems"]
      }
    }
  }

  @Test func `a token that the backend refuses is told to the credentials, and asked for again`() async throws
  {
    try await BuyingFixture.with { fixture in
      let (shop, wallet) = try shop(
        fixture, CompanyServer(), on: "phone",
        credentials: { $0.isRefused ? "token-" + $0.account : "stale" })
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled && wallet.products == ["gems"])
      await shop.close()
    }
  }

  @Test func `a new phone restores through a backend that knows who was credited`() async throws {
    try await with { fixture, server, phone, _ in
      _ = try await phone.purchase("pro", for: "alice")
      await phone.close()
      let (pad, new) = try self.shop(fixture, server, on: "pad")
      let found = try await pad.restore(for: "alice")
      #expect(found.map(\.account) == ["alice"] && new.products == ["pro"])
      await pad.close()
    }
  }

  @Test func `bob restores what alice has, and gets nothing, for good`() async throws {
    try await with { fixture, server, phone, _ in
      _ = try await phone.purchase("pro", for: "alice")
      await phone.close()
      let (pad, new) = try self.shop(fixture, server, on: "pad")
      let found = try await pad.restore(for: "bob")
      #expect(found.isEmpty && new.products == [])
      #expect(try await pad.syncEngine().snapshot().purchases.isEmpty)
      await pad.close()
    }
  }

  @Test func `a token that is refused beside the device's is asked for again`() async throws {
    try await BuyingFixture.with { fixture in
      let (shop, wallet) = try shop(
        fixture, CompanyServer(), on: "phone",
        credentials: { $0.isRefused ? "token-" + $0.account : "stale" })
      _ = try await fixture.store.pay(product: "pro", quantity: 1, accountToken: nil)
      let found = try await shop.restore(for: "alice")
      #expect(found.map(\.account) == ["alice"] && wallet.products == ["pro"])
      await shop.close()
    }
  }

  @Test func `a purchase that names no owner reaches the account that is signed in`() async throws {
    try await with { fixture, _, shop, wallet in
      try await shop.signedIn(as: "alice")
      // A code that was redeemed, or a purchase on the app's page in the store.
      _ = try await fixture.store.pay(product: "pro", quantity: 1, accountToken: nil)
      try await shop.resume()
      try await until { wallet.products == ["pro"] }
      #expect(wallet.outcomes.map(\.account) == ["alice"])
    }
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
  func `a pause of any length that a backend asks for is no crash`(pause: Duration) async throws {
    let company = AskedBackend(FailingBackend(error: BackendFailure.busy(retryAfter: pause)))
    let upload = UploadRequest(
      device: UUID(), proof: nil,
      claims: [
        Claim(
          transactionID: "1", environment: "Production", productID: "p", quantity: 1,
          purchasedAt: Timestamp(milliseconds: 1), match: .none)
      ])
    let answer = try await company.send(upload)
    #expect(answer.status == 503 && answer.retryAfter.flatMap { Int($0) } != nil)
    let unknown = await company.backend.order("A-1", of: AccountCredential(account: "alice", token: "t"))
    #expect(unknown == .failure(.refused(status: 404)))
  }

  @Test func `a receipt that the backend does not accept needs support, and is kept`() async throws {
    try await with { _, server, shop, wallet in
      server.state.withLock { $0.isPleased = false }
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale == .pending(.support) && wallet.outcomes.isEmpty)
      let kept = try await shop.syncEngine().snapshot().purchases.map(\.productID)
      #expect(kept == ["gems"])
    }
  }

  @Test func `no error and no dump of the adapter shows a token or a receipt`() async throws {
    let caller = BackendCaller(account: "alice", token: "secret-token")
    #expect(!String(reflecting: caller).contains("secret") && !"\(caller)".contains("secret"))
    var text = ""
    dump(caller, to: &text)
    #expect(!text.contains("secret"))
    struct Loud: Error { let text = "secret-token" }
    let company = AskedBackend(FailingBackend(error: Loud()))
    let upload = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .appReceipt, data: "c2VjcmV0"),
      claims: [
        Claim(
          transactionID: "1", environment: "Production", productID: "p", quantity: 1,
          purchasedAt: Timestamp(milliseconds: 1), match: .none)
      ])
    do throws(TransportError) {
      _ = try await company.send(upload)
      Issue.record("the error is lost")
    } catch {
      #expect(error.reason == "the backend failed with Loud")
    }
  }
}

private struct FailingBackend: PurchaseBackend {
  let error: any Error
  func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
    throw error
  }
}
