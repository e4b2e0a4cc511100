import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting

@testable import PurchaseSync

/// Checks a walk from outside. It sees the events and the actions of the machine, but not how the machine decides. Each
/// message begins with the number of the broken invariant (`Invariants`).
struct MachineWalkObserver {
  private static let day = inDays(1)
  private let storage: MemoryStorage
  /// The broken invariants, in the order in which they were found. The first one matters.
  private(set) var broken: [String] = []

  var paid: Set<EntryKey> = []
  /// Outcomes that the app got in this process and has not confirmed.
  private(set) var told: Set<EntryKey> = []
  /// Whether the storage failed in this event.
  var wasStruck = false

  /// The verdicts of this event.
  private var given: [EntryKey: Set<Verdict>] = [:]
  /// Transactions that a verdict has settled.
  private var settled: Set<EntryKey> = []
  /// Accounts with a stored adoption after the last event.
  private var claimed: Set<String> = []
  /// Accounts whose adoption was durable in this process and has not ended without a storage fault. A storage that
  /// fails may still have ended an adoption, and the machine may not know.
  private var kept: Set<String> = []
  /// Accounts whose last adoption request was sent when the device lane held none of the entries that it covers.
  private var lastClaims: Set<String> = []
  /// The account for which the app asks for an adoption in this event.
  private var asked: String?
  /// Accounts for which the app learned that the adoption could not be stored. It may be stored nevertheless. The
  /// adoption from before stays in force.
  private var refused: Set<String> = []
  private var entries: [EntryKey: Entry] = [:]
  /// Lanes whose last upload had an entry at its head that never had to wait.
  private var wasFresh: Set<Lane> = []
  private var attempts: [Int64: Int] = [:]
  private var orderOf: [EntryKey: String] = [:]
  private var transactionOf: [String: EntryKey] = [:]

  /// No request may be sent before these moments.
  private var floor: (all: Timestamp, byKey: [EntryKey: Timestamp], byLane: [Lane: Timestamp])
  /// Entries whose floor may not be stored, because the storage failed.
  private var unkept: Set<EntryKey> = []
  /// The same for the floor of all lanes.
  private var isAllUnkept = false
  /// Floors that this event has set.
  private var touched: Set<EntryKey> = []
  private var touchesAll = false
  /// Whether the last request to the backend failed.
  private var isFailing = false
  /// Lanes whose last upload in this process failed.
  private var failing: Set<Lane> = []
  /// When requests after a failure were sent.
  private var spent: [Timestamp] = []
  /// Lanes and accounts whose next request follows an act of a person, and whether all others do that are not in the
  /// second set: a tap is about all of them.
  private var personal: Set<Lane> = []
  private var sentSinceTap: Set<Lane>?
  /// Lanes that wait for a wake-up: their account is not signed in, or the engine itself ended their upload.
  private var waiting: Set<Lane> = []

  init(_ storage: MemoryStorage) {
    self.storage = storage
    floor = (Timestamp(milliseconds: .min), [:], [:])
  }

