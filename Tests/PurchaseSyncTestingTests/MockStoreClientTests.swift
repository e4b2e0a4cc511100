import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The store's routes, as the engine uses them.
struct MockStoreClientTests {
  private let token = UUID()

  private func client(_ fixture: MockServerFixture, _ storeAccount: String = "a b&c") -> MockStoreClient {
    MockStoreClient(base: fixture.server.baseURL, storeAccount: storeAccount)
  }

  @Test func `a listing names its store account, and finish answers notListed for another's`() async throws {
    let fixture = try MockServerFixture()
    let store = client(fixture)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: token)
    let listing = try await store.unfinished()
    #expect(listing.account == "a b&c")
    #expect(listing.transactions == [paid])
    #expect(try await client(fixture, "other").unfinished().transactions.isEmpty)
    #expect(try await client(fixture, "other").finish(transactionID: paid.transactionID) == .notListed)
    #expect(try await store.finish(transactionID: paid.transactionID) == .finished)
    #expect(try await store.unfinished().transactions.isEmpty)
  }

  @Test func `the store account of a device changes while the app runs`() async throws {
    let fixture = try MockServerFixture()
    let phone = MockStoreClient(base: fixture.server.baseURL, device: "phone")
    #expect(try await phone.unfinished().account == nil)
    #expect(try await phone.receipt() == nil)
    await #expect(throws: TransportError.self) {
      try await phone.pay(product: "coins", quantity: 1, accountToken: nil)
    }
    let json = #"{"device":"phone","storeAccount":"a"}"#
    #expect(try await fixture.send("POST", "/store/sign-in", json: json).status == 200)
    let paid = try await phone.pay(product: "coins", quantity: 1, accountToken: nil)
    fixture.server.withStore { $0.signIn(device: "phone", storeAccount: "b") }
    #expect(try await phone.unfinished() == StoreListing(account: "b", transactions: []))
    #expect(try await phone.finish(transactionID: paid.transactionID) == .notListed)
    #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [false])
    fixture.server.withStore { $0.signIn(device: "phone", storeAccount: "a") }
    #expect(try await phone.unfinished().transactions == [paid])
  }

  @Test func `after a restart the token is missing, and the app receipt is the only proof`() async throws {
    let fixture = try MockServerFixture()
    fixture.server.withStore { $0.delivery = .tokenForgotten }
    let paid = try await client(fixture).pay(product: "coins", quantity: 1, accountToken: token)
    #expect(paid.accountToken == token)
    let restarted = client(fixture)
    let found = try #require(try await restarted.unfinished().transactions.first)
    #expect(found.accountToken == nil)
    #expect(found.key == paid.key)
    #expect(found.proof.kind == ProofKind.appReceipt.rawValue)
    let receipt = try AppReceipt(decoding: found.proof.bytes)
    #expect(receipt.inApp.map(\.transactionID) == [paid.transactionID])
    #expect(try await restarted.receipt() == found.proof.bytes)
    #expect(try fixture.server.snapshot().prompts == 0)
  }

  @Test func `a payment can say how it is delivered, over both interfaces and unverified`() async throws {
    let fixture = try MockServerFixture()
    let store = client(fixture)
    let kinds: [ProofKind] = [.signedTransaction, .appReceipt, .transactionReceipt]
    let delivery = StoreDelivery(proofs: kinds, isUnverified: true)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: token, delivery: delivery)
    #expect(!paid.isVerified)
    let listed = try await store.unfinished().transactions
    #expect(listed.map(\.proof.kind) == kinds.map(\.rawValue))
    #expect(Set(listed.map(\.key)) == [paid.key])
    #expect(listed.map(\.isVerified) == [false, true, true])
    let old = try TransactionReceipt(decoding: listed[2].proof.bytes)
    #expect(old.transactionID == paid.transactionID)
  }

  @Test func `a refresh prompts and may fail, a silent reading does neither`() async throws {
    let fixture = try MockServerFixture()
    fixture.server.withStore { store in
      store.faults.failingRefreshes = 1
      store.faults.lackedPurchases = 1
      store.faults.lackingReadings = nil
    }
    let store = client(fixture)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: nil)
    let lacking = try #require(try await store.receipt())
    #expect(try AppReceipt(decoding: lacking).inApp.isEmpty)
    await #expect(throws: TransportError.self) { try await store.refreshReceipt() }
    let fresh = try #require(try await store.refreshReceipt())
    #expect(try AppReceipt(decoding: fresh).inApp.map(\.transactionID) == [paid.transactionID])
    #expect(try fixture.server.snapshot().prompts == 2)
    #expect(try fixture.server.snapshot().receiptReadings == 2)
  }

  @Test func `a finish that fails leaves the transaction, one whose answer is lost does not`() async throws {
    let fixture = try MockServerFixture(
      faults: .finishFails(times: 2).merging(.finishAnswerLost(occurrence: 3)))
    let store = client(fixture)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: nil)
    for _ in 0..<2 {
      await #expect(throws: TransportError.self) { try await store.finish(transactionID: paid.transactionID) }
      #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [false])
    }
    await #expect(throws: TransportError.self) { try await store.finish(transactionID: paid.transactionID) }
    #expect(try await store.unfinished().transactions.isEmpty)
    #expect(try await store.finish(transactionID: paid.transactionID) == .finished)
  }

  @Test func `a finish that hangs has finished the transaction when it times out`() async throws {
    let fixture = try MockServerFixture(faults: .finishHangs(times: 1, for: .milliseconds(1)))
    let store = client(fixture)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: nil)
    await #expect(throws: TransportError.self) { try await store.finish(transactionID: paid.transactionID) }
    #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [true])
  }

  @Test func `a renewal and an upgrade are charged at the store and listed`() async throws {
    let fixture = try MockServerFixture()
    let store = client(fixture)
    let paid = try await store.pay(product: "monthly", quantity: 1, accountToken: token)
    let id = paid.transactionID
    let renewal = try await fixture.send("POST", "/store/renewals", json: #"{"transactionID":"\#(id)"}"#)
    #expect(renewal.status == 200)
    let json = #"{"transactionID":"\#(id)","productID":"monthly"}"#
    #expect(try await fixture.send("POST", "/store/renewals", json: json).status == 200)
    let listed = try await store.unfinished().transactions
    #expect(listed.map(\.originalTransactionID) == [id, id, id])
    let unknown = try await fixture.send("POST", "/store/renewals", json: #"{"transactionID":"9"}"#)
    #expect(unknown.status == 404)
  }

  @Test(arguments: ["/store/receipt", "/store/unfinished", "/store/receipt?storeAccount="])
  func `a request to the store without a device name is refused`(path: String) async throws {
    #expect(try await MockServerFixture().send("GET", path).status == 400)
  }
}
