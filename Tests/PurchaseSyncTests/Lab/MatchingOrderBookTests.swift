import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import MemoryModels
@testable import PurchaseSync

@Suite struct MatchingOrderBookTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a timeline behaves like a sorted list`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var timeline = OrderTimeline()
    var model: [OrderTimeline.Mark] = []
    for step in 0..<2_000 {
      // Long enough for several chunks, then short enough to empty them.
      let isGrowing = step < 1_200 ? Int.random(in: 0..<4, using: &random) > 0 : false
      if isGrowing || model.isEmpty {
        let mark = OrderTimeline.Mark(
          createdAt: Timestamp(milliseconds: Int64.random(in: 0..<200, using: &random)), number: "\(step)",
          slot: step)
        timeline.insert(mark)
        model.append(mark)
      } else {
        let mark = model.remove(at: Int.random(in: 0..<model.count, using: &random))
        timeline.remove(mark)
        timeline.remove(mark)
      }
      guard step.isMultiple(of: 20) else { continue }
      let from = Int64.random(in: -5..<205, using: &random)
      let through = Int64.random(in: from - 1..<210, using: &random)
      check(timeline, model.sorted(), from: from, through: through)
    }
  }

  private func check(_ timeline: OrderTimeline, _ model: [OrderTimeline.Mark], from: Int64, through: Int64) {
    let (first, last) = (Timestamp(milliseconds: from), Timestamp(milliseconds: through))
    let expected = model.filter { $0.createdAt >= first && $0.createdAt <= last }
    for isLatestFirst in [false, true] {
      var found: [Int] = []
      timeline.forEach(from: first, through: last, isLatestFirst: isLatestFirst) {
        found.append($0)
        return true
      }
      #expect(found == (isLatestFirst ? expected.reversed() : expected).map(\.slot))
    }
    #expect(timeline.hasAny(from: first, through: last) == !expected.isEmpty)
    var count = 0
    timeline.forEach(from: first, through: last, isLatestFirst: true) { _ in
      count += 1
      return count < 3
    }
    #expect(count == min(3, expected.count))
  }

  @Test func `a second transaction of an order, and a second order of a transaction, are refused`() throws {
    var book = OrderBook()
    book.add(1)
    book.add(2)
    _ = try book.arrive(payment(token: orderToken(1)))
    #expect(throws: QueueError.self) {
      try book.bind(EntryKey(rawValue: "Production/9"), to: "1", lane: .device)
    }
    #expect(throws: QueueError.self) { try book.bind(payment().key, to: "2", lane: .device) }
    #expect(book.order("1")?.boundTo == payment().key && book.order("2")?.boundTo == nil)
    #expect(book.knownTransaction(EntryKey(rawValue: "Production/9")) == nil)
    try book.bind(payment().key, to: "1", lane: .device)
    #expect(book.knownTransaction(payment().key)?.lane == .account("alice"))
  }

  @Test func `a newer state takes an order off the shelf but keeps its binding`() throws {
    var book = OrderBook()
    book.add(1)
    #expect(try OrderMatcher.match(payment(), from: book).candidates == ["1"])
    book.add(1, state: .cancelled)
    #expect(try OrderMatcher.match(payment(), from: book).candidates.isEmpty)
    book.add(1)
    _ = try book.arrive(payment("7", token: orderToken(1)))
    book.add(1)
    #expect(book.order("1")?.boundTo?.rawValue == "Production/7")
    #expect(try OrderMatcher.match(payment(), from: book).candidates.isEmpty)
    book.add(2, state: .delivered)
    #expect(try OrderMatcher.match(payment(), from: book).candidates.isEmpty)
  }

  /// A journal that cannot be read.
  private struct Unreadable: MatchSource {
    static let error = QueueError.busy(path: "q", reason: "locked")
    func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts] { throw Self.error }
    func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? { nil }
    func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] { throw Self.error }
    func payer(ofBundle payment: String, _ query: OrderQuery) throws(QueueError) -> String? {
      throw Self.error
    }
    func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool { throw Self.error }
  }

  @Test func `an unreadable journal does not count as an empty one`() {
    for transaction in [payment(), payment(token: orderToken(1))] {
      #expect(throws: Unreadable.error) { try OrderMatcher.match(transaction, from: Unreadable()) }
    }
  }
}
