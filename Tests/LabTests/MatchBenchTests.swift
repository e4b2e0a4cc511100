import MemoryModels
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

@testable import Bench

@Suite struct MatchBenchTests {
  @Test(arguments: MatchLoad.Shape.allCases)
  func `the baseline and the book find the same matches, and every payment has an order`(
    shape: MatchLoad.Shape
  ) throws {
    let load = MatchLoad(shape, count: 60)
    #expect(load.orders.count == 60 && load.transactions.count == 60)
    var (book, list): ([OrderMatch], [OrderMatch]) = ([], [])
    try OrderBook.work(load) { book.append($1) }
    try OrderList.work(load) { list.append($1) }
    #expect(book == list)
    let bound = book.count { $0.orderNumber != nil }
    #expect(shape == .alike ? bound == 0 : (20...40).contains(bound))
    let lanes = Set(book.filter { $0.kind != .none }.map(\.lane))
    #expect(lanes == [.account("alice")])
  }

  @Test func `n log n`() {
    #expect(MatchBench.linearithmic(1_024) == 10_240)
  }
}
