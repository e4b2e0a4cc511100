import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// An order names a bundle, and each transaction of its payment one subscription: whose it is, and which has the order.
struct MatchingBundleTests {
  /// A subscription of the bundle `all`, which was paid as `9`.
  private static func member(
    _ id: String, _ product: String, token: UUID? = nil, payment number: String = "9", at offset: Int64 = 0,
    _ change: (inout StoreTransaction) -> Void = { _ in }
  ) -> StoreTransaction {
    payment(id, token: token, product: product, at: offset) {
      $0.proof = Payload(kind: ProofKind.signedTransaction.rawValue, bytes: Array("x.y.z".utf8))
      $0.expiresAt = $0.purchasedAt.adding(milliseconds: inDays(30))
      $0.reason = .purchase
      $0.bundle = BundlePurchase(productID: "all", transactionID: number, originalTransactionID: "9")
      change(&$0)
    }
  }

  private static func book(_ accounts: [String] = ["alice"]) -> OrderBook {
    var book = OrderBook()
    for (place, account) in accounts.enumerated() {
      book.add(UInt8(place + 1), account: account, product: "all", at: -inMinutes(Int64(place + 1)))
    }
    return book
  }

  /// The tokens of both transactions, and the one that the sheet returns; nil if it returns none of them.
  private static let payments: [([UUID?], Int?)] = [
    ([orderToken(1), orderToken(1)], 0), ([orderToken(1), orderToken(1)], nil),
    ([orderToken(1), nil], 0), ([nil, orderToken(1)], 0), ([orderToken(1), nil], nil),
    ([nil, orderToken(1)], nil), ([nil, nil], 0), ([nil, nil], 1), ([nil, nil], nil),
  ]

  @Test(arguments: payments, [false, true])
  func `each transaction is the account's, and one of them has the order`(
    payment: ([UUID?], Int?), isReversed: Bool
  ) throws {
    var book = Self.book()
    var arrivals = [("1", "silver"), ("2", "news")].enumerated().map { place, name in
      (Self.member(name.0, name.1, token: payment.0[place]), payment.1 == place)
    }
    if isReversed { arrivals.reverse() }
    var withOrder: [String] = []
    for (transaction, isFromSheet) in arrivals {
      var user = AppUser.none
      user.paidOrder = isFromSheet ? "1" : nil
      let match = try OrderMatcher.match(transaction, from: book, user: user)
      #expect(match.lane == .account("alice"), "\(transaction.productID)")
      try book.record(match, of: transaction.key)
      book.note(bundlePayment: "9", of: transaction.key)
      // As the verdict does.
      if let number = match.orderNumber ?? match.candidates.first, withOrder.isEmpty {
        try book.bind(transaction.key, to: number, lane: match.lane)
        withOrder.append(transaction.transactionID)
      }
    }
    #expect(withOrder.count == 1)
  }

  @Test func `a transaction without a token belongs to who paid for its bundle, and to no other order`()
    throws
  {
    var book = Self.book(["alice", "bob"])
    let first = Self.member("1", "silver", token: orderToken(1))
    _ = try book.arrive(first)
    book.note(bundlePayment: "9", of: first.key)
    let match = try OrderMatcher.match(Self.member("2", "news"), from: book)
    #expect(match.lane == .account("alice"))
    #expect(match.kind == .none)
    #expect(match.evidence.contains(.ownerByBundle))
    let other = try OrderMatcher.match(Self.member("3", "news", payment: "7"), from: book)
    #expect(other.candidates == ["2"])
  }

  @Test func `an order of a subscription is not paid by a bundle that contains it`() throws {
    var book = OrderBook()
    book.add(1, product: "silver")
    let withToken = try OrderMatcher.match(Self.member("1", "silver", token: orderToken(1)), from: book)
    #expect(withToken.lane == .account("alice"))
    #expect(withToken.evidence.contains(.tokenOrderDiffers))
    #expect(try OrderMatcher.match(Self.member("1", "silver"), from: book).candidates.isEmpty)
  }

  @Test(arguments: [nil, orderToken(9)])
  func `what another app has sold has no order here, and waits in no quarantine`(token: UUID?) throws {
    let match = try OrderMatcher.match(Self.member("1", "unheard", token: token), from: OrderBook())
    #expect(match.kind == .none)
    #expect(match.lane == .device)
    let signedIn = try OrderMatcher.match(
      Self.member("1", "unheard", token: token), from: OrderBook(),
      user: AppUser(account: "bob", policy: .signedInAccount))
    #expect(signedIn.lane == .account("bob"))
  }

  @Test func `a subscription that a bundle has replaced is an upgrade, and keeps its owner`() throws {
    var book = OrderBook()
    book.add(1, product: "silver")
    var old = payment("1", token: orderToken(1), product: "silver") {
      $0.expiresAt = $0.purchasedAt.adding(milliseconds: inDays(30))
    }
    _ = try book.arrive(old)
    let before = TransactionDetails(old)
    (old.revokedAt, old.revocationReason) = (midday.adding(milliseconds: inDays(1)), .upgradedToBundle)
    let classified = Classification(old)
    #expect(classified.transactionClass == .upgrade)
    #expect(classified.origin == .purchase)
    #expect(classified.signs.contains(.upgradedToBundle))
    #expect(TransactionDetails(old).isNews(since: before, settledAs: .granted))
    #expect(try OrderMatcher.match(old, from: book).orderNumber == "1")
    old.revocationReason = .other
    #expect(Classification(old).transactionClass == .revocation)
  }

  @Test func `a verdict that names the order of another transaction of the payment contradicts nothing`() {
    func binding(isOfBundle: Bool) -> VerdictBinding {
      VerdictBinding(
        verdictOrder: "1", of: EntryKey(rawValue: "Production/2"), productID: "all", quantity: 1,
        isOfBundle: isOfBundle, known: nil, order: nil, holder: EntryKey(rawValue: "Production/1"))
    }
    #expect(binding(isOfBundle: true) == .keep)
    #expect(binding(isOfBundle: false) != .keep)
  }
}
