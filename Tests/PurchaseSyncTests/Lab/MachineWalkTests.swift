import PurchaseQueue
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// Random events at random moments; an observer checks the invariants.
@Suite struct MachineWalkTests {
  @Test(arguments: LongTests.seeds(short: 12, long: 60))
  func `random events break no invariant, and each purchase is delivered`(seed: UInt64) {
    if let failure = Self.walk(seed: seed, steps: 250) { Issue.record("\(failure)") }
  }

  @Test func `the same seed, the same run`() {
    func trace(_ seed: UInt64) -> [String] {
      var walk = MachineWalk(seed: seed)
      walk.restart("begin")
      for _ in 0..<200 { walk.randomStep() }
      return walk.trace
    }
    #expect(trace(7) == trace(7))
    #expect(trace(7) != trace(8))
  }

  /// The first broken invariant with the last steps; nil if none is broken.
  static func walk(seed: UInt64, steps: Int) -> String? {
    var walk = MachineWalk(seed: seed)
    walk.restart("begin")
    for _ in 0..<steps {
      walk.randomStep()
      if let failure = failure(walk) { return failure }
    }
    walk.calmDown()
    return failure(walk)
  }

  private static func failure(_ walk: MachineWalk) -> String? {
    guard let first = walk.observer.broken.first else { return nil }
    return first + "\n" + walk.trace.suffix(30).joined(separator: "\n")
  }
}

extension MachineWalk {
  /// No faults any more: the network, the backend, the store and the app do what they should. Each store account is
  /// there for three days, and is listed when it comes, when the machine asks for it, and at the end, as the next
  /// launch does: what a new ledger epoch sent again may have been finished long ago, and only a listing shows it.
  mutating func calmDown() {
    trace.append("no faults any more")
    isCalm = true
    restart("for the last time")
    for reason in [WakeReason.foreground] + Self.accounts.map({ .signedIn(account: $0) }) { wake(reason) }
    for account in Self.storeAccounts {
      storeAccount = account
      list()
      let end = now.adding(milliseconds: inDays(3))
      for _ in 0..<1_000 where now < end && observer.broken.isEmpty { calmRound(end) }
      list()
    }
    observer.checkEnd(self)
    guard observer.broken.isEmpty else { return }
    let moment = now
    observer.checkRest(machine.timerFired(now: moment))
  }

  private mutating func calmRound(_ end: Timestamp) {
    while !uploads.isEmpty { answer() }
    while !claims.isEmpty { endAdoption() }
    for _ in 0..<finishes.count { endFinish() }
    for key in observer.told.sorted(by: { $0.rawValue < $1.rawValue }) { seen(key) }
    if wantsListing { list() }
    guard uploads.isEmpty, claims.isEmpty, finishes.isEmpty, !wantsListing else { return }
    now = max(now, timer ?? end)
    if timer != nil { fire() }
  }

  private mutating func seen(_ key: EntryKey) {
    step("\(key.id) is seen") { (machine, now) throws(QueueError) in
      try machine.outcomeConfirmed(key, now: now)
    }
    observer.saw(key)
  }
}
