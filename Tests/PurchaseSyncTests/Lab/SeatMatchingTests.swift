import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Seats on a device: whose they are, and which order they pay.
@Suite struct SeatMatchingTests {
  private static let seated = "team.monthly"

  /// A member's transaction, with or without its purchaser's token.
  private static func seat(_ id: String = "500", token: UUID? = nil, original: String? = nil)
    -> StoreTransaction
  {
    payment(id, token: token, product: seated, original: original) {
      $0.ownership = .assigned
      $0.expiresAt = midday.adding(milliseconds: inDays(30))
      $0.reason = .purchase
    }
  }

  /// A payment for seats.
  private static func paid(
    _ id: String, seats: Int, token: UUID?, original: String? = nil
  ) -> StoreTransaction {
    payment(id, token: token, product: seated, quantity: seats, original: original) {
      $0.expiresAt = midday.adding(milliseconds: inDays(30))
      $0.reason = .purchase
    }
  }

  private static func book(_ fill: (inout OrderBook) -> Void) -> OrderBook {
    var book = OrderBook()
    fill(&book)
    return book
  }

  // MARK: Whose it is

  @Test(arguments: [nil, orderToken(1), orderToken(9)] as [UUID?], UnclaimedPolicy.allCases)
  func `a seat pays no order, and is not its purchaser's, with and without the purchaser's token`(
    token: UUID?, policy: UnclaimedPolicy
  ) throws {
    let book = Self.book { $0.add(1, product: Self.seated) }
    for original in [nil, "100"] {
      let seat = Self.seat(token: token, original: original)
      let match = try OrderMatcher.match(
        seat, from: book, user: AppUser(account: "bob", policy: policy))
      #expect(match.kind == .none)
      #expect(match.lane == .device)
      #expect(match.transactionClass == .assigned)
      #expect(match.evidence == [.fulfilsNoOrder])
    }
  }

  @Test func `a seat does not inherit the owner of its purchaser's transaction`() throws {
    var book = Self.book { $0.add(1, product: Self.seated, quantity: 5) }
    #expect(try book.arrive(Self.paid("100", seats: 5, token: orderToken(1))).lane == .account("alice"))
    #expect(try book.arrive(Self.seat(original: "100")).lane == .device)
    #expect(try book.arrive(Self.seat("501", token: orderToken(1), original: "100")).lane == .device)
  }

  @Test func `a seat of a guest's subscription is no purchase of the guest`() throws {
    let token = UUID.guest(from: orderToken(3))
    #expect(try OrderMatcher.match(Self.seat(token: token), from: OrderBook()).evidence == [.fulfilsNoOrder])
  }

  @Test func `a seat that the store answers an order's sheet with is an earlier purchase`() {
    let order = PurchaseOrder(
      number: "1", accountToken: orderToken(1), account: "bob", productID: Self.seated, quantity: 1,
      state: .open, createdAt: midday.adding(milliseconds: -60_000))
    for token in [nil, orderToken(1), orderToken(2)] {
      var answer = SheetAnswer(transaction: Self.seat(token: token), order: order)
      answer.known = OrderRow(begun: order, by: .backend, at: midday)
      #expect(answer.kind == .earlier)
      #expect(!SheetAnswer.isNew(Self.seat(token: token), of: order))
    }
  }

  // MARK: Orders with seats

  @Test(arguments: [(5, 5), (5, 2), (1, 5), (5, 8)])
  func `an order of a subscription is paid by any number of seats`(ordered: Int, charged: Int) throws {
    var book = Self.book { $0.add(1, product: Self.seated, quantity: ordered) }
    let match = try book.arrive(Self.paid("200", seats: charged, token: orderToken(1), original: "100"))
    #expect(match.kind == .bound(orderNumber: "1"))
    #expect(match.lane == .account("alice"))
  }

