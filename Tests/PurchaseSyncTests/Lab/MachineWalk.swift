import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting

@testable import PurchaseSync

/// A machine with random events at random moments. The fixture keeps its own books: paid transactions, transactions that
/// the store still lists, requests in flight. `MachineWalkObserver` checks the invariants.
struct MachineWalk {
  static let limits = QueueLimits(entries: 6, quarantinedEntries: 2, tombstones: 40)
  static let accounts = ["alice", "bob"]
  static let storeAccounts = ["apple-1", "apple-2"]

  let memory = MemoryStorage(limits: MachineWalk.limits)
  let storage: FaultyStorage
  var machine: SyncMachine<FaultyStorage>
  var observer: MachineWalkObserver
  var random: SplitMix64
  var now = midday
  /// The driver's timer.
  var timer: Timestamp?
  var isSuspended = false
  /// There are no more faults: each purchase has to be delivered and finished.
  var isCalm = false

  // The store.
  var unfinished: [EntryKey: StoreTransaction] = [:]
  var buyers: [EntryKey: String] = [:]
  var storeAccount = MachineWalk.storeAccounts[0]
  var orderCount = 0
  var saleCount = 0
  // In flight.
  var uploads: [Lane: [Entry]] = [:]
  var finishes: Set<EntryKey> = []
  var claims: Set<String> = []
  var reading: Set<EntryKey> = []
  var wantsListing = false
  var epoch = "1"
  /// The last steps, to understand a failure.
  var trace: [String] = []

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    storage = FaultyStorage(memory)
    observer = MachineWalkObserver(memory)
    machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: seed)
  }

  // MARK: Chance

  mutating func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  /// In the same order in every run of a seed.
  mutating func pickKey(_ keys: some Collection<EntryKey>) -> EntryKey? {
    keys.isEmpty ? nil : pick(keys.sorted { $0.rawValue < $1.rawValue })
  }

  // MARK: One event

  /// Passes an event to the machine, performs its actions, and checks the invariants.
  mutating func step(
    _ name: String, _ event: (inout SyncMachine<FaultyStorage>, Timestamp) throws(QueueError) -> [SyncAction]
  ) {
    trace.append("\(now.milliseconds - midday.milliseconds) ms: \(name)")
    storage.begin(nextFault())
    var actions: [SyncAction] = []
    var hasThrown = false
    do throws(QueueError) {
      actions = machine.begin(try event(&machine, now), now: now)
    } catch {
      hasThrown = true
      trace.append("  threw \(error)")
    }
    let hasDied = storage.hasStruck && storage.fault?.how == .death
    if storage.hasStruck { trace.append("  storage failed: \(storage.fault.map { "\($0)" } ?? "")") }
    observer.wasStruck = storage.hasStruck
    storage.begin(nil)
    guard !hasDied else {
      observer.check(at: now, in: self, isAlive: false)
      return restart("died in it")
    }
    // The driver looks again after a while.
    if hasThrown { setTimer(now.adding(milliseconds: 8_000)) }
    perform(actions)
    observer.check(at: now, in: self)
  }

  private mutating func nextFault() -> (at: Int, how: FaultyStorage.Fault)? {
    guard !isCalm, chance(1, in: 8) else { return nil }
    return (Int.random(in: 0...4, using: &random), pick(FaultyStorage.Fault.allCases))
  }

  mutating func setTimer(_ due: Timestamp) { timer = min(timer ?? due, due) }

  private mutating func perform(_ actions: [SyncAction]) {
    for action in actions {
      switch action {
      case .send(let lane, let entries):
        trace.append("  sent \(entries.map(\.key.id)) in \(lane.rawValue)")
        observer.sends(entries, in: lane, at: now, isOut: uploads[lane] != nil)
        uploads[lane] = entries
      case .finish(let tombstone):
        observer.finishes(tombstone.key, isOut: finishes.contains(tombstone.key))
        finishes.insert(tombstone.key)
      case .readProof(let key): reading.insert(key)
      case .listStore: wantsListing = true
      case .adopt(let account):
        observer.claims(account, at: now, isOut: claims.contains(account))
        claims.insert(account)
      case .storageFailed: setTimer(now.adding(milliseconds: 8_000))
      case .wake(let moment):
        observer.wakes(at: moment, now: now)
        setTimer(moment)
      case .emit(let event): observer.tells(event)
      }
    }
  }

  // MARK: Kills

  /// The process dies, and the next one starts as soon as its storage lets it.
  mutating func restart(_ why: String) {
    trace.append("  killed: \(why)")
    (uploads, finishes, claims, reading) = ([:], [], [], [])
    (timer, isSuspended, wantsListing) = (nil, false, false)
    observer.died()
    let seed = random.next()
    var isUp = false
    while !isUp {
      machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: seed)
      storage.begin(nextFault())
      do throws(QueueError) {
        let actions = machine.begin(try machine.started(now: now), now: now)
        let hasDied = storage.hasStruck && storage.fault?.how == .death
        observer.wasStruck = storage.hasStruck
        storage.begin(nil)
        guard !hasDied else {
          observer.died()
          continue
        }
        perform(actions)
        observer.check(at: now, in: self)
        isUp = true
      } catch {
        continue
      }
    }
  }
}
