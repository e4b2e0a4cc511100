import PurchaseQueue
import Testing

@testable import PurchaseSync

@Suite struct MachineClockTests {
  private func started() -> MachineClock {
    var clock = MachineClock()
    clock.start(at: midday, uptime: 0)
    return clock
  }

  @Test func `a clock runs from its start, and stored moments are clamped first`() {
    #expect(!MachineClock().isRunning)
    #expect(!MachineClock().needsClamping)
    #expect(started().isRunning)
    #expect(started().needsClamping)
  }

  @Test(arguments: [0, 1, inDays(365)])
  func `a clock that goes on needs no clamping`(milliseconds: Int64) {
    var clock = started()
    clock.clamped()
    #expect(clock.advance(to: midday.adding(milliseconds: milliseconds), uptime: milliseconds) == nil)
    #expect(!clock.needsClamping)
  }

  @Test(arguments: [(999, false), (1_000, true), (1_200_000, true)])
  func `a clock that goes on by less than the uptime went back`(milliseconds: Int64, isBack: Bool) {
    var clock = started()
    clock.clamped()
    let expected = ClockJump(
      from: midday.adding(milliseconds: milliseconds), to: midday, unseen: milliseconds)
    #expect(clock.advance(to: midday, uptime: milliseconds) == (isBack ? expected : nil))
    #expect(clock.needsClamping == isBack)
  }

  @Test(arguments: [1, 3_600_000, inDays(365)])
  func `a clock that goes back says from where, once`(milliseconds: Int64) {
    var clock = started()
    clock.clamped()
    let earlier = midday.adding(milliseconds: -milliseconds)
    #expect(clock.advance(to: earlier, uptime: 0) == ClockJump(from: midday, to: earlier, unseen: 0))
    #expect(clock.needsClamping)
    #expect(clock.advance(to: earlier, uptime: 0) == nil)
    #expect(clock.needsClamping, "until it was done")
    clock.clamped()
    #expect(!clock.needsClamping)
  }

  @Test func `a clock that may have jumped elsewhere needs clamping`() {
    var clock = started()
    clock.clamped()
    clock.mayHaveJumped()
    #expect(clock.needsClamping)
    #expect(clock.advance(to: midday, uptime: 0) == nil)
  }
}
