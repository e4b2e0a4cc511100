import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Each rule of matching, by name.
@Suite struct MatchingDecisionTests {
  private let alice = Lane.account("alice")

  private func book(_ fill: (inout OrderBook) -> Void) -> OrderBook {
    var book = OrderBook()
    fill(&book)
    return book
  }

  // MARK: bound

  @Test(arguments: [
    OrderState.open, .deferred, .cancelled, .expired, .paid, OrderState(rawValue: "new word"),
  ])
  func `a token binds its order in any state, because the user paid`(state: OrderState) throws {
    var book = book { $0.add(1, state: state) }
    let match = try book.arrive(payment(token: orderToken(1)))
    #expect(match.kind == .bound(orderNumber: "1") && match.lane == alice)
    #expect(match.evidence == [.accountToken] && match.transactionClass == .purchase)
    #expect(book.order("1")?.boundTo == payment().key)
  }

  @Test func `a redelivery keeps its binding, even without the order and the token`() throws {
    var book = book { $0.add(1) }
    _ = try book.arrive(payment(token: orderToken(1)))
    for again in [payment(token: orderToken(1)), payment(), payment { $0.revokedAt = midday }] {
      let match = try book.arrive(again)
      #expect(match.kind == .bound(orderNumber: "1") && match.lane == alice)
      #expect(match.evidence == [.boundBefore])
    }
    var other = OrderBook()
    try other.bind(payment().key, to: "of another device", lane: .device)
    #expect(try other.arrive(payment()).kind == .bound(orderNumber: "of another device"))
  }

