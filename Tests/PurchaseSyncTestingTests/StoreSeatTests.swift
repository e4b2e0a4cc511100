import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The model of the store: subscriptions for several people.
struct StoreSeatTests {
  private static func store(_ host: InvitationManagement = .apple) -> StoreModel {
    var product = StoreProduct(
      subscription: "team", groupID: "team", period: .milliseconds(30 * Sample.day), price: 1_000)
    product.invitations = host
    var store = StoreModel(products: Sample.products + [product], forge: Sample.forge)
    store.notifications.versions = [.two]
    return store
  }

  private static func day(_ number: Int64) -> Timestamp {
    Sample.now.adding(milliseconds: number * Sample.day)
  }

  @discardableResult
  private static func pay(
    _ store: inout StoreModel, seats: Int, day: Int64 = 0, token: UUID? = nil
  ) throws -> StoreTransactionRecord {
    try store.pay(
      product: "team", quantity: seats, accountToken: token, storeAccount: "alice", now: Self.day(day))
  }

  private static func kinds(_ store: inout StoreModel, day: Int64) -> [String] {
    store.takeNotifications(now: Self.day(day)).map { $0.kind + ($0.subtype.map { "/" + $0 } ?? "") }
  }

  private static func signed(_ store: StoreModel, _ id: String) throws -> SignedTransaction {
    try SignedTransaction(jws: store.signedTransaction(for: id, now: Sample.now))
  }

