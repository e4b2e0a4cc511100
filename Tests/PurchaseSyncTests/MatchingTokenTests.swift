import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What an account token proves: one for each order, one for each account, one that no order here has, and none.
@Suite struct MatchingTokenTests {
  private let alice = Lane.account("alice")
  private let token = orderToken(200)

  /// Orders of alice that have one token.
  private func add(
    _ number: Int, _ book: inout OrderBook, product: String = "gems", quantity: Int = 1,
    at offset: Int64 = -60_000,
    state: OrderState = .open
  ) {
    book.insert(
      OrderFacts(
        number: "\(number)", account: "alice", productID: product, quantity: quantity, state: state,
        createdAt: midday.adding(milliseconds: offset)), accountToken: token)
  }

  private func paid(_ id: String = "100", product: String = "gems", quantity: Int = 1, at offset: Int64 = 0)
    -> StoreTransaction
  {
    payment(id, token: token, product: product, quantity: quantity, at: offset)
  }

  // MARK: one token for each account

  @Test func `with one token for an account, product and quantity tell which order was paid`() throws {
    var book = OrderBook()
    add(1, &book)
    add(2, &book, product: "coins")
    add(3, &book, quantity: 3)
    for (transaction, number) in [
      (paid("100"), "1"), (paid("101", product: "coins"), "2"), (paid("102", quantity: 3), "3"),
    ] {
      let match = try book.arrive(transaction)
      #expect(match.kind == .bound(orderNumber: number))
      #expect(match.lane == alice)
      #expect(match.evidence == [.accountToken])
    }
  }

  @Test func `of several orders with one token those made before the payment are proposed, the latest first`()
    throws
  {
    var book = OrderBook()
    add(1, &book, at: inMinutes(-90), state: .deferred)
    add(2, &book, at: inMinutes(-5))
    add(3, &book, at: inMinutes(-60), state: .cancelled)
    add(4, &book, at: 30_000)
    // Made after the payment, or done.
    add(5, &book, at: 60_001)
    add(6, &book, at: inMinutes(-3), state: .delivered)
    let match = try book.arrive(paid())
    #expect(match.kind == .proposed(candidates: ["2", "1", "4", "3"]))
    #expect(match.lane == alice)
    #expect(match.evidence == [.accountToken, .positionByTime])
  }

  @Test func `the sheet that returned the payment tells its order`() throws {
    var book = OrderBook()
    add(1, &book, at: inMinutes(-90))
    add(2, &book, at: inMinutes(-5))
    var user = AppUser()
    user.paidOrder = "1"
    #expect(try OrderMatcher.match(paid(), from: book, user: user).kind == .bound(orderNumber: "1"))
    // Nothing but an order with the token.
    user.paidOrder = "9"
    #expect(try OrderMatcher.match(paid(), from: book, user: user).candidates == ["2", "1"])
  }

  @Test func `an order that has its payment leaves the others with its token`() throws {
    var book = OrderBook()
    add(1, &book, at: inMinutes(-90))
    add(2, &book, at: inMinutes(-5))
    try book.bind(EntryKey(rawValue: "Production/7"), to: "2", lane: alice)
    #expect(try book.arrive(paid()).kind == .bound(orderNumber: "1"))
    let third = try book.arrive(paid("101"))
    #expect(third.kind == .none && third.lane == alice)
    #expect(third.evidence == [.tokenOrderTaken, .ownerByToken])
  }

  @Test func `the number of orders with one token that are proposed is limited`() throws {
    var book = OrderBook()
    for number in 1...40 { add(number, &book, at: -Int64(number)) }
    let match = try OrderMatcher.match(paid(), from: book)
    #expect(match.candidates == (1...16).map(String.init))
    #expect(match.evidence == [.accountToken, .positionByTime, .moreCandidates])
  }

  @Test(arguments: [(inDays(1), true), (inDays(1) + 1, false), (-inDays(60), true)])
  func `a payment from long before the only order with its token is another one`(made: Int64, isPaid: Bool)
    throws
  {
    var book = OrderBook()
    add(1, &book, at: made)
    let match = try book.arrive(paid())
    #expect((match.orderNumber == "1") == isPaid)
    #expect(match.lane == alice)
  }

  @Test func `the time of an order that a device with a wrong clock made says nothing`() throws {
    var book = OrderBook()
    let number = "device-" + UUID().uuidString
    book.insert(
      OrderFacts(
        number: number, account: "alice", productID: "gems", quantity: 1,
        createdAt: midday.adding(milliseconds: inDays(365))), accountToken: token)
    #expect(try book.arrive(paid()).kind == .bound(orderNumber: number))
  }

