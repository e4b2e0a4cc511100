import Testing

@testable import Exploration

/// The run queue of the engine simulation, with closures in the place of the runtime's jobs.
@Suite struct SeededQueueTests {
  /// The order in which ten pieces of work run.
  private func order(seed: UInt64) -> [Int] {
    let queue = SeededQueue(seed: seed)
    var order: [Int] = []
    for number in 0..<10 { queue.enqueue { order.append(number) } }
    while queue.step() {}
    return order
  }

  @Test func `the seed decides which ready job runs next`() {
    #expect(order(seed: 1) == order(seed: 1))
    #expect(Set((0..<20).map { order(seed: $0) }).count > 15)
    for seed in 0..<20 as Range<UInt64> { #expect(order(seed: seed).sorted() == Array(0..<10)) }
  }

  @Test func `time passes only when no job is ready, and stands still between two timers of one moment`() {
    let queue = SeededQueue(seed: 1)
    var log: [String] = []
    queue.after(20) { log.append("b at \(queue.now)") }
    queue.after(20) { log.append("c at \(queue.now)") }
    queue.after(5) { queue.enqueue { log.append("a at \(queue.now)") } }
    while queue.step() {}
    #expect(log == ["a at 5", "b at 20", "c at 20"])
  }

  @Test func `a timer that is removed does not fire, and none fires beyond the horizon`() {
    let queue = SeededQueue(seed: 1)
    var fired: [Int] = []
    let removed = queue.after(5) { fired.append(1) }
    queue.after(6) { fired.append(2) }
    queue.after(7) { fired.append(3) }
    #expect(queue.remove(removed) && !queue.remove(removed))
    while queue.step(until: 6) {}
    #expect(fired == [2])
    queue.pass(until: 100)
    #expect(queue.now == 7)
  }

  @Test func `with stalls a timer may fire before a ready job`() {
    let queue = SeededQueue(seed: 1)
    queue.stalls = 1_000
    var log: [String] = []
    queue.enqueue { log.append("work") }
    queue.after(9) { log.append("timer") }
    while queue.step() {}
    #expect(log == ["timer", "work"])
    #expect(queue.stalled == 1)
  }

  @Test func `jobs of a dead process end outside of the run`() {
    let queue = SeededQueue(seed: 1)
    var log: [Int] = []
    queue.owner = 7
    queue.enqueue { log.append(queue.owner) }
    queue.after(50) { log.append(queue.owner * 10) }
    queue.owner = 8
    queue.enqueue { log.append(queue.owner) }
    queue.owner = 0
    let hash = queue.hash
    queue.bury(7)
    #expect(log == [7, 70])
    #expect(queue.hash == hash && queue.now == 0)
    while queue.step() {}
    #expect(log == [7, 70, 8])
  }
}