  @Test func `a transaction that was revoked or upgraded before its arrival binds as before`() throws {
    for mark in [\StoreTransaction.revokedAt, \.expiresAt] {
      var book = book { $0.add(1) }
      let match = try book.arrive(payment(token: orderToken(1)) { $0[keyPath: mark] = midday })
      #expect(match.kind == .bound(orderNumber: "1"))
    }
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(1)) { $0.isUpgraded = true })
    #expect(match.kind == .bound(orderNumber: "1") && match.transactionClass == .upgrade)
  }

  @Test func `a change of plan that was bought in the app fulfils its own order`() throws {
    var book = book { $0.add(2, product: "gold", at: inDays(30) - 1) }
    let match = try book.arrive(laterPeriod(token: orderToken(2), reason: .purchase))
    #expect(match.kind == .bound(orderNumber: "2") && match.transactionClass == .upgrade)
  }

  @Test func `an order that becomes known later is filled in, and the entry stays in the device lane`() throws
  {
    var book = OrderBook()
    let before = try book.arrive(payment(token: orderToken(1)))
    #expect(before.kind == .none && before.lane == .device && before.evidence == [.tokenUnknown])
    book.add(1)
    let after = try book.arrive(payment(token: orderToken(1)))
    #expect(after.kind == .bound(orderNumber: "1") && after.lane == .device)
    #expect(after.evidence == [.accountToken])
  }

  @Test func `an unverified transaction is matched like any other`() throws {
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(1)) { $0.isVerified = false })
    #expect(match.kind == .bound(orderNumber: "1"))
  }

  // MARK: a token that does not bind

  @Test func `a payment that differs from its token's order is the account's, and the order stays as it is`()
    throws
  {
    var book = book { $0.add(1) }
    for wrong in [
      payment(token: orderToken(1), product: "coins"), payment("101", token: orderToken(1), quantity: 2),
    ] {
      let match = try book.arrive(wrong)
      #expect(match.kind == .none && match.lane == alice)
      #expect(match.evidence == [.tokenOrderDiffers, .ownerByToken])
      #expect(book.order("1")?.boundTo == nil && book.order("1")?.state == .open)
    }
    #expect(try book.arrive(payment("102", token: orderToken(1))).kind == .bound(orderNumber: "1"))
  }

  @Test func `a transaction with a token is never proposed`() throws {
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(9)))
    #expect(match.kind == .none && match.lane == .device && match.evidence == [.tokenUnknown])
  }

  @Test func `of two payments with one token the first gets the order, and both get its owner`() throws {
    var book = book { $0.add(1) }
    _ = try book.arrive(payment(token: orderToken(1)))
    let second = try book.arrive(payment("101", token: orderToken(1)))
    #expect(second.kind == .none && second.lane == alice)
    #expect(second.evidence == [.tokenOrderTaken, .ownerByToken])
    let again = try book.arrive(payment("101", token: orderToken(1)))
    #expect(again.kind == .none && again.lane == alice)
    #expect(again.evidence == [.tokenOrderTaken, .ownerBefore])
  }

  @Test func `no claim is uploaded in another account's name`() throws {
    // One interface delivers it without a token, and it is proposed in bob's lane. The other then shows alice's token.
    var book = book { $0.add(2, account: "bob") }
    #expect(try book.arrive(payment()).lane == .account("bob"))
    book.add(1)
    let match = try book.arrive(payment(token: orderToken(1)))
    #expect(match.kind == .none && match.lane == .account("bob"))
    #expect(match.evidence == [.tokenOrderOfAnotherAccount, .ownerBefore])
  }

  // MARK: owners

  @Test(arguments: [TransactionReason.renewal, .purchase])
  func `later transactions of a chain inherit the owner and fulfil no order`(reason: TransactionReason) throws
  {
    var book = book {
      $0.add(1, product: "gold")
      $0.add(2, product: "gold", at: inDays(30) - 1)
    }
    _ = try book.arrive(payment(token: orderToken(1), product: "gold"))
    let match = try book.arrive(laterPeriod(reason: reason))
    #expect(match.kind == .none && match.lane == alice)
    #expect(match.evidence == [.fulfilsNoOrder, .ownerByOriginal])
  }

  @Test func `a renewal that arrives before its original does not take the original's order`() throws {
    var book = book { $0.add(1, product: "gold") }
    let renewal = try book.arrive(laterPeriod(token: orderToken(1), reason: .renewal))
    #expect(renewal.kind == .none && renewal.lane == alice)
    #expect(renewal.evidence == [.fulfilsNoOrder, .ownerByToken])
    let original = try book.arrive(payment(token: orderToken(1), product: "gold"))
    #expect(original.kind == .bound(orderNumber: "1"))
  }

  @Test func `a batch is sorted so that owners are known, in any order of the store`() throws {
    let batch = [
      payment(product: "gold", at: 0) { $0.accountToken = orderToken(1) }, laterPeriod("200", at: 0),
      laterPeriod("201", at: 1),
    ]
    for sequence in MatchingFixture.permutations(batch.count) {
      var book = book { $0.add(1, product: "gold") }
      for transaction in OrderMatcher.sorted(sequence.map { batch[$0] }) {
        #expect(try book.arrive(transaction).lane == alice)
      }
    }
  }

  @Test func `a plan changed outside the app keeps the first token and so its owner`() throws {
    var book = book { $0.add(1, product: "silver") }
    _ = try book.arrive(payment(token: orderToken(1), product: "silver"))
    let other = try book.arrive(laterPeriod(token: orderToken(1), reason: .purchase))
    #expect(other.kind == .none && other.lane == alice)
    #expect(other.evidence == [.tokenOrderDiffers, .ownerByToken])
  }

  @Test func `a transaction without an owner goes to the device lane, never to the signed-in account`() throws
  {
    var book = book { $0.add(1) }
    for (transaction, evidence): (StoreTransaction, [MatchEvidence]) in [
      (laterPeriod(reason: .renewal), [.fulfilsNoOrder]),
      (payment("201", original: "100"), [.fulfilsNoOrder]),
      (payment("202") { $0.ownership = .familyShared }, [.fulfilsNoOrder]),
      (payment("203") { $0.offerType = .code }, [.fulfilsNoOrder]),
      (payment("204") { $0.revokedAt = midday }, [.fulfilsNoOrder]),
      (payment("205", product: "promoted"), [.noOpenOrder]),
    ] {
      let match = try book.arrive(transaction)
      #expect(match.kind == .none && match.lane == .device && match.evidence == evidence)
    }
  }

  @Test func `a purchase without token, order and known original goes to whom the app's policy says`() throws
  {
    let book = book { $0.add(1, account: "bob") }
    func match(_ transaction: StoreTransaction, _ user: AppUser) throws -> OrderMatch {
      try OrderMatcher.match(transaction, from: book, user: user)
    }
    let code = payment("300", product: "promoted")
    let hers = try match(code, AppUser(account: "alice", policy: .signedInAccount))
    #expect(hers.lane == alice && hers.evidence == [.noOpenOrder, .ownerSignedIn])
    let nobodys = try match(code, AppUser(account: nil, policy: .signedInAccount))
    #expect(nobodys.lane == .device && nobodys.evidence == [.noOpenOrder])
    let asked = try match(code, AppUser(account: "alice", policy: .ask))
    #expect(asked.lane == .device && asked.evidence == [.noOpenOrder, .ownerAsked])
    let usual = try match(code, AppUser(account: "alice"))
    #expect(usual.lane == .device && usual.evidence == [.noOpenOrder])
    // A token of an order here names the owner, and so does the family member who paid.
    for policy in UnclaimedPolicy.allCases {
      let user = AppUser(account: "alice", policy: policy)
      #expect(try match(payment(token: orderToken(1)), user).lane == .account("bob"))
      #expect(try match(payment("301") { $0.ownership = .familyShared }, user).lane == .device)
    }
  }

  @Test func `a later transaction with a token of another device does not inherit the original's owner`()
    throws
  {
    var book = book { $0.add(1, product: "gold") }
    _ = try book.arrive(payment(token: orderToken(1), product: "gold"))
    // Bob bought it again, with an order that he made on his own phone.
    let again = try book.arrive(laterPeriod(token: orderToken(9), reason: .purchase))
    #expect(again.lane == .device && again.evidence == [.tokenUnknown])
    let renewal = try OrderMatcher.match(
      laterPeriod("202", token: orderToken(9), reason: .renewal), from: book)
    #expect(renewal.lane == .device)
  }

  @Test func `a shared purchase does not belong to the account of its token`() throws {
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(1)) { $0.ownership = .familyShared })
    #expect(match.kind == .none && match.lane == .device && match.transactionClass == .familyShare)
  }

  @Test func `if ids restart, a restore inherits only with the purchase date of its original`() throws {
    var book = book { $0.add(1) }
    func inXcode(_ id: String, token: UUID? = nil, at offset: Int64, original: String) -> StoreTransaction {
      payment(id, token: token, at: offset, original: original) { $0.environment = .xcode }
    }
    _ = try book.arrive(inXcode("0", token: orderToken(1), at: 0, original: "0"))
    var restored = inXcode("1", at: inDays(1), original: "0")
    #expect(try OrderMatcher.match(restored, from: book).lane == .device)
    restored.originalPurchasedAt = midday
    #expect(try OrderMatcher.match(restored, from: book).lane == alice)
  }

  // MARK: verdicts

  @Test func `a verdict's order is bound, unless it contradicts an existing binding`() {
    let key = payment().key
    let order = OrderFacts(
      number: "1", account: "alice", productID: "gems", quantity: 1, createdAt: midday)
    func decide(_ number: String?, known: String? = nil, _ order: OrderFacts?) -> VerdictBinding {
      VerdictBinding(
        verdictOrder: number, of: key, productID: "gems", quantity: 1,
        known: KnownTransaction(lane: .device, orderNumber: known), order: order)
    }
    var (taken, mine, other) = (order, order, order)
    taken.boundTo = EntryKey(rawValue: "Production/7")
    mine.boundTo = key
    other.quantity = 2
    #expect(decide(nil, order) == .keep && decide("1", known: "1", order) == .keep)
    #expect(decide("1", order) == .bind(orderNumber: "1") && decide("1", mine) == .bind(orderNumber: "1"))
    #expect(decide("1", nil) == .bind(orderNumber: "1"))
    let endless = String(repeating: "e\u{301}", count: 1_000_000)
    for refused in [
      decide(endless, nil), decide("2", known: "1", nil), decide("1", taken), decide("1", other),
    ] {
      guard case .contradiction = refused else {
        Issue.record("\(refused)")
        continue
      }
    }
  }
}
