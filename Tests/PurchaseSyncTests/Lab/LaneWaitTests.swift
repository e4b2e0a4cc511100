import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// How long a lane waits, and what ends a wait.
@Suite struct LaneWaitTests {
  @Test(arguments: [UploadFailure.tokenRefused, .signInNeeded], [WakeReason.foreground, .userAsked])
  func `a wake during a request that lacks credentials has its effect after it, once`(
    failure: UploadFailure, reason: WakeReason
  ) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    if failure == .tokenRefused {
      #expect(try run.fail(alice, failure).sent == [["100"]], "the first refusal")
    }
    _ = run.wake(reason)
    #expect(try run.fail(alice, failure).sent == [["100"]])
    #expect(try run.fail(alice, failure).sent == [], "no wake came since")
  }

  private static let policy = RetryPolicy()

  /// A storage with one entry of alice, which has not been sent.
  private func storage() throws -> MemoryStorage {
    let storage = MemoryStorage()
    storage.book.add(1)
    let transaction = bought("100", token: 1)
    let match = try OrderMatcher.match(transaction, from: storage)
    _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    return storage
  }

  private func sendNext(
    _ lane: inout LaneState, _ storage: MemoryStorage, at now: Timestamp = midday
  ) throws -> [SyncAction] {
    var (actions, retry): ([SyncAction], RetryLedger) = ([], RetryLedger())
    try lane.sendNext(alice, from: storage, &retry, now: now, policy: Self.policy, into: &actions)
    return actions
  }

  private func wait(of lane: LaneState) -> Int64 {
    lane.backoff.opensAt(now: midday).milliseconds(since: midday)
  }

  @Test(arguments: 1...3)
  func `what the backend refuses for the first time is sent again soon`(claims: Int) {
    for seed in 1...20 as ClosedRange<UInt64> {
      var (lane, retry, delays) = (LaneState(), RetryLedger(), Delays(Self.policy, seed: seed))
      let request = InFlight((0..<claims).map { Entry(bought(String($0))) })
      lane.failed(.backendFault(reason: ""), request, &retry, now: midday, &delays)
      #expect(wait(of: lane) <= Self.policy.ceiling(afterFailures: 1))
    }
  }

  @Test func `a lane whose head was put aside goes on at the usual pace`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var (lane, retry, delays) = (LaneState(), RetryLedger(), Delays(Self.policy, seed: seed))
      let request = InFlight([Entry(bought("100"))])
      for _ in 1...8 { lane.failed(.backendFault(reason: ""), request, &retry, now: midday, &delays) }
      #expect(wait(of: lane) >= Self.policy.ceilingMilliseconds / 2)
      lane.goesOn(now: midday, &delays)
      #expect(wait(of: lane) <= Self.policy.ceiling(afterFailures: 3))
    }
  }

  @Test func `a wait for another token that a person ended does not end a later wait for a sign-in`() throws {
    let storage = try storage()
    var (lane, delays) = (LaneState(), Delays(Self.policy, seed: 1))
    _ = lane.refused(now: midday, &delays)
    _ = lane.refused(now: midday, &delays)
    let due = try #require(lane.signIn.due)
    #expect(try sendNext(&lane, storage) == [.wake(at: due)])
    lane.wake(for: .person, now: midday, &delays)
    lane.needSignIn()
    #expect(try sendNext(&lane, storage, at: due) == [], "without credentials, only a sign-in helps")
  }

  @Test func `a delivery during a request is known when the answer comes`() {
    var lane = LaneState()
    lane.reserve([Entry(bought("100"))])
    lane.arrived(bought("100"))
    #expect(lane.inFlight?.arrived == [key("100")])
  }

  @Test func `a pause that another process was asked for holds the lane`() throws {
    let storage = try storage()
    var (other, backoff, delays) = (RetryLedger(), LaneBackoff(), Delays(Self.policy, seed: 1))
    let busy = UploadFailure.backendBusy(reason: "", retryAfterMilliseconds: 60_000)
    other.failed(busy, &backoff, now: midday, &delays)
    try other.commit(in: storage, now: midday)
    var lane = LaneState()
    let actions = try sendNext(&lane, storage)
    #expect(actions.sent == [] && actions.wakes.count == 1)
  }

  @Test func `an entry that a process with another clock postponed by a year waits for a day`() throws {
    let storage = try storage()
    let wait = Wait(.asked, began: midday.adding(milliseconds: inDays(365)), milliseconds: inDays(1))
    try storage.postpone(key("100"), wait, reason: "", now: midday)
    var lane = LaneState()
    let latest = midday.adding(milliseconds: Self.policy.horizonMilliseconds)
    #expect(try sendNext(&lane, storage) == [.wake(at: latest)])
    #expect(storage.nextReadyAt(in: alice) == latest, "the next look would wait a day again")
    #expect(try sendNext(&lane, storage, at: latest).sent == [["100"]])
  }
}

extension Entry {
  fileprivate init(_ transaction: StoreTransaction) {
    self.init(
      place: 1, key: transaction.key, lane: alice, orderNumber: nil, details: "", payloads: [], now: midday)
  }
}