  @Test func `a renewal with the token of an account belongs to it, and takes no order`() throws {
    var book = OrderBook()
    add(1, &book, product: "gold")
    add(2, &book, product: "gold", at: inDays(29))
    let match = try book.arrive(laterPeriod(token: token, reason: .renewal))
    #expect(match.kind == .none && match.lane == alice)
    #expect(match.evidence == [.fulfilsNoOrder, .ownerByToken])
  }

  // MARK: a token that no order here has

  @Test func `an unknown token goes by the app's policy, and the app is asked first if it can be`() throws {
    let book = OrderBook()
    let unknown = payment(token: orderToken(9))
    func match(_ policy: UnclaimedPolicy, isAsked: Bool = false) throws -> OrderMatch {
      var user = AppUser(account: "bob", policy: policy)
      user.isAskedAboutTokens = isAsked
      return try OrderMatcher.match(unknown, from: book, user: user)
    }
    #expect(try match(.device).evidence == [.tokenUnknown])
    let signedIn = try match(.signedInAccount)
    #expect(signedIn.lane == .account("bob") && signedIn.evidence == [.tokenUnknown, .ownerSignedIn])
    #expect(try match(.ask).evidence == [.tokenUnknown, .ownerAsked])
    for policy in UnclaimedPolicy.allCases {
      let asked = try match(policy, isAsked: true)
      #expect(asked.lane == .device && asked.evidence == [.tokenUnknown, .appIsAsked])
      // A guest's token is known by itself: no one is asked, and no signed-in account gets it.
      var user = AppUser(account: "bob", policy: policy)
      user.isAskedAboutTokens = true
      let guests = try OrderMatcher.match(payment(token: .guest(from: UUID())), from: book, user: user)
      #expect(guests.lane == .device && guests.evidence == [.tokenUnknown, .guest])
    }
  }

  @Test func `the policy gives nothing to an account whose name does not fit in the queue`() throws {
    let user = AppUser(account: String(repeating: "a", count: 1_025), policy: .signedInAccount)
    #expect(try OrderMatcher.match(payment(), from: OrderBook(), user: user).lane == .device)
  }

  @Test func `without the policy, a renewal that matches nothing is not the signed-in account's`() throws {
    for transaction in [laterPeriod(reason: .renewal), laterPeriod(token: orderToken(9), reason: .renewal)] {
      let match = try OrderMatcher.match(transaction, from: OrderBook(), user: AppUser(account: "bob"))
      #expect(match.lane == .device)
      #expect(!match.evidence.contains(.ownerSignedIn))
    }
  }

  // MARK: no token

  @Test func `a signed payment without a token was not paid through the sheet of an open order`() throws {
    var book = OrderBook()
    book.add(1)
    let signed = payment { $0.proof.kind = ProofKind.signedTransaction.rawValue }
    let match = try OrderMatcher.match(signed, from: book)
    #expect(match.kind == .none && match.lane == .device && match.evidence == [.notFromSheet])
    let user = AppUser(account: "bob", policy: .signedInAccount)
    let bobs = try OrderMatcher.match(signed, from: book, user: user)
    #expect(bobs.lane == .account("bob") && bobs.evidence == [.notFromSheet, .ownerSignedIn])
    // A sheet of the app's own that forgets the token returns it all the same.
    book.add(2, account: "bob")
    var seller = AppUser()
    seller.paidOrder = "1"
    let sold = try OrderMatcher.match(signed, from: book, user: seller)
    #expect(sold.candidates == ["1"] && sold.lane == alice)
    // The original API can have lost the token.
    book = OrderBook()
    book.add(1)
    for kind in [ProofKind.appReceipt, .transactionReceipt] {
      let match = try OrderMatcher.match(payment { $0.proof.kind = kind.rawValue }, from: book)
      #expect(match.candidates == ["1"])
    }
  }

  // MARK: an original id that changed

  @Test func `a chain that got another original id keeps its owner`() throws {
    var book = OrderBook()
    book.add(1, product: "gold")
    _ = try book.arrive(payment(token: orderToken(1), product: "gold"))
    let moved = payment("300", product: "gold", at: inDays(30), original: "290") {
      $0.expiresAt = $0.purchasedAt.adding(milliseconds: inDays(30))
      $0.previousOriginalTransactionID = "100"
    }
    let match = try book.arrive(moved)
    #expect(match.lane == alice)
    #expect(match.evidence == [.fulfilsNoOrder, .ownerByOriginal])
    // The first transaction under the new id, which is its own original.
    let first = payment("290", product: "gold") {
      $0.proof.kind = ProofKind.signedTransaction.rawValue
      $0.previousOriginalTransactionID = "100"
    }
    #expect(try book.arrive(first).lane == alice)
  }
}
