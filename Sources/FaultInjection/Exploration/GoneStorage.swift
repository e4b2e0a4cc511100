import Foundation
import PurchaseQueue
import PurchaseSync

/// What a dead process has of its storage: nothing. Its connection is closed before anybody touches the files.
final class GoneStorage: SyncStorage {
  private static let gone = QueueError.closed(path: "q")

  func enqueue(_ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp)
    throws(QueueError) -> Enqueued
  { throw Self.gone }
  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool {
    throw Self.gone
  }
  func enqueueUpdate(_ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp)
    throws(QueueError) -> Entry
  { throw Self.gone }
  func attach(_ proof: Proof, to key: EntryKey, now: Timestamp) throws(QueueError) { throw Self.gone }
  func lanes() throws(QueueError) -> [Lane] { throw Self.gone }
  func readyEntries(
    in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool
  ) throws(QueueError) -> [Entry] {
    throw Self.gone
  }
  func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? { throw Self.gone }
  func entry(_ key: EntryKey) throws(QueueError) -> Entry? { throw Self.gone }
  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError) {
    throw Self.gone
  }
  func clampPostponed(to latest: Timestamp, now: Timestamp) throws(QueueError) { throw Self.gone }
  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    throw Self.gone
  }
  func retryState() throws(QueueError) -> RetryState { throw Self.gone }
  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError) {
    throw Self.gone
  }
  func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch { throw Self.gone }
  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    throw Self.gone
  }
  func release(_ key: EntryKey, until: Timestamp?, now: Timestamp) throws(QueueError) -> Bool {
    throw Self.gone
  }
  func quarantined() throws(QueueError) -> [EntryKey] { throw Self.gone }
  func hasQuarantined() throws(QueueError) -> Bool { throw Self.gone }
  func quarantineTrial() throws(QueueError) -> QuarantineTrial? { throw Self.gone }
  func keep(_ trial: QuarantineTrial) throws(QueueError) { throw Self.gone }
  func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    throw Self.gone
  }
  func acknowledge(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> [Tombstone] {
    throw Self.gone
  }
  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? { throw Self.gone }
  func tombstonesWithDuties() throws(QueueError) -> [Tombstone] { throw Self.gone }
  func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String? { throw Self.gone }
  func markFinished(_ key: EntryKey) throws(QueueError) { throw Self.gone }
  func markSeen(_ key: EntryKey) throws(QueueError) { throw Self.gone }
  func ledgerEpoch() throws(QueueError) -> String? { throw Self.gone }
  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) { throw Self.gone }
  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) { throw Self.gone }
  func queueOwedUpdates(now: Timestamp) throws(QueueError) -> OwedUpdates { throw Self.gone }
  func oweUpdate(of key: EntryKey) throws(QueueError) { throw Self.gone }
  func deviceClaims() throws(QueueError) -> [DeviceClaimant] { throw Self.gone }
  func keepClaim(of account: String) throws(QueueError) -> DeviceClaimant { throw Self.gone }
  func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool { throw Self.gone }
  func endClaim(of account: String, throughPlace place: Int64) throws(QueueError) { throw Self.gone }
  func orderFacts(accountToken: UUID) throws(QueueError) -> OrderFacts? { throw Self.gone }
  func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? { throw Self.gone }
  func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] { throw Self.gone }
  func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool { throw Self.gone }
}
