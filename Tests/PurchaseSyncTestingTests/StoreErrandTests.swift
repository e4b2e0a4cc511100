import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// A backend that finishes at the store what it has granted, and grants what the store reports.
struct StoreErrandTests {
  /// A fixture whose backend gets notifications, and finishes.
  private func fixture(finishes: Bool = true) throws -> MockServerFixture {
    let fixture = try MockServerFixture()
    fixture.server.withStore { $0.notifications.versions = [.two] }
    fixture.server.finishAtStore(finishes)
    return fixture
  }

  /// Posts the due notifications; the statuses of the answers.
  private func post(_ fixture: MockServerFixture) async throws -> [Int] {
    var statuses: [Int] = []
    let moment = fixture.server.moment
    for notification in fixture.server.withStore({ $0.takeNotifications(now: moment) }) {
      let reply = try await fixture.send("POST", "/v1/notifications/appstore", json: notification.body)
      statuses.append(reply.status)
      fixture.server.withStore {
        $0.settleNotification(id: notification.id, status: reply.status, now: moment)
      }
    }
    return statuses
  }

  private func owners(_ fixture: MockServerFixture) throws -> [Uploader] {
    try fixture.server.snapshot().creditOwners
  }

  private func redeem(_ fixture: MockServerFixture, product: String = "monthly") throws -> String {
    let now = fixture.server.moment
    return try fixture.server.withStore { (store) throws(StoreModelError) in
      try store.redeem(offerCode: "spring", product: product, storeAccount: "apple", now: now).transactionID
    }
  }

  @Test func `a purchase that no device sends is granted by its notification, then finished`() async throws {
    let fixture = try fixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    #expect(try await post(fixture) == [200])
    #expect(try owners(fixture) == [.account("alice")])
    let snapshot = try fixture.server.snapshot()
    #expect(snapshot.charges.map(\.isFinished) == [true] && snapshot.doubledCredits == 0)
    #expect(snapshot.orders.map(\.fulfilledBy?.transactionID) == [payment.transactionID])
    // The device comes back after all: the same verdict, and a finish that changes nothing.
    let verdict = try await fixture.upload(payment, order: order.number)
    #expect(verdict?.verdict == .duplicate && verdict?.owner == .yours)
    let finish = #"{"transactionIDs":["\#(payment.transactionID)"],"storeAccount":"apple"}"#
    #expect(try await fixture.send("POST", "/store/finish", json: finish).status == 200)
    #expect(try owners(fixture).count == 1)
  }

  @Test func `the time line does not say that the app finished what the backend finished`() async throws {
    struct Line: Decodable {
      struct Entry: Decodable, Equatable {
        var at: Timestamp?
        var who, what: String
      }
      var entries: [Entry]
    }
    let fixture = try fixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    _ = try await post(fixture)
    let reply = try await fixture.send("GET", "/admin/transactions/" + payment.transactionID)
    let entries = try reply.decode(Line.self).entries
    let finish = try #require(entries.first { $0.what.hasPrefix("finished the transaction") })
    #expect(finish.who == "backend" && finish.at != nil)
    let verdict = try #require(entries.first { $0.what.contains("verdict granted") })
    #expect(verdict.what.hasPrefix("the store's notification, for alice: verdict granted"))
    #expect(!entries.contains { $0.who == "app" })
    // The device's own finish comes later, and changes nothing.
    let own = #"{"transactionIDs":["\#(payment.transactionID)"],"storeAccount":"apple"}"#
    _ = try await fixture.send("POST", "/store/finish", json: own)
    let again = try await fixture.send("GET", "/admin/transactions/" + payment.transactionID)
    #expect(try again.decode(Line.self).entries == entries)
    let other = try await fixture.pay(product: "pro")
    let later = #"{"transactionIDs":["\#(other.transactionID)"],"storeAccount":"apple"}"#
    _ = try await fixture.send("POST", "/store/finish", json: later)
    let line = try await fixture.send("GET", "/admin/transactions/" + other.transactionID)
    let app = try line.decode(Line.self).entries.last { $0.who == "app" }
    #expect(app?.what == "finished the transaction" && app?.at != nil)
  }

  @Test func `an uploaded purchase is finished too, and one that was not granted is not`() async throws {
    let fixture = try fixture()
    let order = try await fixture.order()
    let granted = try await fixture.pay(token: order.accountToken)
    let other = try await fixture.pay(product: "pro")
    _ = try await fixture.upload(granted, order: order.number)
    let finished = try fixture.server.snapshot().charges.filter(\.isFinished).map(\.transactionID)
    #expect(finished == [granted.transactionID] && finished != [other.transactionID])
  }

