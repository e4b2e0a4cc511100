import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

let alice = Lane.account("alice")
let bob = Lane.account("bob")

/// A machine on a memory storage, with a clock that the test sets and the driver's one timer.
struct MachineRun {
  let storage: MemoryStorage
  var machine: SyncMachine<MemoryStorage>
  var now = midday
  /// When the driver would call `timerFired`; nil if nothing asked for it.
  private(set) var timer: Timestamp?

  /// Makes a machine with an open order of alice for each of the numbers, and starts it unless `isStarted` is false.
  init(
    orders: [UInt8] = [1, 2, 3], limits: QueueLimits = QueueLimits(), policy: RetryPolicy = RetryPolicy(),
    seed: UInt64 = 1, isStarted: Bool = true
  ) throws {
    storage = MemoryStorage(limits: limits)
    for number in orders { storage.book.add(number) }
    machine = SyncMachine(storage: storage, policy: policy, seed: seed)
    if isStarted { _ = try started() }
  }

  /// Records the timers and begins the attempts, like a driver that needs no time to prepare a request.
  private mutating func took(_ actions: [SyncAction]) -> [SyncAction] {
    let actions = machine.begin(actions, now: now)
    for moment in actions.wakes { timer = min(timer ?? moment, moment) }
    return actions
  }

  // MARK: Events

  mutating func started() throws -> [SyncAction] { took(try machine.started(now: now)) }

  mutating func arrive(_ transaction: StoreTransaction, from account: String? = nil) throws -> [SyncAction] {
    took(try machine.transactionArrived(transaction, storeAccount: account, now: now))
  }

  /// One verdict each about production transactions.
  mutating func reply(
    _ lane: Lane, _ verdicts: [String: Verdict], order: String? = nil, retryAfter: Double? = nil,
    epoch: String = "epoch 1"
  ) -> [SyncAction] {
    let all = verdicts.sorted { $0.key < $1.key }.map { id, verdict in
      ClaimVerdict(
        environment: "Production", transactionID: id, verdict: verdict, orderNumber: order,
        retryAfter: retryAfter)
    }
    return reply(lane, all, epoch: epoch)
  }

  mutating func reply(
    _ lane: Lane, _ verdicts: [ClaimVerdict], epoch: String = "epoch 1"
  ) -> [SyncAction] {
    took(machine.replyArrived(lane: lane, UploadReply(ledgerEpoch: epoch, verdicts: verdicts), now: now))
  }

  /// As `reply`, to alice's lane.
  mutating func reply(
    _ verdicts: [String: Verdict], order: String? = nil, retryAfter: Double? = nil,
    epoch: String = "epoch 1"
  ) -> [SyncAction] {
    reply(alice, verdicts, order: order, retryAfter: retryAfter, epoch: epoch)
  }

  mutating func reply(_ verdicts: [ClaimVerdict]) -> [SyncAction] { reply(alice, verdicts) }

  mutating func fail(_ lane: Lane, _ failure: UploadFailure) throws -> [SyncAction] {
    took(try machine.uploadFailed(lane: lane, failure, now: now))
  }

  mutating func finishEnded(_ key: EntryKey, _ end: FinishEnd) throws -> [SyncAction] {
    took(try machine.finishEnded(key, end, now: now))
  }

  mutating func listed(_ keys: Set<EntryKey>, account: String? = nil) throws -> [SyncAction] {
    took(try machine.storeListed(keys, account: account, now: now))
  }

  mutating func proofFound(_ bytes: String, for key: EntryKey) throws -> [SyncAction] {
    took(try machine.proofFound(Payload(kind: "appReceipt", bytes: Array(bytes.utf8)), for: key, now: now))
  }

  mutating func claim(_ account: String) throws -> [SyncAction] {
    took(try machine.adoptionRequested(by: account, now: now))
  }

  mutating func adoptionEnded(_ account: String, _ end: AdoptionEnd) throws -> [SyncAction] {
    took(try machine.adoptionEnded(account: account, end, now: now))
  }

  mutating func wake(_ reason: WakeReason) -> [SyncAction] { took(machine.woken(reason, now: now)) }

  mutating func confirm(_ key: EntryKey) throws -> [SyncAction] {
    took(try machine.outcomeConfirmed(key, now: now))
  }

  /// The timer's moment, or the present one if it is over.
  mutating func fire() -> [SyncAction] { fire(at: max(now, timer ?? now)) }

  /// The timer, at a moment that is not its own: the clock jumped, or the process was asleep.
  mutating func fire(at moment: Timestamp) -> [SyncAction] {
    now = moment
    timer = nil
    return took(machine.timerFired(now: now))
  }

