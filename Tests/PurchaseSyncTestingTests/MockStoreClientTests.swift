import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The store's routes, as the engine meets them.
struct MockStoreClientTests {
  private let token = UUID()

  private func client(_ world: WorldFixture, _ storeAccount: String = "a b&c") -> MockStoreClient {
    MockStoreClient(base: world.server.baseURL, storeAccount: storeAccount)
  }

  @Test func `a listing names its store account, and finish answers notListed for another's`() async throws {
    let world = try WorldFixture()
    let store = client(world)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: token)
    let listing = try await store.unfinished()
    #expect(listing.account == "a b&c")
    #expect(listing.transactions == [paid])
    #expect(try await client(world, "other").unfinished().transactions.isEmpty)
    #expect(try await client(world, "other").finish(transactionID: paid.transactionID) == .notListed)
    #expect(try await store.finish(transactionID: paid.transactionID) == .finished)
    #expect(try await store.unfinished().transactions.isEmpty)
  }

  @Test func `the store account of a device changes while the app runs`() async throws {
    let world = try WorldFixture()
    let phone = MockStoreClient(base: world.server.baseURL, device: "phone")
    #expect(try await phone.unfinished().account == nil)
    #expect(try await phone.receipt() == nil)
    await #expect(throws: TransportError.self) {
      try await phone.pay(product: "coins", quantity: 1, accountToken: nil)
    }
    let json = #"{"device":"phone","storeAccount":"a"}"#
    #expect(try await world.send("POST", "/store/sign-in", json: json).status == 200)
    let paid = try await phone.pay(product: "coins", quantity: 1, accountToken: nil)
    world.server.withStore { $0.signIn(device: "phone", storeAccount: "b") }
    #expect(try await phone.unfinished() == StoreListing(account: "b", transactions: []))
    #expect(try await phone.finish(transactionID: paid.transactionID) == .notListed)
    #expect(try world.server.snapshot().charges.map(\.isFinished) == [false])
    world.server.withStore { $0.signIn(device: "phone", storeAccount: "a") }
    #expect(try await phone.unfinished().transactions == [paid])
  }

  @Test func `after a restart the token is missing, and the app receipt is the only proof`() async throws {
    let world = try WorldFixture()
    world.server.withStore { $0.delivery = .tokenForgotten }
    let paid = try await client(world).pay(product: "coins", quantity: 1, accountToken: token)
    #expect(paid.accountToken == token)
    let restarted = client(world)
    let found = try #require(try await restarted.unfinished().transactions.first)
    #expect(found.accountToken == nil)
    #expect(found.key == paid.key)
    #expect(found.proof.kind == ProofKind.appReceipt.rawValue)
    let receipt = try AppReceipt(decoding: found.proof.bytes)
    #expect(receipt.inApp.map(\.transactionID) == [paid.transactionID])
    #expect(try await restarted.receipt() == found.proof.bytes)
    #expect(try world.server.snapshot().prompts == 0)
  }

  @Test func `a payment can say how it is delivered, over both interfaces and unverified`() async throws {
    let world = try WorldFixture()
    let store = client(world)
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
    let world = try WorldFixture()
    world.server.withStore { store in
      store.faults.failingRefreshes = 1
      store.faults.lackedPurchases = 1
      store.faults.lackingReadings = nil
    }
    let store = client(world)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: nil)
    let lacking = try #require(try await store.receipt())
    #expect(try AppReceipt(decoding: lacking).inApp.isEmpty)
    await #expect(throws: TransportError.self) { try await store.refreshReceipt() }
    let fresh = try #require(try await store.refreshReceipt())
    #expect(try AppReceipt(decoding: fresh).inApp.map(\.transactionID) == [paid.transactionID])
    #expect(try world.server.snapshot().prompts == 2)
    #expect(try world.server.snapshot().receiptReadings == 2)
  }

  @Test func `a finish that fails leaves the transaction, one whose answer is lost does not`() async throws {
    let world = try WorldFixture(
      faults: .finishFails(times: 2).merging(.finishAnswerLost(occurrence: 3)))
    let store = client(world)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: nil)
    for _ in 0..<2 {
      await #expect(throws: TransportError.self) { try await store.finish(transactionID: paid.transactionID) }
      #expect(try world.server.snapshot().charges.map(\.isFinished) == [false])
    }
    await #expect(throws: TransportError.self) { try await store.finish(transactionID: paid.transactionID) }
    #expect(try await store.unfinished().transactions.isEmpty)
    #expect(try await store.finish(transactionID: paid.transactionID) == .finished)
  }

  @Test func `a finish that hangs has finished when it gives up`() async throws {
    let world = try WorldFixture(faults: .finishHangs(times: 1, milliseconds: 1))
    let store = client(world)
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: nil)
    await #expect(throws: TransportError.self) { try await store.finish(transactionID: paid.transactionID) }
    #expect(try world.server.snapshot().charges.map(\.isFinished) == [true])
  }

  @Test func `a renewal and an upgrade are charged at the store and listed`() async throws {
    let world = try WorldFixture()
    let store = client(world)
    let paid = try await store.pay(product: "monthly", quantity: 1, accountToken: token)
    let id = paid.transactionID
    let renewal = try await world.send("POST", "/store/renewals", json: #"{"transactionID":"\#(id)"}"#)
    #expect(renewal.status == 200)
    let json = #"{"transactionID":"\#(id)","productID":"monthly"}"#
    #expect(try await world.send("POST", "/store/renewals", json: json).status == 200)
    let listed = try await store.unfinished().transactions
    #expect(listed.map(\.originalTransactionID) == [id, id, id])
    let unknown = try await world.send("POST", "/store/renewals", json: #"{"transactionID":"9"}"#)
    #expect(unknown.status == 404)
  }

  @Test(arguments: ["/store/receipt", "/store/unfinished", "/store/receipt?storeAccount="])
  func `who asks the store without a name is refused`(path: String) async throws {
    #expect(try await WorldFixture().send("GET", path).status == 400)
  }
}
