import AppStoreReceipts
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Whose a purchase is when its order is not certain.
@Suite struct MatchingOwnerTests {
  private let user = AppUser(account: "alice", policy: .signedInAccount)

  @Test func `a purchase that fits orders of two accounts is not simply the signed-in one's`() throws {
    var book = OrderBook()
    book.add(1)
    book.add(2, account: "bob", at: inMinutes(-2))
    let match = try OrderMatcher.match(payment(), from: book, user: user)
    #expect(match.candidates == ["1", "2"] && match.lane == .device)
    #expect(!match.evidence.contains(.ownerSignedIn))
  }

  @Test func `a purchase that waits in the device's lane stays there when alice signs in`() throws {
    var book = OrderBook()
    #expect(try book.arrive(payment()).lane == .device)
    let again = try OrderMatcher.match(payment(), from: book, user: user)
    #expect(again.lane == .device && again.evidence == [.noOpenOrder, .ownerBefore])
  }

  @Test func `the evidence of a proposal says nothing about the owner`() throws {
    var book = OrderBook()
    book.add(1)
    _ = try book.arrive(payment())
    #expect(try book.arrive(payment()).evidence == [.window, .onlyOpenOrder])
  }

  @Test func `a code that was redeemed for a running subscription is a later period of it`() throws {
    var redeemed = laterPeriod()
    redeemed.offerType = .code
    #expect(Classification(redeemed).transactionClass == .renewal)
    let first = payment { $0.offerType = .code }
    #expect(Classification(first).transactionClass == .outOfApp)
  }

  @Test func `purchases of one moment are matched first of the chain first, then by their keys`() {
    let batch = [("1", "1"), ("3", "3"), ("2", "1"), ("4", "1")].map { payment($0.0, original: $0.1) }
    for first in batch.indices {
      for second in batch.indices where second != first {
        var shuffled = batch
        shuffled.swapAt(first, second)
        #expect(OrderMatcher.sorted(shuffled).map(\.transactionID) == ["1", "3", "2", "4"])
        #expect(OrderMatcher.sorted(shuffled.reversed()).map(\.transactionID) == ["1", "3", "2", "4"])
      }
    }
  }

  @Test(arguments: [(255, true), (256, true), (257, false)])
  func `a verdict may name an order by up to 256 bytes`(length: Int, isBound: Bool) {
    let number = String(repeating: "n", count: length)
    let binding = VerdictBinding(
      verdictOrder: number, of: payment().key, productID: "gems", quantity: 1, known: nil, order: nil)
    #expect((binding == .bind(orderNumber: number)) == isBound)
  }
}
