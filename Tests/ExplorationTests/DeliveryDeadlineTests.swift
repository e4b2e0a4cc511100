import Testing
import VirtualTime

/// By when a purchase has to be delivered.
@Suite struct DeliveryDeadlineTests {
  private let bounds = DeliveryBounds(alone: 1_200_000)

  private func woken(at now: Int64) -> DeliveryDeadline {
    var deadline = DeliveryDeadline()
    deadline.observe([], at: now)
    deadline.woken(at: now)
    return deadline
  }

  @Test func `the first wake without an obstacle counts, and not the last`() {
    var deadline = woken(at: 1_000)
    deadline.woken(at: 50_000)
    #expect(deadline.due(bounds)?.at == 61_000)
    #expect(deadline.due(bounds)?.isWoken == true)
  }

  @Test func `after an obstacle the policy's bound holds, until the next wake`() {
    var deadline = woken(at: 1_000)
    deadline.observe(.network, at: 2_000)
    #expect(deadline.due(bounds) == nil)
    deadline.observe([], at: 3_000)
    #expect(deadline.due(bounds)?.at == 1_203_000)
    deadline.woken(at: 4_000)
    #expect(deadline.due(bounds)?.at == 64_000)
  }

  @Test func `each request that delivered others adds its own time, and no more`() {
    var deadline = woken(at: 0)
    for _ in 0..<3 { deadline.wentOn(for: 1_400) }
    #expect(deadline.due(bounds)?.at == 64_200)
    deadline.observe(.backend, at: 5_000)
    deadline.observe([], at: 6_000)
    #expect(deadline.due(bounds)?.at == 1_206_000)
  }

  @Test func `what arrives, and what the backend asked to wait with, has a time of its own`() {
    let deadline = woken(at: 0)
    #expect(deadline.due(bounds, arrival: 30_000)?.at == 90_000)
    #expect(deadline.due(bounds, floor: 600_000)?.at == 1_800_000)
    #expect(deadline.due(bounds, floor: 600_000)?.isWoken == false)
  }
}
