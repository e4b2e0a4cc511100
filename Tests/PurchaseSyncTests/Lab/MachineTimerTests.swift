import PurchaseQueue
import Testing

@testable import PurchaseSync

/// When the machine is fed, without an engine: a timer that is lost leaves a purchase waiting.
@Suite struct MachineTimerTests {
  private let began = ContinuousClock.now

  private func set(_ timer: inout MachineTimer, _ due: Int64, wall: Int64 = 0, after: Int64 = 0) -> Int64? {
    timer.isSet(
      to: midday.adding(milliseconds: due), now: midday.adding(milliseconds: wall),
      at: began.advanced(by: .milliseconds(after)), RetryPolicy())
  }

  @Test func `the earliest moment counts`() {
    var timer = MachineTimer(beginning: began)
    #expect(timer.isQuiet(until: began.advanced(by: .seconds(1_000_000))))
    #expect(set(&timer, 5_000) == 5_000)
    #expect(set(&timer, 9_000) == nil)
    #expect(set(&timer, 5_000, wall: 1_000, after: 1_000) == nil)
    #expect(set(&timer, 3_000, wall: 1_000, after: 1_000) == 2_000)
    #expect(timer.isQuiet(until: began.advanced(by: .milliseconds(2_999))))
    #expect(!timer.isQuiet(until: began.advanced(by: .milliseconds(3_000))))
    timer.ended()
    #expect(set(&timer, 9_000, wall: 3_000, after: 3_000) == 6_000)
  }

  @Test func `a wall clock that jumps postpones no timer, and no wait is beyond the horizon`() {
    var timer = MachineTimer(beginning: began)
    #expect(set(&timer, 5_000) == 5_000)
    #expect(set(&timer, 6_000, wall: -inDays(400), after: 1_000) == nil, "the clock went back")
    #expect(set(&timer, 6_000, wall: inDays(400), after: 1_000) == 0, "the clock went on")
    timer.ended()
    #expect(set(&timer, inDays(4_000)) == RetryPolicy().horizonMilliseconds)
    #expect(timer.uptime(at: began.advanced(by: .seconds(2))) == 2_000)
  }
}
