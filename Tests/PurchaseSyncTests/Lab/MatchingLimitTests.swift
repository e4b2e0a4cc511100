import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// How many orders are searched for a payment without a token, and what the match says about the rest.
@Suite struct MatchingLimitTests {
  /// Orders at growing distances before the payment: first so many that had expired, then so many open ones.
  private func propose(expired: Int, open: Int, expiredBehind: Int = 0) throws -> OrderMatch {
    var book = OrderBook()
    for number in 0..<(expired + open + expiredBehind) {
      let isOpen = (expired..<expired + open).contains(number)
      book.add(
        UInt8(number), at: -inDays(1) - Int64(number) * 1_000, expires: isOpen ? nil : -inMinutes(9))
    }
    return try OrderMatcher.match(payment(), from: book)
  }

  @Test(arguments: [(2, false), (16, false), (17, true), (40, true)])
  func `sixteen orders are proposed, and more are said to exist only if they do`(open: Int, hasMore: Bool)
    throws
  {
    let match = try propose(expired: 0, open: open)
    #expect(match.candidates.count == min(open, 16))
    #expect(match.evidence == [.window, .positionByTime] + (hasMore ? [.moreCandidates] : []))
  }

  @Test(arguments: [
    (1, 16, 16, false), (1, 17, 16, true), (20, 1, 1, false), (20, 20, 16, true), (62, 1, 1, false),
    (63, 1, 1, nil), (64, 1, 0, nil),
    (62, 9, 2, true),
  ])
  func `orders that expired in time do not hide open ones among the nearest sixty-four`(
    expired: Int, open: Int, proposed: Int, hasMore: Bool?
  ) throws {
    let match = try propose(expired: expired, open: open)
    #expect(match.candidates.count == proposed)
    if let hasMore { #expect(match.evidence.contains(.moreCandidates) == hasMore) }
  }

  @Test func `the only open order is known as the only one, although others had expired`() throws {
    #expect(try propose(expired: 20, open: 1).evidence == [.window, .onlyOpenOrder])
    #expect(try propose(expired: 0, open: 1, expiredBehind: 5).evidence == [.window, .onlyOpenOrder])
  }
}
