import Exploration
import Testing

/// The search for the event that made a failure likely, on processes whose probabilities are known.
@Suite struct FutureSharesTests {
  /// A coin of one future, the same for each event: heads in `permille` of a thousand futures.
  private func isHeads(_ future: Int, _ permille: Int) -> Bool {
    var stream = RandomStream(seed: UInt64(future), "coin")
    return stream.chance(permille)
  }

  @Test(arguments: [1, 2, 37, 63, 64, 500, 9_999, 10_000])
  func `the event that decides is named, in a short run and in a long one`(guilty: Int) throws {
    for last in [64, 10_000] where guilty <= last {
      let shares = FutureShares(of: last) { event, future in event >= guilty || isHeads(future, 200) }
      #expect(shares.jump.event == guilty && shares.jump.after == 1)
      #expect(0.05..<0.4 ~= shares.jump.before, "\(shares.jump)")
      #expect(shares.points.map(\.event) == shares.points.map(\.event).sorted())
      // A long run is not sampled after each event.
      #expect(shares.points.count <= 65)
    }
  }

  @Test func `of two rises the larger one is named, whichever is first`() {
    for (first, second, named) in [(700, 1_000, 20), (300, 1_000, 50)] {
      let shares = FutureShares(of: 60) { event, future in
        isHeads(future, event >= 50 ? second : event >= 20 ? first : 0)
      }
      #expect(shares.jump.event == named)
    }
  }

  @Test func `of equal rises the last one is named: until then the failure could be avoided`() {
    let shares = FutureShares(of: 60) { event, future in event >= 50 || event >= 20 && future % 2 == 0 }
    #expect(shares.jump == .init(event: 50, before: 0.5, after: 1))
  }

  @Test func `a failure that nothing announces is its own event`() {
    let shares = FutureShares(of: 300) { _, _ in false }
    #expect(shares.jump == .init(event: 300, before: 0, after: 1))
  }

  @Test func `a failure before the first event needs no futures`() {
    let shares = FutureShares(of: 0) { _, _ in
      Issue.record("asked")
      return true
    }
    #expect(shares.jump.event == 0 && shares.futures == 0)
  }

  @Test func `the budget ends the search, and no future is drawn twice`() {
    var asked: Set<[Int]> = []
    let budget = FutureShares.Budget(coarse: 10, fine: 1_000_000, most: 500, every: 0)
    let shares = FutureShares(of: 1_000, budget) { event, future in
      #expect(asked.insert([event, future]).inserted)
      return event > 400
    }
    #expect(shares.futures == asked.count && shares.futures <= 500 && shares.jump.event == 401)
  }
}
