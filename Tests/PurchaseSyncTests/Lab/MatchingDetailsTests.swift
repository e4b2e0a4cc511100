import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct MatchingDetailsTests {
  private func details(_ change: (inout StoreTransaction) -> Void) -> TransactionDetails {
    TransactionDetails(payment("100", change))
  }

  @Test func `details of an older version are read`() throws {
    let text = """
      {"environment":"Production","originalTransactionID":"100","productID":"gems","purchasedAt":1700000000000,
      "quantity":1,"transactionID":"100"}
      """
    let read = try #require(TransactionDetails(text: text))
    #expect(read == TransactionDetails(payment()))
    #expect(read.claim(orderNumber: nil).match == .none)
  }

  @Test func `the details contain no token and no proof`() throws {
    var transaction = payment(token: orderToken(1)) { $0.signedAt = midday }
    transaction.proof.bytes = Array("secret".utf8)
    var book = OrderBook()
    book.add(1)
    let match = try book.arrive(transaction)
    let text = try TransactionDetails(transaction, match: match).text()
    #expect(!text.lowercased().contains(orderToken(1).uuidString.lowercased()) && !text.contains("secret"))
    #expect(TransactionDetails(text: text)?.transactionClass == "purchase")
  }

  @Test func `a claim contains the match`() throws {
    var book = OrderBook()
    book.add(1)
    book.add(2, at: inMinutes(-2))
    let match = try OrderMatcher.match(payment(), from: book)
    let details = TransactionDetails(payment(), match: match)
    let proposed = details.claim(orderNumber: nil)
    #expect(proposed.match == .proposed && proposed.candidates == ["1", "2"])
    #expect(proposed.evidence == "window,positionByTime" && proposed.orderNumber == nil)
    let bound = details.claim(orderNumber: "2")
    #expect(bound.match == .bound && bound.candidates == nil && bound.orderNumber == "2")
  }

  @Test(arguments: TransactionDetails.Change.allCases)
  func `a change after the settlement is an update, once`(change: TransactionDetails.Change) {
    let known = details { $0.expiresAt = midday }
    let newer = details {
      $0.expiresAt = change == .expiry ? midday.adding(milliseconds: inDays(1)) : midday
      $0.revokedAt = change == .revocation ? midday : nil
      $0.isUpgraded = change == .upgrade
      $0.revokedSeats = change == .seats ? 1 : nil
    }
    #expect(newer.changes(since: known) == [change])
    #expect(newer.changes(since: newer).isEmpty && known.changes(since: known).isEmpty)
  }

  @Test func `the same transaction from the other interface is no update`() {
    let signed = details {
      $0.expiresAt = midday.adding(milliseconds: 400)
      $0.revokedAt = midday.adding(milliseconds: 999)
      $0.isUpgraded = true
    }
    let received = details {
      $0.expiresAt = midday
      $0.revokedAt = midday
    }
    #expect(received.changes(since: signed).isEmpty)
    #expect(signed.changes(since: received) == [.upgrade])
    // A value that an older version did not store is no update either.
    #expect(details { $0.expiresAt = midday }.changes(since: details { _ in }).isEmpty)
  }

  @Test func `a reversed refund is an update, a proof from before the refund is not`() {
    let refunded = details {
      $0.revokedAt = midday
      $0.signedAt = midday.adding(milliseconds: 5_000)
    }
    let before = details { $0.signedAt = midday }
    let after = details { $0.signedAt = midday.adding(milliseconds: 9_000) }
    #expect(after.changes(since: refunded) == [.revocation])
    #expect(before.changes(since: refunded).isEmpty)
    #expect(details { _ in }.changes(since: refunded).isEmpty)
    // An older proof is no update, whatever its values are.
    #expect(refunded.changes(since: after).isEmpty)
  }
}
