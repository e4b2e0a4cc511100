import Testing

@testable import PurchaseSync

/// A pace, at any moments and with any clock.
@Suite struct CallPaceTests {
  @Test(arguments: [1, 3, 10], [1, 1_000, 3_600_000] as [Int64])
  func `calls at every moment are as many as the pace allows`(burst: Int, interval: Int64) {
    var pace = CallPace(burst: burst, interval: interval)
    let (step, length) = (max(1, interval / 10), 20 * interval)
    var taken = 0
    for now in stride(from: 0, to: length, by: Int64.Stride(step)) where pace.takes(at: now) { taken += 1 }
    #expect(taken <= pace.most(within: length))
    #expect(taken >= 19)
  }

  @Test func `after a rest the burst is whole again`() {
    var pace = CallPace(burst: 3, interval: 100)
    let first = (0..<4).map { _ in pace.takes(at: 0) }
    #expect(first == [true, true, true, false])
    #expect(pace.wait(at: 0) == 100)
    let second = (0..<4).map { _ in pace.takes(at: 300) }
    #expect(second == [true, true, true, false])
  }

  @Test(arguments: [-1, -1_000, -31_536_000_000] as [Int64])
  func `a clock that goes back makes no wait longer than one interval`(jump: Int64) {
    var pace = CallPace(burst: 2, interval: 1_000)
    let before = (0..<2).map { _ in pace.takes(at: 0) }
    #expect(before == [true, true])
    let isFree = pace.takes(at: jump)
    #expect(!isFree)
    #expect(pace.wait(at: jump) <= 1_000)
    let isTaken = pace.takes(at: jump + 1_000)
    #expect(isTaken)
  }
}
