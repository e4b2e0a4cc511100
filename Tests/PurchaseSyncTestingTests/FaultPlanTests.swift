import LoopbackHTTP
import Testing

@testable import PurchaseSyncTesting

struct FaultPlanTests {
  private func strikes(_ plan: FaultPlan, _ requests: [(String, String)]) -> [Bool] {
    var plan = plan
    return requests.map { plan.next(method: $0.0, path: $0.1) != nil }
  }

  @Test func `an outage strikes the first requests to its path and no other`() {
    let requests = [
      ("GET", "/v1/a"), ("GET", "/other"), ("POST", "/v1/b"), ("GET", "/v1/a"), ("GET", "/v1/a"),
    ]
    #expect(strikes(.outage(path: "/v1", requests: 3), requests) == [true, false, true, true, false])
  }

  @Test func `a lost reply strikes one occurrence`() {
    let requests = Array(repeating: ("POST", "/v1/receipts"), count: 4)
    #expect(
      strikes(.replyLost(path: "/v1/receipts", occurrence: 3), requests) == [false, false, true, false])
  }

  @Test func `a rule of one method does not count the others`() {
    let plan = FaultPlan([.init(method: "POST", path: "/", from: 2, count: nil, fault: .reset)])
    let requests = [("POST", "/"), ("GET", "/"), ("POST", "/"), ("POST", "/")]
    #expect(strikes(plan, requests) == [false, false, true, true])
  }

  @Test func `the first of several rules applies, and the others count the request nevertheless`() {
    let plan = FaultPlan.requestLost(path: "/", occurrence: 1).merging(
      FaultPlan([.init(path: "/", from: 1, count: 2, fault: .reset)]))
    var mutable = plan
    #expect(mutable.next(method: "GET", path: "/") == .dropBeforeCommit)
    #expect(mutable.next(method: "GET", path: "/") == .reset)
    #expect(mutable.next(method: "GET", path: "/") == nil)
  }

  @Test(arguments: [(0, 0), (Int.max, Int.max), (Int.min, nil), (1, -1)])
  func `extreme numbers in a rule do not overflow`(from: Int, count: Int?) {
    var plan = FaultPlan([.init(path: "", from: from, count: count, fault: .reset)])
    for _ in 0..<3 { _ = plan.next(method: "GET", path: "/") }
  }

  @Test func `the same seed gives the same plan, another seed another`() {
    func faults(_ seed: UInt64) -> [Fault?] {
      var plan = FaultPlan.random(seed: seed, paths: ["/v1"], requests: 50, chance: 0.5)
      return (0..<60).map { _ in plan.next(method: "POST", path: "/v1/receipts") }
    }
    #expect(faults(1) == faults(1))
    #expect(faults(1) != faults(2))
    #expect(faults(1)[50...].allSatisfy { $0 == nil })
    var calm = FaultPlan.random(seed: 1, paths: ["/v1"], requests: 50, chance: 0)
    #expect(calm.next(method: "POST", path: "/v1") == nil)
  }

  @Test func `the generator gives the published sequence`() {
    // Reference values of splitmix64.c (Vigna) for seed 1234567.
    var generator = SplitMix64(seed: 1_234_567)
    let values = (0..<3).map { _ in generator.next() }
    #expect(values == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
  }
}
