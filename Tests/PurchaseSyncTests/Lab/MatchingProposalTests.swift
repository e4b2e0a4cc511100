import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Transactions without a token.
@Suite struct MatchingProposalTests {
  private func propose(
    _ transaction: StoreTransaction = payment(), _ fill: (inout OrderBook) -> Void
  ) throws -> OrderMatch {
    var book = OrderBook()
    fill(&book)
    return try OrderMatcher.match(transaction, from: book)
  }

  @Test func `the only open order is proposed, in its account's lane`() throws {
    let match = try propose {
      $0.add(1)
      $0.add(2, product: "coins")
      $0.add(3, quantity: 2)
    }
    #expect(match.kind == .proposed(candidates: ["1"]) && match.lane == .account("alice"))
    #expect(match.evidence == [.window, .onlyOpenOrder])
    #expect(match.evidenceText == "window,onlyOpenOrder")
  }

  @Test func `the last order before the payment is the most likely, whatever was cancelled before`() throws {
    let match = try propose {
      $0.add(1, at: inMinutes(-90))
      $0.add(2, at: 0)
      $0.add(3, at: inMinutes(-5))
      $0.add(4, at: 30_000)
      $0.add(5, at: 10_000)
    }
    #expect(match.candidates == ["2", "3", "1", "5", "4"])
    #expect(match.evidence == [.window, .positionByTime])
  }

  @Test func `two purchases of one product, both without a token after a restart, find their own orders`()
    throws
  {
    // Order, payment, order, payment. The second payment arrives first.
    var book = OrderBook()
    book.add(1, at: inMinutes(-60))
    book.add(2, at: inMinutes(-10))
    #expect(try book.arrive(payment("102")).candidates.first == "2")
    let first = try book.arrive(payment("101", at: inMinutes(-59)))
    #expect(first.kind == .proposed(candidates: ["1"]) && first.evidence == [.window, .onlyOpenOrder])
  }

  @Test func `orders of one moment are sorted by number, not by arrival`() throws {
    for numbers in [[1, 2, 3], [3, 1, 2]] as [[UInt8]] {
      #expect(try propose { for number in numbers { $0.add(number) } }.candidates == ["3", "2", "1"])
    }
  }

  @Test(arguments: [
    (Int64(60_000), true), (60_001, false), (-inDays(7) - 60_000, true), (-inDays(7) - 60_001, false),
  ])
  func `an order is a candidate within its time, by the backend's and the store's clocks`(
    at: Int64, isProposed: Bool
  ) throws {
    #expect(try propose { $0.add(1, at: at) }.candidates == (isProposed ? ["1"] : []))
  }

  @Test(arguments: [
    (OrderState.open, Int64(-60_000), true), (.open, -60_001, false), (.expired, -60_000, true),
    (.expired, -60_001, false), (.deferred, 1, true), (.cancelled, 1, false), (.paid, 1, false),
    (.delivered, 1, false),
  ])
  func `an order that expired after the payment was paid in time, one that expired before was not`(
    state: OrderState, expires: Int64, isProposed: Bool
  ) throws {
    let match = try propose { $0.add(1, at: inMinutes(-30), state: state, expires: expires) }
    #expect(match.candidates == (isProposed ? ["1"] : []))
    #expect(try propose { $0.add(1, state: .expired) }.evidence == [.noOpenOrder])
  }

  @Test func `orders of several accounts are proposed in the device's name, and it says so`() throws {
    let match = try propose {
      $0.add(1)
      $0.add(2, account: "bob", at: inMinutes(-2))
    }
    #expect(match.kind == .proposed(candidates: ["1", "2"]) && match.lane == .device)
    #expect(match.evidence == [.window, .positionByTime, .severalAccounts])
  }

  @Test func `an order that is taken is no candidate, but its account still counts`() throws {
    // Before the other transaction arrived, the two could not be distinguished.
    var book = OrderBook()
    book.add(1)
    book.add(2, account: "bob", at: inMinutes(-2))
    _ = try book.arrive(payment("99", token: orderToken(1)))
    let match = try OrderMatcher.match(payment(), from: book)
    #expect(match.kind == .proposed(candidates: ["2"]) && match.lane == .device)
    #expect(match.evidence == [.window, .onlyOpenOrder, .severalAccounts])
  }

  @Test func `cancelled orders, and orders of another time, do not count as another account's`() throws {
    let match = try propose {
      $0.add(1)
      $0.add(2, account: "bob", state: .cancelled)
      $0.add(3, account: "carol", at: -inDays(9))
      $0.add(4, account: "dave", product: "coins")
    }
    #expect(match.kind == .proposed(candidates: ["1"]) && match.lane == .account("alice"))
  }

  @Test func `a waiting transaction stays in its lane, and is proposed only that lane's orders`() throws {
    var book = OrderBook()
    book.add(1)
    #expect(try book.arrive(payment()).lane == .account("alice"))
    book.add(2, account: "bob", at: inMinutes(-2))
    let again = try book.arrive(payment())
    #expect(again.kind == .proposed(candidates: ["1"]) && again.lane == .account("alice"))
    try book.bind(EntryKey(rawValue: "Production/7"), to: "1", lane: .account("alice"))
    let late = try book.arrive(payment())
    #expect(late.kind == .none && late.lane == .account("alice"))
    #expect(late.evidence == [.noOpenOrder, .ownerBefore])
  }

  @Test func `the number of candidates is limited, and so is the search`() throws {
    let many = try propose { for number in 1...40 { $0.add(UInt8(number), at: -Int64(number)) } }
    #expect(many.candidates == (1...16).map(String.init) && many.lane == .account("alice"))
    #expect(many.evidence == [.window, .positionByTime, .moreCandidates])
    // The nearest 64 had expired before the payment. Orders beyond them are not searched.
    let expired = try propose {
      for number in 1...70 { $0.add(UInt8(number), at: -inDays(1) - Int64(number), expires: -inMinutes(9)) }
      $0.add(200, at: -inDays(2))
    }
    #expect(expired.kind == .none && expired.evidence == [.noOpenOrder])
  }

  @Test func `a guest's payment is the device's under each policy, and says so`() throws {
    for policy in UnclaimedPolicy.allCases {
      let user = AppUser(account: "bob", policy: policy)
      var paid = StoreTransaction(
        environment: .production, transactionID: "1", originalTransactionID: "1", productID: "gems",
        quantity: 1,
        purchasedAt: Timestamp(milliseconds: 0), accountToken: .guest(from: UUID()),
        proof: Payload(kind: "test", bytes: []))
      let bought = try OrderMatcher.match(paid, from: OrderBook(), user: user)
      #expect(bought.lane == .device)
      #expect(bought.evidence.contains(.guest))
      paid.reason = .renewal
      let renewed = try OrderMatcher.match(paid, from: OrderBook(), user: user)
      #expect(renewed.lane == .device)
      #expect(renewed.evidence.contains(.guest))
    }
  }

  @Test func `each word of evidence is shown by a test`() throws {
    let tests = [
      "MatchingDecisionTests", "Lab/MatchingProposalTests", "MatchingTokenTests", "Lab/ImportTests",
      "Lab/TokenOwnerTests", "Lab/MatchingBundleTests",
    ]
    let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let text = try tests.map {
      try String(contentsOf: directory.appending(path: $0 + ".swift"), encoding: .utf8)
    }
    for word in MatchEvidence.allCases {
      let isShown = text.contains { $0.contains("." + word.rawValue) }
      #expect(isShown, "\(word.rawValue)")
    }
  }
}