  @Test func `of the orders of one token, the one of just as many seats comes first`() throws {
    var book = OrderBook()
    for (number, seats) in [("1", 3), ("2", 5)] {
      book.insert(
        OrderFacts(
          number: number, account: "alice", productID: Self.seated, quantity: seats,
          createdAt: midday.adding(milliseconds: -60_000)), accountToken: orderToken(1))
    }
    let match = try OrderMatcher.match(Self.paid("100", seats: 3, token: orderToken(1)), from: book)
    #expect(match.candidates == ["1", "2"])
    let added = try OrderMatcher.match(Self.paid("100", seats: 2, token: orderToken(1)), from: book)
    #expect(added.candidates == ["2", "1"])
  }

  @Test func `units have to agree as before`() throws {
    var book = Self.book { $0.add(1, quantity: 5) }
    #expect(try book.arrive(payment(token: orderToken(1), quantity: 2)).evidence.first == .tokenOrderDiffers)
  }

  @Test func `a verdict binds an order of more seats than were paid`() {
    let order = OrderFacts(
      number: "1", account: "alice", productID: Self.seated, quantity: 5, createdAt: midday)
    let key = Self.paid("200", seats: 2, token: nil).key
    for (quantity, isBound) in [(nil, true), (2, false)] as [(Int?, Bool)] {
      let binding = VerdictBinding(
        verdictOrder: "1", of: key, productID: Self.seated, quantity: quantity,
        known: KnownTransaction(lane: .device), order: order)
      #expect((binding == .bind(orderNumber: "1")) == isBound)
    }
  }

  // MARK: What a device keeps

  private static func signed(
    seats: Int, revoked: Int?, ownership: OwnershipType = .purchased, at second: Int64 = 0
  ) throws -> StoreTransaction {
    var record = StoreTransactionRecord(
      transactionID: "100", storeAccount: "apple", productID: seated, kind: .autoRenewable, quantity: seats,
      accountToken: nil, purchasedAt: midday, expiresAt: midday.adding(milliseconds: inDays(30)),
      environment: .production)
    record.invitations = revoked.map { _ in .apple }
    record.revokedSeats = revoked ?? 0
    if ownership == .assigned { record.cause = .assignedSeat }
    let forge = ReceiptForge(bundleID: "com.example.app")
    return try StoreTransaction(
      jws: forge.signedTransaction(record, signedAt: midday.adding(milliseconds: second * 1_000)))
  }

  @Test(
    arguments: [
      (0, 2, true), (2, 2, false), (2, 3, true), (2, 0, true), (2, nil, false), (nil, 0, false),
      (nil, 1, true),
    ] as [(Int?, Int?, Bool)])
  func `another number of refunded seats goes up again, and what says nothing of them does not`(
    known: Int?, now: Int?, isNews: Bool
  ) throws {
    let before = TransactionDetails(try Self.signed(seats: 5, revoked: known))
    let later = TransactionDetails(try Self.signed(seats: 5, revoked: now, at: 60))
    #expect(later.isNews(since: before, settledAs: .granted) == isNews)
    // An older proof is no news, whatever it says.
    #expect(!before.isNews(since: later, settledAs: .granted))
  }

  @Test(
    arguments: [
      (5, 0, OwnershipType.purchased, 5), (5, 2, .purchased, 3), (5, 9, .purchased, 0), (5, 0, .assigned, 1),
    ])
  func `an outcome gives the seats that are left, and a member one`(
    seats: Int, revoked: Int, ownership: OwnershipType, held: Int
  ) throws {
    let transaction = try Self.signed(seats: seats, revoked: revoked, ownership: ownership)
    let outcome = Outcome(
      of: transaction, .granted, account: "alice", settledAt: Date(timeIntervalSince1970: 0))
    #expect(outcome.isFulfilled)
    #expect(outcome.unitsHeld == held)
    #expect(outcome.amount(perUnit: 10) == held * 10)
    #expect(outcome.refundedUnits == nil)
  }

  @Test(arguments: [(0, false), (1, true), (100_000, true), (100_001, false)])
  func `an order of seats is checked before a payment`(seats: Int, isPossible: Bool) {
    let wish = OrderWish(account: "alice", product: Self.seated, seats: seats)
    do {
      try wish.checkQuantity()
      #expect(isPossible)
    } catch {
      #expect(!isPossible)
      #expect("\(error)".contains("seats"))
    }
  }
}