  private mutating func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds { broken.append(what()) }
  }

  private mutating func endEvent() {
    if let asked, wasStruck { refused.insert(asked) } else if let asked { refused.remove(asked) }
    asked = nil
    given = [:]
    touched = []
    touchesAll = false
    wasStruck = false
  }

  // MARK: Events that the machine gets

  mutating func failed(_ failure: UploadFailure, _ lane: Lane, _ keys: [EntryKey], at now: Timestamp) {
    waiting.remove(lane)
    switch failure.inLane(lane) {
    case .retry(_, let asked), .requestFailed(_, let asked):
      isFailing = true
      failing.insert(lane)
      if let asked {
        let until = Self.floor(asked, now)
        floor.byLane[lane] = until
        for key in keys { set(until, key) }
      }
    case .backendBusy(_, let asked):
      isFailing = true
      failing.insert(lane)
      if let asked { raise(Self.floor(asked, now)) }
    case .backendFault, .otherProtocol: failing.insert(lane)
    case .signInNeeded, .tokenRefused, .interrupted: waiting.insert(lane)
    case .proofMissing, .laneTaken, .unprepared, .accountRefused, .unreadable: break
    }
  }

  mutating func adoptionFailed(_ failure: UploadFailure, at now: Timestamp) {
    switch failure {
    case .retry, .requestFailed: isFailing = true
    case .backendBusy(_, let asked):
      isFailing = true
      if let asked { raise(Self.floor(asked, now)) }
    default: break
    }
  }

  mutating func replied(_ verdicts: [ClaimVerdict], to lane: Lane, _ keys: [EntryKey], at now: Timestamp) {
    isFailing = false
    failing.remove(lane)
    floor.byLane[lane] = nil
    for key in keys { floor.byKey[key] = nil }
    var answered: Set<EntryKey> = []
    for verdict in verdicts {
      let key = EntryKey(rawValue: "Production/" + verdict.transactionID)
      given[key, default: []].insert(verdict.verdict)
      // If a claim has two verdicts, the first one counts.
      guard keys.contains(key), answered.insert(key).inserted, !verdict.verdict.isSettled else { continue }
      if let seconds = verdict.retryAfter, seconds > 0 {
        set(Self.floor(Int64(min(seconds, 1e9)) * 1_000, now), key)
      }
    }
  }

  mutating func woke(_ reason: WakeReason) {
    switch reason {
    case .foreground: waiting = []
    case .userAsked: (waiting, sentSinceTap) = ([], [])
    case .networkBack: break
    case .signedIn(let account): waiting.remove(.account(account))
    }
  }

  /// No floor is further away than before, even after the clock went back.
  mutating func jumped(from before: Timestamp, to now: Timestamp) {
    // A floor that has passed does not apply again. Of the others, what is left counts from the new time on: a wait is a
    // length.
    let back = min(now.milliseconds(since: before), 0)
    if floor.all <= before { floor.all = Timestamp(milliseconds: .min) }
    floor.byKey = floor.byKey.filter { $0.value > before }
    floor.byLane = floor.byLane.filter { $0.value > before }
    floor.all = floor.all.adding(milliseconds: back)
    floor.byKey = floor.byKey.mapValues { $0.adding(milliseconds: back) }
    floor.byLane = floor.byLane.mapValues { $0.adding(milliseconds: back) }
    spent = []
  }

  /// The process dies: the state that was not stored is lost.
  mutating func died() {
    wasFresh = []
    failing = []
    waiting = []
    (personal, sentSinceTap) = ([], nil)
    told = []
    kept = []
    refused = []
    floor.byLane = [:]
    for key in unkept { floor.byKey[key] = nil }
    if isAllUnkept { floor.all = Timestamp(milliseconds: .min) }
    unkept = []
    isAllUnkept = false
  }

  private static func floor(_ asked: Int64, _ now: Timestamp) -> Timestamp {
    now.adding(milliseconds: min(max(asked, 0), day))
  }

  private mutating func set(_ until: Timestamp, _ key: EntryKey) {
    floor.byKey[key] = until
    touched.insert(key)
  }

  private mutating func raise(_ until: Timestamp) {
    floor.all = max(floor.all, until)
    touchesAll = true
  }

  // MARK: Actions of the machine

  mutating func sends(_ sent: [Entry], in lane: Lane, at now: Timestamp, isOut: Bool) {
    expect(!isOut, "14: a second request of lane \(lane.rawValue)")
    expect(!sent.isEmpty, "an upload of nothing")
    // Entries that never waited come in the order of their places, the others by the end of their wait. The two groups
    // take turns.
    let all = storage.readyEntries(in: lane, now: now, limit: .max, dueFirst: false)
    let fresh = all.filter { $0.readyAt.milliseconds == 0 }.sorted { $0.place < $1.place }
    let due = all.filter { $0.readyAt.milliseconds != 0 }.sorted {
      ($0.readyAt, $0.place) < ($1.readyAt, $1.place)
    }
    let ready = wasFresh.contains(lane) ? due + fresh : fresh + due
    if ready.first?.readyAt.milliseconds == 0 { wasFresh.insert(lane) } else { wasFresh.remove(lane) }
    expect(ready.first?.key == sent.first?.key, "5: \(sent[0].key.id) is not the head of \(lane.rawValue)")
    expect(
      zip(ready, sent).allSatisfy { $0.key == $1.key } && sent.count <= ready.count,
      "5: not the run behind the head of \(lane.rawValue)")
    expect(sent.count <= 100, "an upload of \(sent.count) claims")
    for entry in sent {
      guard let stored = storage.entry(entry.key), stored.state == .queued else {
        broken.append("4: \(entry.key.id) was sent, and is not in the queue")
        continue
      }
      expect(
        stored.lane == lane, "6: \(entry.key.id) of \(stored.lane.rawValue) was sent in \(lane.rawValue)")
      let before = attempts[stored.place, default: 0]
      expect(stored.attempts > before, "8: attempt \(before + 1) of \(entry.key.id) is not counted")
      expect(now >= floor.byKey[entry.key] ?? now, "17: \(entry.key.id) before its Retry-After")
    }
    expect(now >= floor.all, "17: lane \(lane.rawValue) before the backend's Retry-After")
    expect(now >= floor.byLane[lane] ?? now, "17: lane \(lane.rawValue) before its own Retry-After")
    if !takesPersonal(lane), isFailing || failing.contains(lane) { spend(at: now) }
  }

  private mutating func takesPersonal(_ lane: Lane) -> Bool {
    let isOfTap = sentSinceTap?.insert(lane).inserted ?? false
    return personal.remove(lane) != nil || isOfTap
  }

  /// The app asks for an adoption. A request in flight was made for an earlier adoption and cannot end this one.
  mutating func claims(anew account: String) {
    lastClaims.remove(account)
    asked = account
    personal.insert(.question(of: account + " adopts"))
  }

  mutating func claims(_ account: String, at now: Timestamp, isOut: Bool) {
    expect(!isOut, "14: a second adoption request of \(account)")
    expect(now >= floor.all, "17: an adoption request before the backend's Retry-After")
    expect(wasStruck || kept.contains(account) || isStored(account), "4: an adoption that is not durable")
    let through = storage.deviceAdoptions().first { $0.account == account }?.throughPlace ?? 0
    let holds = storage.allEntries.contains { $0.lane == .device && $0.place <= through }
    if holds { lastClaims.remove(account) } else { lastClaims.insert(account) }
    if !takesPersonal(.question(of: account + " adopts")), isFailing { spend(at: now) }
  }

  private func isStored(_ account: String) -> Bool {
    storage.deviceAdoptions().contains { $0.account == account }
  }

  private mutating func spend(at now: Timestamp) {
    spent.append(now)
    spent.removeAll { now.milliseconds(since: $0) >= 3_600_000 }
    let count = spent.count
    expect(count <= 100, "16: \(count) requests after a failure within an hour")
  }

  mutating func finishes(_ key: EntryKey, isOut: Bool) {
    expect(!isOut, "two calls to finish \(key.id)")
    expect(storage.tombstone(key) != nil, "3: \(key.id) is finished, and was not settled")
    expect(settled.contains(key) || given[key] != nil, "3: \(key.id) is finished without a verdict")
  }

  mutating func wakes(at moment: Timestamp, now: Timestamp) {
    expect(
      moment <= now.adding(milliseconds: Self.day), "15: a timer in \(moment.milliseconds(since: now)) ms")
  }

  mutating func tells(_ event: SyncEvent) {
    if case .queued(_, let match) = event { personal.insert(match.lane) }
    guard let outcome = event.outcome else { return }
    expect(storage.tombstone(outcome.key) != nil, "\(outcome.key.id) is told, and not settled")
    told.insert(outcome.key)
  }

  mutating func saw(_ key: EntryKey) { told.remove(key) }

  // MARK: After each event

  mutating func check(at now: Timestamp, in walk: MachineWalk, isAlive: Bool = true) {
    let present = storage.allEntries
    let tombstones = storage.allTombstones
    for tombstone in tombstones
    where given[tombstone.key]?.contains(Verdict(rawValue: tombstone.outcome)) == true {
      settled.insert(tombstone.key)
    }
    checkEntries(present)
    for key in paid where walk.unfinished[key] == nil && storage.entry(key) == nil {
      expect(settled.contains(key), "1: \(key.id) is nowhere")
    }
    for tombstone in tombstones {
      expect(settled.contains(tombstone.key), "11: \(tombstone.key.id) is settled without a verdict")
      checkBinding(tombstone.key, tombstone.orderNumber)
    }
    let queued = present.count { $0.state == .queued }
    expect(queued <= MachineWalk.limits.entries, "7: \(queued) queued")
    expect(
      present.count - queued <= MachineWalk.limits.quarantinedEntries, "7: too many in quarantine")
    entries = Dictionary(uniqueKeysWithValues: present.map { ($0.key, $0) })
    attempts = Dictionary(uniqueKeysWithValues: present.map { ($0.place, $0.attempts) })
    if wasStruck {
      unkept.formUnion(touched)
      if touchesAll { isAllUnkept = true }
    } else {
      unkept.subtract(touched)
      if touchesAll { isAllUnkept = false }
    }
    let claims = Set(storage.deviceAdoptions().map(\.account))
    kept.formUnion(claims)
    for account in claimed.subtracting(claims) {
      if !wasStruck { kept.remove(account) }
      let isOver = lastClaims.contains(account) || refused.contains(account)
      expect(isOver, "the adoption of \(account) ended before it covered all its entries")
    }
    claimed = claims
    if isAlive { checkTimer(present, walk) }
    endEvent()
  }

  private mutating func checkEntries(_ present: [Entry]) {
    for entry in present {
      expect(paid.contains(entry.key), "10: \(entry.key.id) was never bought")
      checkBinding(entry.key, entry.orderNumber)
      guard let before = entries[entry.key], before.place == entry.place else { continue }
      expect(entry.lane == before.lane && entry.enqueuedAt == before.enqueuedAt, "18: \(entry.key.id) moved")
      expect(entry.attempts >= before.attempts, "8: \(entry.key.id) has fewer attempts than before")
    }
    for (key, _) in entries where storage.entry(key) == nil {
      let outcome = storage.tombstone(key).map { Verdict(rawValue: $0.outcome) }
      expect(
        outcome.map { given[key]?.contains($0) == true && $0.isSettled } ?? false,
        "11: \(key.id) left without a verdict")
    }
  }

  private mutating func checkBinding(_ key: EntryKey, _ number: String?) {
    guard let number else {
      expect(orderOf[key] == nil, "9: \(key.id) lost its order")
      return
    }
    expect(orderOf[key] ?? number == number, "9: \(key.id) has another order than before")
    expect(transactionOf[number] ?? key == key, "9: order \(number) has two transactions")
    orderOf[key] = number
    transactionOf[number] = key
  }

  /// There is a timer if an entry waits.
  private mutating func checkTimer(_ present: [Entry], _ walk: MachineWalk) {
    guard !walk.isSuspended else { return }
    let needsTimer = present.contains { entry in
      entry.state == .quarantined || (walk.uploads[entry.lane] == nil && !waiting.contains(entry.lane))
    }
    if needsTimer { expect(walk.timer != nil, "24: an entry waits, and no timer is set") }
  }

  /// The end of a walk without faults.
  mutating func checkEnd(_ walk: MachineWalk) {
    let left = storage.allEntries.map(\.key.id)
    expect(left.isEmpty, "24: \(left) were never delivered")
    expect(walk.unfinished.isEmpty, "23: \(walk.unfinished.keys.map(\.id)) were never finished")
    let duties = storage.tombstonesWithDuties().map(\.key.id)
    expect(duties.isEmpty, "23: \(duties) are pending for ever")
    expect(storage.deviceAdoptions().isEmpty, "an adoption never ends")
    for key in paid { expect(settled.contains(key), "1: \(key.id) was never settled") }
  }

  mutating func checkRest(_ actions: [SyncAction]) {
    expect(actions == [], "26: nothing is left, and still \(actions)")
  }
}