  @Test func `a payment is for the seats in all, and charges those that are missing`() throws {
    var store = Self.store()
    let first = try Self.pay(&store, seats: 8)
    let added = try Self.pay(&store, seats: 12, day: 10)
    #expect(added.quantity == 4)
    #expect(added.originalTransactionID == first.transactionID)
    #expect(added.expiresAt == first.expiresAt)
    for id in [first.transactionID, added.transactionID] {
      let signed = try Self.signed(store, id)
      #expect(signed.additionalReason == .seatAddition)
      #expect(signed.isUpgraded == false)
      #expect(signed.multiSeatInfo?.invitations == .apple)
      #expect(signed.price == 1_000)
      #expect(signed.reason == .purchase)
    }
    #expect(store.charges.map(\.price) == [8_000, 4_000])
    #expect(
      Self.kinds(&store, day: 10) == ["SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY"])
    #expect(throws: StoreModelError.seatReduction("team")) { try Self.pay(&store, seats: 11, day: 11) }
    #expect(throws: StoreModelError.alreadySubscribed("team")) { try Self.pay(&store, seats: 12, day: 11) }
    #expect(throws: StoreModelError.invalidQuantity(2, productID: "monthly")) {
      try store.pay(
        product: "monthly", quantity: 2, accountToken: nil, storeAccount: "alice", now: Self.day(11))
    }
    // One transaction pays for all of them at the renewal.
    store.advance(to: Self.day(30))
    #expect(store.charges.map(\.quantity) == [8, 4, 12])
    #expect(store.charges.last?.isOneOfSeveral == false)
  }

  @Test func `fewer seats begin with the next period, and added ones undo a part of it`() throws {
    var store = Self.store()
    let first = try Self.pay(&store, seats: 5)
    try store.setRenewalSeats(2, transactionID: first.transactionID, now: Self.day(1))
    #expect(store.renewal(of: first.transactionID)?.seats == 2)
    try Self.pay(&store, seats: 6, day: 2)
    #expect(store.renewal(of: first.transactionID)?.seats == 3)
    store.advance(to: Self.day(31))
    #expect(store.charges.map(\.quantity) == [5, 1, 3])
    #expect(Self.kinds(&store, day: 2).contains("DID_CHANGE_RENEWAL_PREF/DECREASE_QUANTITY"))
  }

  @Test func `some seats are refunded without an end, and all of them with one`() throws {
    var store = Self.store()
    let first = try Self.pay(&store, seats: 3)
    try store.finish(transactionID: first.transactionID)
    try store.refundSeats(transactionID: first.transactionID, 2, now: Self.day(1))
    let signed = try Self.signed(store, first.transactionID)
    #expect(signed.revocationDate == nil)
    #expect(signed.multiSeatInfo?.revokedSeats == 2)
    #expect(signed.seats == 1)
    #expect(store.unfinished(storeAccount: "alice").map(\.transactionID) == [first.transactionID])
    #expect(store.subscription(of: first.transactionID)?.isEntitled == true)
    #expect(Self.kinds(&store, day: 1).last == "REFUND/SEATS")
    #expect(throws: StoreModelError.invalidSeats(first.transactionID)) {
      try store.refundSeats(transactionID: first.transactionID, 1, now: Self.day(1))
    }
    try store.reverseRefund(transactionID: first.transactionID, now: Self.day(2))
    #expect(store.transaction(first.transactionID)?.unitsPaid == 3)
    try store.refund(transactionID: first.transactionID, now: Self.day(3))
    #expect(store.subscription(of: first.transactionID)?.isEntitled == false)
  }

  @Test func `a period ends when each of its transactions is refunded`() throws {
    var store = Self.store()
    let first = try Self.pay(&store, seats: 3)
    let added = try Self.pay(&store, seats: 5, day: 1)
    try store.refund(transactionID: first.transactionID, now: Self.day(2))
    #expect(store.subscription(of: first.transactionID)?.isEntitled == true)
    try store.refund(transactionID: added.transactionID, now: Self.day(3))
    #expect(store.subscription(of: first.transactionID)?.isEntitled == false)
    try store.reverseRefund(transactionID: added.transactionID, now: Self.day(4))
    #expect(store.subscription(of: first.transactionID)?.isEntitled == true)
  }

  @Test(arguments: [false, true])
  func `a member has a transaction with the purchaser's seats, also after a renewal`(
    carriesToken: Bool
  ) throws {
    var store = Self.store()
    let token = UUID()
    let first = try Self.pay(&store, seats: 3, token: token)
    try store.assignSeat(of: first.transactionID, to: "bob", carriesToken: carriesToken, now: Self.day(1))
    store.advance(to: Self.day(30))
    let seats = store.transactions(storeAccount: "bob")
    #expect(seats.count == 2)
    for seat in seats {
      let signed = try Self.signed(store, seat.transactionID)
      #expect(signed.ownership == .assigned)
      #expect(signed.quantity == 3)
      #expect(signed.seats == 1)
      #expect((signed.appAccountToken != nil) == carriesToken)
      #expect(signed.originalTransactionID == seats[0].transactionID)
    }
    #expect(store.charges.allSatisfy { $0.storeAccount == "alice" })
    try store.unassignSeat(of: first.transactionID, from: "bob", now: Self.day(31))
    #expect(store.transactions(storeAccount: "bob").map(\.revokedAt) == [nil, Self.day(31)])
    store.advance(to: Self.day(60))
    #expect(store.transactions(storeAccount: "bob").count == 2)
  }

  @Test func `there are no more members than seats, and a refund of seats takes the last ones'`() throws {
    var store = Self.store()
    let id = try Self.pay(&store, seats: 3).transactionID
    for member in ["bob", "carol"] { try store.assignSeat(of: id, to: member, now: Self.day(1)) }
    for member in ["dave", "bob", "alice", ""] {
      #expect(throws: StoreModelError.invalidSeats(id)) {
        try store.assignSeat(of: id, to: member, now: Self.day(1))
      }
    }
    try store.refundSeats(transactionID: id, 1, now: Self.day(2))
    #expect(store.transactions(storeAccount: "bob").map(\.revokedAt) == [nil])
    #expect(store.transactions(storeAccount: "carol").map(\.revokedAt) == [Self.day(2)])
    // Fewer seats renew than members have.
    try store.setRenewalSeats(1, transactionID: id, now: Self.day(3))
    store.advance(to: Self.day(31))
    #expect(store.transactions(storeAccount: "bob").count == 1)
  }

  @Test func `a store with seats is kept in its file`() throws {
    var store = Self.store()
    let id = try Self.pay(&store, seats: 3).transactionID
    try store.assignSeat(of: id, to: "bob", now: Self.day(1))
    try store.refundSeats(transactionID: id, 1, now: Self.day(2))
    let copy = try JSONDecoder().decode(StoreModel.self, from: JSONEncoder().encode(store))
    #expect(copy.transactions == store.transactions)
    #expect(copy.seats.values == store.seats.values)
  }

  // MARK: Invitations that the app hosts

  @Test func `a claim of a seat is repeated by its request, and ends with it or with a refund`() throws {
    var store = Self.store(.developer)
    let id = try Self.pay(&store, seats: 3).transactionID
    let first = try store.claimSeat(of: id, request: "1", appTransactionID: nil)
    #expect(try store.claimSeat(of: id, request: "1", appTransactionID: nil) == first)
    let second = try store.claimSeat(of: id, request: "2", appTransactionID: nil)
    #expect(first != second)
    #expect(try store.seatInfo(of: id).claims == [first, second])
    #expect(try store.seatInfo(of: id).available == 0)
    #expect(throws: ServerAPIError.noAvailableSeats) {
      try store.claimSeat(of: id, request: "3", appTransactionID: nil)
    }
    #expect(throws: ServerAPIError.seatClaimNotFound) { try store.unclaimSeat("unknown", of: id) }
    let customer = store.appTransactionID(of: "alice")
    try store.associateSeat(first, of: id, with: customer)
    #expect(try store.groups(of: customer) == [id])
    #expect(store.members(of: id) == [customer, customer])
    // Fewer seats renew than are claimed, and the store takes none back.
    try store.setRenewalSeats(1, transactionID: id, now: Self.day(1))
    store.advance(to: Self.day(31))
    #expect(try store.seatInfo(of: id).total == 1)
    #expect(try store.seatInfo(of: id).claims.count == 2)
    #expect(try store.seatInfo(of: id).available == 0)
    try store.unclaimSeat(second, of: id)
    #expect(try store.seatInfo(of: id).claims == [first])
  }

  @Test func `a refund of seats takes claims back, and the notification names them`() throws {
    var store = Self.store(.developer)
    let id = try Self.pay(&store, seats: 3).transactionID
    _ = try store.claimSeat(of: id, request: "1", appTransactionID: nil)
    let lost = try store.claimSeat(of: id, request: "2", appTransactionID: nil)
    try store.refundSeats(transactionID: id, 1, now: Self.day(1))
    let told = try #require(store.takeNotifications(now: Self.day(1)).last)
    #expect(told.kind == "UNCLAIM_SEATS")
    let notification = try ServerNotificationV2(json: Data(told.body.utf8))
    #expect(notification.unclaimInfo?.seatClaimIDs == [lost])
    #expect(notification.bundleID == Sample.bundleID)
    #expect(throws: StoreModelError.noSubscription(id)) {
      try store.assignSeat(of: id, to: "bob", now: Self.day(1))
    }
    #expect(throws: ServerAPIError.noHostedGroup) {
      var other = Self.store()
      let id = try Self.pay(&other, seats: 3).transactionID
      _ = try other.claimSeat(of: id, request: "1", appTransactionID: nil)
    }
  }
}
