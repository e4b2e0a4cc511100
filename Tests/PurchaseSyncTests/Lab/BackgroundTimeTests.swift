import Dispatch
import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// The system's side of an activity: calls the blocks on threads of its own, as Apple's reference says.
private final class TestSystem: Sendable {
  enum Time { case enough, over, none }

  private let queue = DispatchQueue(label: "TestSystem", attributes: .concurrent)
  private let block = Locked<(@Sendable (Bool) -> Void)?>(nil)
  private let ended = Locked(0)
  let reasons = Locked<[String]>([])
  let calls = DispatchGroup()

  /// How many calls of the block have returned: then the process may be suspended.
  var returns: Int { ended.value }

  func activity(_ time: Time) -> BackgroundTime.Activity {
    { reason, block in
      self.reasons.withLock { $0.append(reason) }
      self.block.withLock { $0 = block }
      if time != .none { self.call(false) }
      if time != .enough { self.call(true) }
    }
  }

  func call(_ isOver: Bool) {
    queue.async(group: calls) {
      self.block.value?(isOver)
      self.ended.withLock { $0 += 1 }
    }
  }

  /// Returns when each call of the block has returned.
  func waitForCalls() async {
    await withCheckedContinuation { done in calls.notify(queue: queue) { done.resume() } }
  }
}

@Suite struct BackgroundTimeTests {
  @Test func `the process is kept awake until the work has ended, and no longer`() async {
    let (system, cuts) = (TestSystem(), Locked(0))
    await BackgroundTime(system.activity(.enough)).run("send purchases") {
      for _ in 1...100 { await Task.yield() }
      #expect(system.returns == 0)
    } cutShort: {
      cuts.withLock { $0 += 1 }
    }
    await system.waitForCalls()
    #expect(system.returns == 1 && cuts.value == 0)
    #expect(system.reasons.value == ["send purchases"])
  }

  @Test(arguments: [TestSystem.Time.over, .none])
  fileprivate func `when the time is over, the work is cut short before the process is suspended`(
    _ time: TestSystem.Time
  ) async {
    let system = TestSystem()
    let (cut, caller) = AsyncStream.makeStream(of: Void.self)
    let returnsAtEnd = Locked<Int?>(nil)
    await BackgroundTime(system.activity(time), patience: .never).run("send purchases") {
      for await _ in cut { break }
      returnsAtEnd.withLock { $0 = system.returns }
    } cutShort: {
      caller.yield()
    }
    await system.waitForCalls()
    #expect(returnsAtEnd.value == 0)
    #expect(system.returns == (time == .over ? 2 : 1))
  }

  @Test func `work that does not let itself be cut short does not keep the system waiting`() async {
    let system = TestSystem()
    let (cut, caller) = AsyncStream.makeStream(of: Void.self)
    await BackgroundTime(system.activity(.none), patience: .milliseconds(1)).run("send purchases") {
      for await _ in cut { break }
      await system.waitForCalls()
    } cutShort: {
      caller.yield()
    }
    #expect(system.returns == 1)
  }

  @Test func `a system that tells late that the time is over cuts nothing short`() async {
    let (system, cuts) = (TestSystem(), Locked(0))
    await BackgroundTime(system.activity(.enough)).run("send purchases") {
    } cutShort: {
      cuts.withLock { $0 += 1 }
    }
    system.call(true)
    await system.waitForCalls()
    for _ in 1...100 { await Task.yield() }
    #expect(system.returns == 2 && cuts.value == 0)
  }

  @Test func `a system that suspends nothing lets the work run`() async {
    let runs = Locked(0)
    await BackgroundTime(nil).run("send purchases") {
      runs.withLock { $0 += 1 }
    } cutShort: {
      Issue.record("cut short without a reason")
    }
    #expect(runs.value == 1)
  }
}
