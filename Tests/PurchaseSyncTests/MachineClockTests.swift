import PurchaseQueue
import Testing

@testable import PurchaseSync

@Suite struct MachineClockTests {
  private func started() -> MachineClock {
    var clock = MachineClock()
    clock.start(at: midday)
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
    #expect(clock.advance(to: midday.adding(milliseconds: milliseconds)) == nil)
    #expect(!clock.needsClamping)
  }

  @Test(arguments: [1, 3_600_000, inDays(365)])
  func `a clock that goes back says from where, once`(milliseconds: Int64) {
    var clock = started()
    clock.clamped()
    let earlier = midday.adding(milliseconds: -milliseconds)
    #expect(clock.advance(to: earlier) == midday)
    #expect(clock.needsClamping)
    #expect(clock.advance(to: earlier) == nil)
    #expect(clock.needsClamping, "until it was done")
    clock.clamped()
    #expect(!clock.needsClamping)
  }

  @Test func `a clock that may have jumped elsewhere needs clamping`() {
    var clock = started()
    clock.clamped()
    clock.mayHaveJumped()
    #expect(clock.needsClamping)
    #expect(clock.advance(to: midday) == nil)
  }
}
