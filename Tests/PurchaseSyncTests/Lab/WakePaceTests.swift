import Testing

@testable import PurchaseSync

/// Wakes that come faster than their pace have their effect later, and none is lost.
@Suite struct WakePaceTests {
  @Test(arguments: [WakeReason.userAsked, .networkBack, .foreground, .signedIn(account: "alice")])
  func `wakes without end have as many effects as the pace allows`(reason: WakeReason) {
    var (pace, effects) = (WakePace(), 0)
    for now in Int64(0)..<60_000 {
      if pace.takes(reason, at: now) { effects += 1 }
      effects += pace.due(at: now).count
    }
    let most = reason == .signedIn(account: "alice") ? CallPace.signIns : CallPace.wakes
    #expect(effects <= most.most(within: 60_000))
    #expect(effects >= most.burst)
  }

  @Test func `a sign-in that comes too fast has its effect at its moment, and other accounts do not wait`() {
    var pace = WakePace()
    let taken = (0..<4).map { _ in pace.takes(.signedIn(account: "alice"), at: 0) }
    #expect(taken == [true, true, true, false])
    let isTaken = pace.takes(.signedIn(account: "bob"), at: 0)
    #expect(isTaken)
    let wait = pace.wait(at: 0)
    #expect(wait == CallPace.signIns.interval)
    let early = pace.due(at: CallPace.signIns.interval - 1)
    #expect(early.isEmpty)
    let due = pace.due(at: CallPace.signIns.interval)
    #expect(due == [.signedIn(account: "alice")])
    #expect(pace.wait(at: CallPace.signIns.interval) == nil)
  }
}