  /// Lets time pass and fires the timer when it is due, until an upload is sent. Returns that upload's actions.
  mutating func letPass(_ milliseconds: Int64) -> [SyncAction] {
    let end = now.adding(milliseconds: milliseconds)
    var steps = 0
    while let timer, timer <= end {
      let actions = fire()
      if !actions.sent.isEmpty { return actions }
      steps += 1
      guard steps < 10_000 else {
        Issue.record("the timer fires for ever")
        return []
      }
    }
    now = end
    return []
  }

  /// Fires the timer when it is due, until the machine asks the store for its listing. Returns false if it never asks.
  mutating func asksTheStore(within milliseconds: Int64) -> Bool {
    let end = now.adding(milliseconds: milliseconds)
    while let timer, timer <= end {
      if fire().contains(.listStore) { return true }
    }
    return false
  }

  /// The process dies: another machine on the same storage.
  mutating func restart(appVersion: String = "", after milliseconds: Int64 = 0) throws -> [SyncAction] {
    now = now.adding(milliseconds: milliseconds)
    timer = nil
    machine = SyncMachine(
      storage: storage, policy: machine.policy, appVersion: appVersion,
      seed: UInt64(bitPattern: now.milliseconds))
    return try started()
  }

  // MARK: Whole purchases

  /// Alice buys, the entry is uploaded, and the backend answers with this verdict.
  mutating func purchase(
    _ id: String, token: UInt8? = nil, proof: String? = nil, _ verdict: Verdict = .granted
  ) throws -> [SyncAction] {
    _ = try arrive(bought(id, token: token, proof: proof))
    return reply([id: verdict])
  }

  /// Whether the lane has a request in flight.
  func isSending(_ lane: Lane) -> Bool { machine.state(of: lane).inFlight != nil }

  func entry(_ id: String) -> Entry? { storage.entry(key(id)) }
}

extension SyncMachine {
  /// Begins the attempt of each upload. An upload that does not go out now is not among the actions that are returned.
  mutating func begin(_ actions: [SyncAction], now: Timestamp) -> [SyncAction] {
    var begun: [SyncAction] = []
    for action in actions {
      guard case .send(let lane, _) = action else {
        begun.append(action)
        continue
      }
      do throws(QueueError) {
        switch try attemptBegins(lane: lane, now: now) {
        case .send(let told): begun += told + [action]
        case .hold(let next): begun += begin(next, now: now)
        }
      } catch {
        begun.append(.storageFailed(error))
      }
    }
    return begun
  }
}

/// A payment of alice, with a proof of its own unless one is given.
/// Without a token and a proof it is one of the original API, which may have lost the token of an order.
func bought(_ id: String, token: UInt8? = nil, proof: String? = nil) -> StoreTransaction {
  payment(id, token: token.map { orderToken($0) }) {
    let kind = token == nil && proof == nil ? ProofKind.transactionReceipt : .signedTransaction
    $0.proof = Payload(kind: kind.rawValue, bytes: Array((proof ?? "jws of \(id)").utf8))
  }
}

extension LaneStorage {
  /// Postpones an entry for a reason of our own.
  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError) {
    let wait = Wait(.backoff, began: now, milliseconds: until.milliseconds(since: now))
    try postpone(key, wait, reason: reason, now: now)
  }
}

func key(_ id: String) -> EntryKey { EntryKey(rawValue: "Production/" + id) }

extension [SyncAction] {
  /// The ids of each upload's entries.
  var sent: [[String]] {
    compactMap { if case .send(_, let entries) = $0 { entries.map(\.key.id) } else { nil } }
  }
  var finished: [String] {
    compactMap { if case .finish(let tombstone) = $0 { tombstone.key.id } else { nil } }
  }
  var events: [SyncEvent] { compactMap { if case .emit(let event) = $0 { event } else { nil } } }
  var wakes: [Timestamp] { compactMap { if case .wake(let moment) = $0 { moment } else { nil } } }
  var claimed: [String] { compactMap { if case .adopt(let account) = $0 { account } else { nil } } }
  var read: [String] { compactMap { if case .readProof(let key) = $0 { key.id } else { nil } } }
  var delivered: [Outcome] {
    events.compactMap(\.outcome)
  }
  var faults: [String] {
    events.compactMap { if case .backendFault(let reason) = $0 { reason } else { nil } }
  }
  var postponed: [String] {
    events.compactMap { if case .postponed(let key, _, _) = $0 { key.id } else { nil } }
  }
  var quarantined: [String] {
    events.compactMap { if case .quarantined(let key, _) = $0 { key.id } else { nil } }
  }
}

extension EntryKey {
  /// Without the environment.
  var id: String { String(rawValue.drop { $0 != "/" }.dropFirst()) }
}
