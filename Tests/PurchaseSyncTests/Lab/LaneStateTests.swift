import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct LaneStateTests {
  enum State: CaseIterable, Sendable { case idle, inFlight, signInNeeded }
  enum Event: CaseIterable, Sendable {
    case wake, signedIn, send, stopped, ended, needSignIn, discarded, arrived
  }

  private static func entry(_ id: String, readyAt: Int64 = 0) -> Entry {
    var entry = Entry(
      place: 1, key: key(id), lane: alice, orderNumber: nil, details: "", payloads: [], now: midday)
    entry.readyAt = Timestamp(milliseconds: readyAt)
    return entry
  }

  private static func lane(_ state: State) -> LaneState {
    var lane = LaneState()
    switch state {
    case .idle: break
    case .inFlight: lane.sends([entry("100"), entry("101")])
    case .signInNeeded: lane.needSignIn()
    }
    return lane
  }

  private static func state(of lane: LaneState) -> State {
    switch lane.activity {
    case .idle: .idle
    case .inFlight: .inFlight
    case .signInNeeded: .signInNeeded
    }
  }

  @Test(arguments: Event.allCases, State.allCases)
  func `each event leads from each state to the documented one`(event: Event, before: State) {
    var lane = Self.lane(before)
    var delays = Delays(RetryPolicy(), seed: 1)
    let after: State
    switch event {
    case .wake:
      lane.wake(for: .retry, now: midday, &delays)
      after = before == .signInNeeded ? .idle : before
    case .signedIn:
      lane.signedIn()
      after = before
    case .send:
      lane.sends([Self.entry("102")])
      after = .inFlight
    case .stopped:
      lane.stopped()
      after = .idle
    case .ended:
      lane.ended(LaneBackoff())
      after = .idle
    case .needSignIn:
      lane.needSignIn()
      after = .signInNeeded
    case .discarded:
      lane.discarded(key("100"))
      after = before
    case .arrived:
      lane.arrived(bought("100"))
      after = before
    }
    #expect(Self.state(of: lane) == after)
  }

  @Test func `a discarded entry does not get the answer of the request in flight`() {
    var lane = Self.lane(.inFlight)
    lane.discarded(key("100"))
    lane.discarded(key("200"))
    let request = lane.answeredRequest
    #expect(request.answerable == [key("101")])
    #expect(request.discarded == [key("100")])
    #expect(request.entries.count == 2)
    lane.stopped()
    lane.sends([Self.entry("100")])
    #expect(lane.answeredRequest.answerable == [key("100")], "the discard does not apply to a new request")
  }

  @Test func `new credentials count for the request that was in flight, not for the next one`() {
    var lane = Self.lane(.inFlight)
    #expect(!lane.answeredRequest.hasNewCredentials)
    lane.signedIn()
    #expect(lane.answeredRequest.hasNewCredentials)
    lane.stopped()
    lane.signedIn()
    lane.sends([Self.entry("100")])
    #expect(!lane.answeredRequest.hasNewCredentials)
  }

  @Test func `a delivery counts only for entries in flight, until a reply`() {
    var lane = Self.lane(.inFlight)
    lane.arrived(bought("100"))
    lane.arrived(bought("200"))
    #expect(Array(lane.arrivedInFlight.keys) == [key("100")])
    lane.stopped()
    #expect(!lane.arrivedInFlight.isEmpty, "the entry is sent again, and its details are the old ones")
    lane.sends([Self.entry("100")])
    lane.ended(LaneBackoff())
    #expect(lane.arrivedInFlight.isEmpty)
    lane.arrived(bought("100"))
    #expect(lane.arrivedInFlight.isEmpty, "nothing is in flight")
  }

  @Test func `a discarded entry's delivery does not count any more`() {
    var lane = Self.lane(.inFlight)
    lane.arrived(bought("100"))
    lane.discarded(key("100"))
    #expect(lane.arrivedInFlight.isEmpty)
  }

  @Test func `entries that were postponed and entries that were not take turns`() {
    var lane = LaneState()
    #expect(!lane.sendsDueFirst)
    lane.sends([Self.entry("100")])
    #expect(lane.sendsDueFirst)
    lane.sends([Self.entry("101", readyAt: 1)])
    #expect(!lane.sendsDueFirst)
  }

  @Test func `a person's request uses the reserve once`() {
    var lane = LaneState()
    var delays = Delays(RetryPolicy(), seed: 1)
    lane.wake(for: .retry, now: midday, &delays)
    #expect(lane.purpose == .retry)
    lane.wake(for: .person, now: midday, &delays)
    lane.wake(for: .retry, now: midday, &delays)
    #expect(lane.purpose == .person)
    lane.sends([Self.entry("100")])
    #expect(lane.purpose == .retry)
  }

  // MARK: Sending

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
    _ lane: inout LaneState, _ storage: MemoryStorage, _ retry: inout RetryLedger, at now: Timestamp
  ) throws -> [SyncAction] {
    var actions: [SyncAction] = []
    try lane.sendNext(alice, from: storage, &retry, now: now, policy: RetryPolicy(), into: &actions)
    return actions
  }

  private func begin(
    _ lane: inout LaneState, _ storage: MemoryStorage, _ retry: inout RetryLedger, at now: Timestamp
  ) throws -> Bool {
    try lane.beginAttempt(of: alice, in: storage, &retry, now: now, policy: RetryPolicy())
  }

  @Test func `a lane that waits asks for a wake-up and reserves nothing`() throws {
    let storage = try storage()
    var retry = RetryLedger()
    var delays = Delays(RetryPolicy(), seed: 1)
    var lane = LaneState()
    lane.failed(.backendFault(reason: ""), InFlight([Self.entry("100")]), &retry, now: midday, &delays)
    let opens = lane.backoff.opensAt(now: midday)
    #expect(try sendNext(&lane, storage, &retry, at: midday) == [.wake(at: opens)])
    #expect(lane.inFlight == nil)
    #expect(try sendNext(&lane, storage, &retry, at: opens).sent == [["100"]])
    #expect(lane.inFlight?.hasBegun == false)
    #expect(try sendNext(&lane, storage, &retry, at: opens).isEmpty, "one request at a time")
  }

  @Test func `only an attempt that begins is recorded`() throws {
    let storage = try storage()
    var (lane, retry) = (LaneState(), RetryLedger())
    _ = try sendNext(&lane, storage, &retry, at: midday)
    #expect(storage.entry(key("100"))?.attempts == 0)
    #expect(try begin(&lane, storage, &retry, at: midday))
    #expect(storage.entry(key("100"))?.attempts == 1)
    #expect(lane.inFlight?.hasBegun == true)
  }

  enum Change: CaseIterable, Sendable { case settled, postponed, quarantined, backendFails }

  @Test(arguments: Change.allCases)
  func `what changed while the request was prepared holds it back`(change: Change) throws {
    let storage = try storage()
    var (lane, retry) = (LaneState(), RetryLedger())
    _ = try sendNext(&lane, storage, &retry, at: midday)
    let later = midday.adding(milliseconds: 3_600_000)
    switch change {
    case .settled:
      _ = try storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: midday)
    case .postponed: try storage.postpone(key("100"), until: later, reason: "", now: midday)
    case .quarantined: _ = try storage.quarantine(key("100"), reason: "", now: midday)
    case .backendFails:
      // Another process was asked to wait.
      var (other, backoff) = (RetryLedger(), LaneBackoff())
      var delays = Delays(RetryPolicy(), seed: 1)
      other.failed(
        .backendBusy(reason: "", retryAfterMilliseconds: 60_000), &backoff, now: midday, &delays)
      try other.commit(in: storage, now: midday)
    }
    #expect(try !begin(&lane, storage, &retry, at: midday))
    #expect(lane.activity == .idle)
    #expect(storage.entry(key("100"))?.attempts ?? 0 == 0)
  }

  @Test func `a request that is held back keeps its purpose`() throws {
    let storage = try storage()
    var (lane, retry) = (LaneState(), RetryLedger())
    var delays = Delays(RetryPolicy(), seed: 1)
    lane.wake(for: .person, now: midday, &delays)
    _ = try sendNext(&lane, storage, &retry, at: midday)
    lane.stopped()
    #expect(lane.purpose == .person)
    _ = try sendNext(&lane, storage, &retry, at: midday)
    #expect(try begin(&lane, storage, &retry, at: midday))
    #expect(lane.purpose == .retry)
  }
}

extension LaneState {
  /// A request for these entries is prepared, and goes out.
  fileprivate mutating func sends(_ entries: [Entry]) {
    reserve(entries)
    if let inFlight { begin(inFlight) }
  }
}

@Suite struct LaneTableTests {
  @Test func `a lane that is not known is idle`() {
    #expect(LaneTable()[alice].activity == .idle)
    #expect(!LaneTable().hasInFlight)
  }

  @Test(arguments: [
    (WakeReason.foreground, true, false), (.networkBack, false, false), (.userAsked, true, true),
    (.signedIn(account: "alice"), true, false), (.signedIn(account: "bob"), false, false),
  ])
  func `each wake-up reason wakes the right lanes`(reason: WakeReason, endsSignIn: Bool, isForPerson: Bool)
    throws
  {
    var lanes = LaneTable()
    lanes[alice].needSignIn()
    var delays = Delays(RetryPolicy(), seed: 1)
    try lanes.woken(reason, in: MemoryStorage(), now: midday, &delays)
    #expect((lanes[alice].activity == .idle) == endsSignIn)
    #expect((lanes[alice].purpose == .person) == isForPerson)
  }
}
