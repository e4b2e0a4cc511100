import Foundation
import PurchaseQueue
import PurchaseSync

/// Holds only the purchase that is under way, so that the time of the machine on it is the machine's own. It handles one
/// purchase after the other, and is for benches only.
final class SinglePurchaseStorage: SyncStorage {
  var order: OrderFacts?
  private var present: Entry?
  private var buried: Tombstone?
  private var place: Int64 = 0
  private var epoch: String?

  // MARK: Transactions

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    place += 1
    let proof = PayloadReference(kind: transaction.proof.kind, id: place, size: transaction.proof.bytes.count)
    let entry = Entry(
      place: place, key: transaction.key, lane: match.lane, orderNumber: match.orderNumber, details: "",
      payloads: [proof], now: now)
    present = entry
    return .inserted(entry)
  }

  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) -> Bool { false }

  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    throw .queueFull(.entries, needed: 2, allowed: 1)
  }

  func attach(_ proof: Payload, to key: EntryKey, now: Timestamp) {}

  // MARK: Lanes

  func lanes() -> [Lane] { present.map { [$0.lane] } ?? [] }

  func readyEntries(in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool) -> [Entry] {
    present.map { [$0] } ?? []
  }

  func nextReadyAt(in lane: Lane) -> Timestamp? { nil }

  func entry(_ key: EntryKey) -> Entry? { present?.key == key ? present : nil }

  func postpone(_ key: EntryKey, _ wait: Wait, reason: String, now: Timestamp) {
    present?.readyAt = wait.ends
  }

  func wait(of key: EntryKey) -> Wait? { nil }

  func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) -> Set<Lane> { [] }

  // MARK: Attempts

  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) {
    present?.attempts += 1
  }

  func retryState() -> RetryState { RetryState() }

  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) {}

  func watch(of key: EntryKey) -> PoisonWatch { PoisonWatch() }

  // MARK: Quarantine

  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) -> Bool { false }

  func release(_ key: EntryKey, _ wait: Wait?, now: Timestamp) -> Bool { true }

  func quarantined() -> [EntryKey] { [] }
  func hasQuarantined() -> Bool { false }

  func quarantineTrial() -> TrialRecord? { nil }

  func keep(_ trial: TrialRecord) {}

  // MARK: The end

  func binding(by orderNumber: String, of key: EntryKey) -> VerdictBinding { .keep }

  func settle(_ claims: [SettledClaim], now: Timestamp) -> SettledClaims {
    guard let entry = present, let claim = claims.first else {
      return SettledClaims([], hasPendingUpdates: false)
    }
    let settlement = Settlement(
      key: entry.key, outcome: claim.verdict.rawValue, orderNumber: claim.orderNumber, hasPendingFinish: true,
      isUnconfirmed: true)
    let tombstone = Tombstone(entry, settlement, note: nil, now: now)
    present = nil
    buried = tombstone
    return SettledClaims([tombstone], hasPendingUpdates: false)
  }

  func tombstone(_ key: EntryKey) -> Tombstone? { buried?.key == key ? buried : nil }

  func tombstonesWithDuties() -> [Tombstone] { [] }

  func storeAccount(of tombstone: Tombstone) -> String? { nil }

  func markFinished(_ key: EntryKey) { buried?.isFinishPending = false }

  func markConfirmed(_ key: EntryKey) { buried?.isUnconfirmed = false }

  // MARK: Pending updates, and adoptions

  func ledgerEpoch() -> String? { epoch }

  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) { self.epoch = epoch }

  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) {}

  func oweUpdate(of key: EntryKey) {}

  func queuePendingUpdates(now: Timestamp) -> QueuedUpdates { QueuedUpdates(queued: [], areWaiting: false) }

  func deviceAdoptions() -> [DeviceAdoption] { [] }

  func keepAdoption(of account: String) -> DeviceAdoption {
    DeviceAdoption(account: account, throughPlace: place)
  }

  func deviceLaneHolds(throughPlace place: Int64) -> Bool { false }

  func endAdoption(of account: String, throughPlace place: Int64) {}
}

extension SinglePurchaseStorage: MatchSource {
  /// There is one order, and every token is its token.
  func orders(_ query: TokenQuery) -> [OrderFacts] { order.map { [$0] } ?? [] }

  func knownTransaction(_ key: EntryKey) -> KnownTransaction? { nil }

  func unboundOrders(_ query: OrderQuery) -> [OrderFacts] { [] }

  func payer(ofBundle payment: String, _ query: OrderQuery) -> String? { nil }

  func hasSeveralAccounts(_ query: OrderQuery) -> Bool { false }
}
