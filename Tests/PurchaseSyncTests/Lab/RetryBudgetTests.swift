import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

extension SplitMix64 {
  /// A number from 0 on, below the bound.
  mutating func below(_ bound: Int64) -> Int64 { Int64.random(in: 0..<bound, using: &self) }
}

@Suite struct RetryBudgetTests {
  private let policy = RetryPolicy()
  private let hour: Int64 = 3_600_000
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)
  private func later(_ milliseconds: Int64) -> Timestamp { noon.adding(milliseconds: milliseconds) }

  /// The number of retries that can be spent at once.
  private func drain(_ budget: inout RetryBudget, at now: Timestamp, _ policy: RetryPolicy? = nil) -> Int {
    var count = 0
    while budget.spend(.retry, now: now, policy: policy ?? self.policy) { count += 1 }
    return count
  }

  @Test func `twenty retries at once, then one each 45 seconds`() {
    var budget = RetryBudget()
    #expect(drain(&budget, at: noon) == 20)
    #expect(budget.spent(now: noon, policy: policy) == 20)
    #expect(budget.nextAllowed(.retry, now: noon, policy: policy) == later(45_000))
    #expect(drain(&budget, at: later(44_999)) == 0)
    #expect(drain(&budget, at: later(45_000)) == 1)
    #expect(drain(&budget, at: later(45_000 + 3 * 45_000)) == 3)
    #expect(drain(&budget, at: later(2 * hour)) == 20, "no more than twenty are saved")
  }

  @Test func `however many wakes came before, the next one waits for less than a minute`() {
    var budget = RetryBudget()
    for second in 0..<7_200 {
      let now = later(Int64(second) * 1_000)
      let next = budget.nextAllowed(.retry, now: now, policy: policy)
      #expect(next <= now.adding(milliseconds: 45_000))
      _ = budget.spend(.retry, now: now, policy: policy)
    }
  }

  @Test func `a person's request is refused never, and takes nothing from the retries`() {
    var budget = RetryBudget()
    for _ in 0..<1_000 {
      let isAllowed = budget.spend(.person, now: noon, policy: policy)
      #expect(isAllowed)
    }
    #expect(drain(&budget, at: noon) == 20)
    #expect(budget.nextAllowed(.person, now: noon, policy: policy) == noon)
  }

  @Test func `a kill refills nothing`() throws {
    var budget = RetryBudget()
    _ = drain(&budget, at: noon)
    let stored = try JSONDecoder().decode(RetryBudget.self, from: try JSONEncoder().encode(budget))
    #expect(stored == budget)
    var again = RetryBudget(fullAt: stored.fullAt)
    #expect(drain(&again, at: noon) == 0)
  }

  @Test(arguments: [-1, -3_600_000, -86_400_000, -31_536_000_000, Int64.min] as [Int64])
  func `a clock that goes back refills nothing, and starves no lane`(jump: Int64) {
    var budget = RetryBudget()
    _ = drain(&budget, at: noon)
    let now = later(jump)
    #expect(drain(&budget, at: now) == 0)
    budget.clamp(now: now, policy: policy)
    let next = budget.nextAllowed(.retry, now: now, policy: policy)
    #expect(next > now)
    #expect(next <= now.adding(milliseconds: 45_000))
    #expect(drain(&budget, at: next) == 1)
  }

  @Test(arguments: [900_000, 31_536_000_000, Int64.max / 2] as [Int64])
  func `a clock that goes forward refills what can be saved and no more`(jump: Int64) {
    var budget = RetryBudget()
    _ = drain(&budget, at: noon)
    let now = later(jump)
    #expect(drain(&budget, at: now) == 20)
    #expect(drain(&budget, at: noon) == 0, "and back again: nothing")
  }

  @Test func `no number of a damaged row crashes, or allows more than the budget`() {
    var random = SplitMix64(seed: 4)
    let numbers: [Int64] = [.min, -1, 0, 1, 255, 256, .max]
    for _ in 0..<1_000 {
      func any() -> Int64 {
        let index = Int(random.below(10))
        return index < numbers.count ? numbers[index] : Int64(bitPattern: random.next())
      }
      var budget = RetryBudget(fullAt: Timestamp(milliseconds: any()))
      let now = Timestamp(milliseconds: any() / 2)
      let next = budget.nextAllowed(.retry, now: now, policy: policy)
      #expect(next >= now)
      #expect(next <= now.adding(milliseconds: 45_000))
      #expect(drain(&budget, at: now) <= 20)
      #expect((0...20).contains(budget.spent(now: now, policy: policy)))
    }
  }

  @Test(arguments: [(0, 0), (-5, 3), (1, 5), (3, -1), (.max, 1)])
  func `odd budgets are at least one request in a window`(total: Int, burst: Int) {
    var policy = policy
    (policy.budgetPerWindow, policy.budgetBurst) = (total, burst)
    var budget = RetryBudget()
    let first = budget.spend(.retry, now: noon, policy: policy)
    #expect(first)
    #expect(budget.nextAllowed(.retry, now: noon, policy: policy) <= later(hour))
  }

  @Test(arguments: 0..<20)
  func `in each hour of the device's clock at most the policy's bound is spent, and each promise is kept`(
    seed: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let policy = seed.isMultiple(of: 2) ? policy : policy.scaled(by: 1_000)
    let window = policy.budgetWindowMilliseconds
    var budget = RetryBudget()
    // The ages of the spent requests, by a clock without jumps: the time that has passed.
    var (spends, passed): ([Int64], Int64) = ([], 0)
    var now: Int64 = 1_700_000_000_000
    for _ in 0..<1_500 {
      switch random.below(200) {
      case 0: now -= random.below(window * 40)
      case 1..<120:
        let step = random.below(window / 80 + 1)
        (now, passed) = (now + step, passed + step)
      default: break
      }
      let moment = Timestamp(milliseconds: now)
      if random.below(50) == 0 { budget = RetryBudget(fullAt: budget.fullAt) }  // A kill.
      budget.clamp(now: moment, policy: policy)
      let next = budget.nextAllowed(.retry, now: moment, policy: policy)
      let isAllowed = budget.spend(.retry, now: moment, policy: policy)
      #expect(isAllowed == (next == moment))
      if isAllowed { spends.append(passed) }
      spends.removeAll { passed - $0 >= window }
      try #require(spends.count <= policy.mostRetriesPerWindow)
      if !isAllowed {
        // The request is allowed at the moment that the budget has named.
        var later = budget
        let isAllowedThen = later.spend(.retry, now: next, policy: policy)
        #expect(isAllowedThen)
      }
    }
  }
}