  @Test func `without the option the store is left alone`() async throws {
    let fixture = try fixture(finishes: false)
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    _ = try await post(fixture)
    #expect(try owners(fixture).isEmpty)
    _ = try await fixture.upload(payment, order: order.number)
    #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [false])
  }

  @Test func `an offer code of a known customer gets that account's token, and its renewals keep it`()
    async throws
  {
    let fixture = try fixture()
    let order = try await fixture.order()
    _ = try await fixture.upload(try await fixture.pay(token: order.accountToken), order: order.number)
    let code = try redeem(fixture)
    _ = try await post(fixture)
    #expect(try owners(fixture) == [.account("alice"), .account("alice")])
    let token = try #require(fixture.server.withStore { $0.transaction(code)?.accountToken })
    #expect(try fixture.server.snapshot().orders.last?.accountToken == token)
    let now = fixture.server.moment
    let renewed = try fixture.server.withStore { (store) throws(StoreModelError) in
      try store.renew(transactionID: code, now: now)
    }
    #expect(renewed.accountToken == token)
    _ = try await post(fixture)
    #expect(try owners(fixture) == [.account("alice"), .account("alice"), .account("alice")])
    #expect(try fixture.server.snapshot().charges.allSatisfy(\.isFinished))
  }

  @Test func `a stranger who names the id of a customer's purchase is not that customer's account`()
    async throws
  {
    let fixture = try fixture()
    let first = try await fixture.pay()
    let verdict = try await fixture.upload(first, headers: MockServerFixture.bearer("bob"), withProof: false)
    #expect(verdict?.verdict == .unknownTransaction && verdict?.reason == "a proof is needed")
    _ = try redeem(fixture)
    _ = try await post(fixture)
    #expect(try owners(fixture).isEmpty)
    #expect(try fixture.server.snapshot().charges.allSatisfy { !$0.isFinished })
  }

  @Test func `an offer code of an unknown customer, or of one with two accounts, waits for a device`()
    async throws
  {
    let fixture = try fixture()
    let code = try redeem(fixture)
    _ = try await post(fixture)
    #expect(try owners(fixture).isEmpty)
    for account in ["alice", "bob"] {
      let order = try await fixture.order(account, key: account)
      _ = try await fixture.upload(
        try await fixture.pay(token: order.accountToken), headers: MockServerFixture.bearer(account),
        order: order.number)
    }
    _ = try redeem(fixture, product: "pro")
    _ = try await post(fixture)
    #expect(Set(try owners(fixture)) == [.account("alice"), .account("bob")])
    #expect(try owners(fixture).count == 2)
    #expect(fixture.server.withStore { $0.transaction(code)?.isFinished } == false)
    #expect(fixture.server.withStore { $0.transaction(code)?.accountToken } == nil)
  }

  @Test func `nothing is finished and no token is set before the grant is durable`() async throws {
    let fixture = try fixture()
    let first = try await fixture.order()
    _ = try await fixture.upload(try await fixture.pay(token: first.accountToken), order: first.number)
    #expect(try await post(fixture) == [200])
    let second = try await fixture.order(key: "k2")
    let paid = try await fixture.pay(token: second.accountToken).transactionID
    let code = try redeem(fixture)
    try fixture.server.refuseWrites(true)
    #expect(try await post(fixture) == [500, 500])
    for id in [paid, code] {
      #expect(fixture.server.withStore { $0.transaction(id)?.isFinished } == false)
    }
    #expect(fixture.server.withStore { $0.transaction(code)?.accountToken } == nil)
    try fixture.server.refuseWrites(false)
    fixture.server.moveClock(by: .seconds(3_601))
    #expect(try await post(fixture) == [200, 200])
    for id in [paid, code] {
      #expect(fixture.server.withStore { $0.transaction(id)?.isFinished } == true)
    }
    #expect(try owners(fixture).count == 3)
  }

  @Test func `a process that ended between commit and store goes on when the notification comes again`()
    async throws
  {
    let fixture = try fixture()
    let order = try await fixture.order()
    _ = try await fixture.upload(try await fixture.pay(token: order.accountToken), order: order.number)
    _ = try await post(fixture)
    let code = try redeem(fixture)
    let body = try #require(fixture.server.withStore { $0.notifications.waiting.last?.body })
    #expect(try await post(fixture) == [200])
    let token = try #require(fixture.server.withStore { $0.transaction(code)?.accountToken })
    fixture.server.mock.withLock { mock in
      guard let index = mock.store.transactions.firstIndex(where: { $0.transactionID == code }) else {
        return
      }
      mock.store.amend(index) { record in
        record.accountToken = nil
        record.isFinished = false
      }
    }
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", json: body).status == 200)
    let record = try #require(fixture.server.withStore { $0.transaction(code) })
    #expect(record.accountToken == token && record.isFinished)
    #expect(try owners(fixture).count == 2)
  }
}
