import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// Each way to a match, by name.
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
  func `a token binds its order in whatever state: the person paid`(state: OrderState) throws {
    var book = book { $0.add(1, state: state) }
    let match = try book.arrive(payment(token: orderToken(1)))
    #expect(match.kind == .bound(orderNumber: "1") && match.lane == alice)
    #expect(match.evidence == [.accountToken] && match.transactionClass == .purchase)
    #expect(book.order("1")?.boundTo == payment().key)
  }

  @Test func `redelivery is the same binding, even if the order is gone and the token too`() throws {
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

  @Test func `what was revoked or upgraded before it came binds as it would have before`() throws {
    for mark in [\StoreTransaction.revokedAt, \.expiresAt] {
      var book = book { $0.add(1) }
      let match = try book.arrive(payment(token: orderToken(1)) { $0[keyPath: mark] = midday })
      #expect(match.kind == .bound(orderNumber: "1"))
    }
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(1)) { $0.isUpgraded = true })
    #expect(match.kind == .bound(orderNumber: "1") && match.transactionClass == .upgrade)
  }

  @Test func `another plan that was bought in the app fulfils its own order`() throws {
    var book = book { $0.add(2, product: "gold", at: inDays(30) - 1) }
    let match = try book.arrive(laterPeriod(token: orderToken(2), reason: .purchase))
    #expect(match.kind == .bound(orderNumber: "2") && match.transactionClass == .upgrade)
  }

  @Test func `an order that becomes known later is filled in, and the place in the device lane stays`() throws
  {
    var book = OrderBook()
    let before = try book.arrive(payment(token: orderToken(1)))
    #expect(before.kind == .none && before.lane == .device && before.evidence == [.tokenUnknown])
    book.add(1)
    let after = try book.arrive(payment(token: orderToken(1)))
    #expect(after.kind == .bound(orderNumber: "1") && after.lane == .device)
    #expect(after.evidence == [.accountToken])
  }

  @Test func `an unverified transaction is matched as any other`() throws {
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(1)) { $0.isVerified = false })
    #expect(match.kind == .bound(orderNumber: "1"))
  }

  // MARK: a token that does not bind

  @Test func `a token on another product or quantity binds nothing and proposes nothing`() throws {
    var book = book { $0.add(1) }
    for wrong in [
      payment(token: orderToken(1), product: "coins"), payment("101", token: orderToken(1), quantity: 2),
    ] {
      let match = try book.arrive(wrong)
      #expect(match.kind == .none && match.lane == .device && match.evidence == [.tokenOrderDiffers])
    }
    #expect(try book.arrive(payment("102", token: orderToken(1))).kind == .bound(orderNumber: "1"))
  }

  @Test func `a transaction with a token is never proposed`() throws {
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(9)))
    #expect(match.kind == .none && match.lane == .device && match.evidence == [.tokenUnknown])
  }

  @Test func `of two payments with one token the first has the order, and both have its owner`() throws {
    var book = book { $0.add(1) }
    _ = try book.arrive(payment(token: orderToken(1)))
    let second = try book.arrive(payment("101", token: orderToken(1)))
    #expect(second.kind == .none && second.lane == alice)
    #expect(second.evidence == [.tokenOrderTaken, .ownerByToken])
    let again = try book.arrive(payment("101", token: orderToken(1)))
    #expect(again.kind == .none && again.lane == alice)
    #expect(again.evidence == [.tokenOrderTaken, .ownerBefore])
  }

  @Test func `nobody's claim goes up in another account's name`() throws {
    // Proposed without a token by the one interface, and in bob's lane; then the other shows alice's token.
    var book = book { $0.add(2, account: "bob") }
    #expect(try book.arrive(payment()).lane == .account("bob"))
    book.add(1)
    let match = try book.arrive(payment(token: orderToken(1)))
    #expect(match.kind == .none && match.lane == .account("bob"))
    #expect(match.evidence == [.tokenOrderOfAnotherAccount, .ownerBefore])
  }

  // MARK: owners

  @Test(arguments: [TransactionReason.renewal, .purchase])
  func `what follows in a chain inherits the owner, and fulfils no order`(reason: TransactionReason) throws {
    var book = book {
      $0.add(1, product: "gold")
      $0.add(2, product: "gold", at: inDays(30) - 1)
    }
    _ = try book.arrive(payment(token: orderToken(1), product: "gold"))
    let match = try book.arrive(laterPeriod(reason: reason))
    #expect(match.kind == .none && match.lane == alice)
    #expect(match.evidence == [.fulfilsNoOrder, .ownerByOriginal])
  }

  @Test func `a renewal that comes before its original leaves it its order`() throws {
    var book = book { $0.add(1, product: "gold") }
    let renewal = try book.arrive(laterPeriod(token: orderToken(1), reason: .renewal))
    #expect(renewal.kind == .none && renewal.lane == alice)
    #expect(renewal.evidence == [.fulfilsNoOrder, .ownerByToken])
    let original = try book.arrive(payment(token: orderToken(1), product: "gold"))
    #expect(original.kind == .bound(orderNumber: "1"))
  }

  @Test func `a batch is taken in so that owners are known, however the store sorts it`() throws {
    let batch = [
      payment(product: "gold", at: 0) { $0.accountToken = orderToken(1) }, laterPeriod("200", at: 0),
      laterPeriod("201", at: 1),
    ]
    for sequence in MatchingWorld.permutations(batch.count) {
      var book = book { $0.add(1, product: "gold") }
      for transaction in OrderMatcher.sorted(sequence.map { batch[$0] }) {
        #expect(try book.arrive(transaction).lane == alice)
      }
    }
  }

  @Test func `a plan that was changed outside keeps the token of the first, and so its owner`() throws {
    var book = book { $0.add(1, product: "silver") }
    _ = try book.arrive(payment(token: orderToken(1), product: "silver"))
    let other = try book.arrive(laterPeriod(token: orderToken(1), reason: .purchase))
    #expect(other.kind == .none && other.lane == alice)
    #expect(other.evidence == [.tokenOrderDiffers, .ownerByToken])
  }

  @Test func `without an owner it is nobody's, never that of whoever is signed in`() throws {
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

  @Test func `a shared purchase does not belong to whoever's token it bears`() throws {
    var book = book { $0.add(1) }
    let match = try book.arrive(payment(token: orderToken(1)) { $0.ownership = .familyShared })
    #expect(match.kind == .none && match.lane == .device && match.transactionClass == .familyShare)
  }

  @Test func `a restore inherits where ids restart only if it says when the original was bought`() throws {
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

  @Test func `a verdict's order is bound, unless it contradicts what is bound here`() {
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
    for refused in [decide("2", known: "1", nil), decide("1", taken), decide("1", other)] {
      guard case .contradiction = refused else {
        Issue.record("\(refused)")
        continue
      }
    }
  }
}
