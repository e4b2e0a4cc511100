import Testing

@testable import PurchaseSync

@Suite struct PaceLimitsTests {
  @Test func `the documented policy allows two uploads a second at most`() {
    let limits = PaceLimits()
    #expect(limits.uploads <= 120)
    #expect(limits.fulfilments <= 120)
    #expect(limits.requests <= 160)
    #expect(limits.questions <= 120)
    #expect(limits.storeCalls <= 160)
  }

  @Test func `several engines of one file share the pace of uploads, and nothing else`() {
    let limits = PaceLimits()
    for kind in PaceLimits.Kind.allCases {
      #expect(limits.most(of: kind, engines: 1) == limits[kind])
      #expect(limits.most(of: kind, engines: 2) <= 2 * limits[kind])
    }
    #expect(limits.most(of: .upload, engines: 3) == limits.uploads)
  }

  @Test(arguments: [(2, 1), (1, 4)] as [(Int64, Int64)])
  func `a policy that sends less often has lower limits`(pace: Int64, window: Int64) {
    var slow = RetryPolicy()
    slow.paceMilliseconds *= pace
    slow.budgetWindowMilliseconds *= window
    #expect(PaceLimits(slow).uploads < PaceLimits().uploads)
    #expect(PaceLimits(slow).requests < PaceLimits().requests)
  }

  @Test func `a larger burst of the budget allows more uploads`() {
    var generous = RetryPolicy()
    generous.budgetBurst += 10
    #expect(PaceLimits(generous).uploads == PaceLimits().uploads + 10)
  }
}
