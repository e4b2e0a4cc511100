import Foundation
import MemoryModels
import PurchaseSync
import PurchaseSyncTesting

/// `bench match`: the time to match many transactions with many orders, and its growth.
struct MatchBench {
  static let bars = [1, 2]

  private static let sizes = [100, 1_000, 10_000]
  /// The size of bar 1; bar 2 compares the next with it.
  private static let size = 1_000
  private static let longer = 10_000
  /// 10,000 × 10,000 the slow way takes seconds.
  private static let longestBaseline = 1_000

  let options: BenchOptions

  func measure(_ report: (BenchSection) -> Void) throws {
    for shape in MatchLoad.Shape.allCases { report(try section(shape)) }
  }

  private func section(_ shape: MatchLoad.Shape) throws -> BenchSection {
    let repetitions = options.plan.repetitions
    let loads = Self.sizes.map { MatchLoad(shape, count: $0) }
    try compare(loads[0])
    try compare(loads[1])
    // Milliseconds by size, in the order of the repetitions. The sizes take turns, so that ratios compare neighbours in
    // time.
    var book: [Int: [Double]] = [:]
    var list: [Int: [Double]] = [:]
    for repetition in 0..<(repetitions + 1) {
      for (size, load) in zip(Self.sizes, loads) {
        let milliseconds = try ProcessorTime.milliseconds { try OrderBook.work(load) { _, _ in } }
        // The first run of each is cold.
        if repetition > 0 { book[size, default: []].append(milliseconds) }
      }
    }
    for (size, load) in zip(Self.sizes, loads) where size <= Self.longestBaseline || !options.quick {
      list[size] = [try ProcessorTime.milliseconds { try OrderList.work(load) { _, _ in } }]
    }
    return BenchSection(
      title: Self.title(shape), bars: try bars(book), notes: try notes(book, list))
  }

  private static func title(_ shape: MatchLoad.Shape) -> String {
    switch shape {
    case .mixed: "a product for each 50 orders, every second payment without a token"
    case .alike: "one product, no payment with a token"
    }
  }

  private func bars(_ book: [Int: [Double]]) throws -> [Bar] {
    let (short, long) = (book[Self.size] ?? [], book[Self.longer] ?? [])
    let linearithmic = Self.linearithmic(Self.longer) / Self.linearithmic(Self.size)
    let growths = try Statistics.ratios(long, to: short).map { $0 / linearithmic }
    var bars: [Bar] = []
    if options.wants(1) {
      bars.append(
        try .median(1, "1,000 orders x 1,000 transactions", short, .atMost(10), .milliseconds))
    }
    if options.wants(2), let least = short.min(), let most = long.min() {
      // The ratio of the least times: another process that empties the caches slows the long run more than the short
      // one, and the bar is about the algorithm.
      bars.append(
        Bar(
          number: 2, what: "growth to 10,000 x 10,000, against n log n",
          measured: most / least / linearithmic, bound: .atMost(1),
          spread: (growths.min() ?? 0)...(growths.max() ?? 0)))
    }
    return bars
  }

  /// n log n, the growth that is allowed.
  static func linearithmic(_ count: Int) -> Double { Double(count) * log2(Double(count)) }

  private func notes(_ book: [Int: [Double]], _ list: [Int: [Double]]) throws -> [String] {
    var lines = [
      BenchText.left("orders x transactions", 24)
        + ["book ms", "ns/n log n", "list ms", "list/book"].map { BenchText.right($0, 12) }.joined()
    ]
    for size in Self.sizes {
      let milliseconds = try Statistics.median(book[size] ?? [])
      let nanoseconds = milliseconds * 1e6 / Self.linearithmic(size)
      let slow = list[size]?.first
      let cells = [
        BenchText.fixed(milliseconds, 3), BenchText.fixed(nanoseconds, 1),
        slow.map { BenchText.fixed($0, 2) } ?? "-",
        slow.map { BenchText.fixed($0 / milliseconds, 1) + "x" } ?? "-",
      ]
      lines.append(
        BenchText.left("\(size) x \(size)", 24) + cells.map { BenchText.right($0, 12) }.joined())
    }
    return lines + ["list: the same decision, every order looked at for every transaction"]
  }

  /// Throws if the two find different matches: then their times cannot be compared.
  private func compare(_ load: MatchLoad) throws {
    var fast: [OrderMatch] = []
    try OrderBook.work(load) { fast.append($1) }
    var position = 0
    var different: String?
    try OrderList.work(load) { transaction, match in
      if fast[position] != match { different = different ?? transaction.transactionID }
      position += 1
    }
    if let different { throw BenchError.differentMatches(transaction: different) }
  }
}
