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

  /// The number of requests that can be spent at once.
  private func drain(_ budget: inout RetryBudget, _ purpose: RetryBudget.Purpose, at now: Timestamp) -> Int {
    var count = 0
    while budget.spend(purpose, now: now, policy: policy) { count += 1 }
    return count
  }

  @Test func `sixty requests an hour, the last twenty only for people's requests`() {
    var budget = RetryBudget()
    #expect(drain(&budget, .retry, at: noon) == 40)
    #expect(drain(&budget, .person, at: noon) == 20)
    #expect(budget.spent(.retry, now: noon, policy: policy) == 40)
    #expect(budget.spent(.person, now: noon, policy: policy) == 20)
  }

  @Test func `people's requests may use the whole budget, the reserve first`() {
    var budget = RetryBudget()
    for _ in 0..<20 { _ = budget.spend(.person, now: noon, policy: policy) }
    #expect(drain(&budget, .retry, at: noon) == 40)
    var other = RetryBudget()
    #expect(drain(&other, .person, at: noon) == 60)
    #expect(drain(&other, .retry, at: noon) == 0)
  }

  @Test func `spent requests come back after an hour, and within 70 minutes`() {
    var budget = RetryBudget()
    _ = drain(&budget, .retry, at: noon)
    #expect(drain(&budget, .retry, at: noon.adding(milliseconds: hour - 1)) == 0)
    #expect(drain(&budget, .retry, at: noon.adding(milliseconds: hour * 7 / 6)) == 40)
  }

  @Test func `a kill refills nothing`() throws {
    var budget = RetryBudget()
    _ = drain(&budget, .person, at: noon)
    let stored = try JSONDecoder().decode(RetryBudget.self, from: try JSONEncoder().encode(budget))
    #expect(stored == budget)
    var again = RetryBudget(slotBegan: stored.slotBegan, retries: stored.retries, persons: stored.persons)
    #expect(drain(&again, .person, at: noon) == 0)
  }

  @Test(arguments: [-1, -3_600_000, -31_536_000_000, Int64.min] as [Int64])
  func `a clock that goes back refills nothing, and starves no lane`(jump: Int64) {
    var budget = RetryBudget()
    _ = drain(&budget, .person, at: noon)
    let now = noon.adding(milliseconds: jump)
    #expect(drain(&budget, .person, at: now) == 0)
    let next = budget.nextAllowed(.person, now: now, policy: policy)
    #expect(next > now && next <= now.adding(milliseconds: hour * 7 / 6))
    #expect(drain(&budget, .person, at: next) == 60)
  }

  @Test(arguments: [3_600_000 * 7 / 6, 31_536_000_000, Int64.max] as [Int64])
  func `a clock that goes forward refills one window and no more`(jump: Int64) {
    var budget = RetryBudget()
    _ = drain(&budget, .person, at: noon)
    let now = noon.adding(milliseconds: jump)
    #expect(drain(&budget, .person, at: now) == 60)
    #expect(drain(&budget, .person, at: noon) == 0, "and back again: nothing")
  }

  @Test func `no numbers of a damaged row crash, or allow more than the budget`() {
    var random = SplitMix64(seed: 4)
    let numbers: [Int64] = [.min, -1, 0, 1, 255, 256, .max]
    for _ in 0..<1_000 {
      func any() -> Int64 {
        let index = Int(random.below(10))
        return index < numbers.count ? numbers[index] : Int64(bitPattern: random.next())
      }
      var budget = RetryBudget(slotBegan: Timestamp(milliseconds: any()), retries: any(), persons: any())
      let now = Timestamp(milliseconds: any())
      for purpose in RetryBudget.Purpose.allCases {
        let next = budget.nextAllowed(purpose, now: now, policy: policy)
        #expect(next >= now && next <= now.adding(milliseconds: 86_400_000))
        #expect(drain(&budget, purpose, at: now) <= 60)
      }
    }
  }

  @Test func `odd budgets are kept`() {
    for (total, reserve) in [(0, 0), (-5, 3), (1, 5), (3, -1), (5_000, 20)] {
      var policy = policy
      (policy.budgetPerWindow, policy.budgetReserved) = (total, reserve)
      var budget = RetryBudget()
      var count = 0
      while budget.spend(.person, now: noon, policy: policy) { count += 1 }
      #expect(count == min(max(total, 0), 255))
      let next = budget.nextAllowed(.person, now: noon, policy: policy)
      #expect(next > noon && next <= noon.adding(milliseconds: 86_400_000))
    }
  }

  // MARK: Compared with a simple model

  /// A plain list of the requests within a window. A request leaves the list when the window is over. After the clock
  /// went back, each request keeps its age if `staysOld` is set, and starts again at age 0 otherwise.
  private struct Model {
    let window: Int64
    let staysOld: Bool
    var spends: [(at: Int64, purpose: RetryBudget.Purpose)] = []

    mutating func clock(_ before: Int64, _ now: Int64) {
      if now < before {
        for index in spends.indices { spends[index].at = staysOld ? spends[index].at + now - before : now }
      }
      spends.removeAll { now - $0.at >= window }
    }

    func count(_ purpose: RetryBudget.Purpose) -> Int { spends.count { $0.purpose == purpose } }
  }

  @Test(arguments: 0..<20) func `in each hour of the device's clock, at most the budget is spent`(
    seed: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let policy = seed.isMultiple(of: 2) ? policy : policy.scaled(by: 1_000)
    let window = policy.budgetWindowMilliseconds
    var budget = RetryBudget()
    // The short model remembers an hour and must never exceed the budget. The long model remembers eight sevenths of
    // an hour: a request may be refused only if the long model is full.
    var (short, long) = (
      Model(window: window, staysOld: true), Model(window: window / 7 * 8 + 8, staysOld: false)
    )
    var now: Int64 = 1_700_000_000_000
    for _ in 0..<1_500 {
      let before = now
      switch random.below(200) {
      case 0: now -= random.below(window * 40)
      case 1: now += random.below(window * 40)
      case 2..<120: now += random.below(window / 60 + 1)
      case 120..<130: now += random.below(window)
      default: break
      }
      short.clock(before, now)
      long.clock(before, now)
      let moment = Timestamp(milliseconds: now)
      let purpose: RetryBudget.Purpose = random.below(3) == 0 ? .person : .retry
      if random.below(50) == 0 {  // A kill.
        budget = RetryBudget(slotBegan: budget.slotBegan, retries: budget.retries, persons: budget.persons)
      }
      let next = budget.nextAllowed(purpose, now: moment, policy: policy)
      let isAllowed = budget.spend(purpose, now: moment, policy: policy)
      #expect(isAllowed == (next == moment))
      if isAllowed {
        short.spends.append((now, purpose))
        long.spends.append((now, purpose))
      }
      try #require(short.spends.count <= 60)
      if !isAllowed {
        let persons = purpose == .person ? long.count(.person) : max(long.count(.person), 20)
        #expect(long.count(.retry) + persons >= 60)
        // The request is allowed at the moment that the budget has named.
        var later = budget
        let isAllowedThen = later.spend(purpose, now: next, policy: policy)
        #expect(isAllowedThen)
        #expect(next.milliseconds - now <= long.window)
      }
    }
  }
}
