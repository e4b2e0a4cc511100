import PurchaseQueue
import PurchaseSync
import Testing

@testable import purchase_simulator

/// The clock of a run.
@Suite struct FastClockTests {
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)

  @Test func `each process of a run has the same clock`() {
    let clock = FastClock(rate: 5_000, from: noon)
    #expect(FastClock(words: clock.words) == clock)
  }

  @Test(arguments: [1, 1_000, 5_000] as [Int64]) func `delays pass with their own length in less time`(
    rate: Int64
  ) {
    let clock = FastClock(rate: rate, from: noon)
    let real = clock.realSeconds(of: 60_000)
    let passed = clock.shown(at: clock.since + real).milliseconds(since: noon)
    #expect((59_990...60_010).contains(passed))
    #expect((real * Double(rate) - 60).magnitude < 0.001)
  }

  @Test(arguments: ["", "1:2", "1:2:0", "x:2:3", "1:x:3", "1:2:x", "1:2:3:4"])
  func `other words are no clock`(words: String) {
    #expect(FastClock(words: words) == nil)
  }
}
