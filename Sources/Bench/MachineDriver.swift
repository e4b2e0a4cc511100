import MemoryModels
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// A storage of the machine that a bench can add orders to.
protocol MachineBenchStorage: SyncStorage {
  init()
  func take(_ purchase: MachineLoad.Purchase)
}

extension SinglePurchaseStorage: MachineBenchStorage {
  func take(_ purchase: MachineLoad.Purchase) { order = purchase.order }
}

extension MemoryStorage: MachineBenchStorage {
  convenience init() { self.init(limits: QueueLimits()) }

  func take(_ purchase: MachineLoad.Purchase) {
    book.insert(purchase.order, accountToken: purchase.accountToken)
  }
}

/// The production machine with a driver that performs each action at once.
struct MachineDriver<Storage: MachineBenchStorage>: MachineSubject {
  private let storage: Storage
  private var machine: SyncMachine<Storage>

  init() {
    storage = Storage()
    machine = SyncMachine(storage: storage, policy: RetryPolicy(), seed: 1)
  }

  mutating func work(_ load: MachineLoad) throws -> Int {
    var told = 0
    guard let first = load.purchases.first else { return 0 }
    _ = try machine.started(now: first.moment)
    for purchase in load.purchases {
      storage.take(purchase)
      let actions = try machine.transactionArrived(purchase.transaction, now: purchase.moment)
      told += try perform(actions, purchase)
    }
    return told
  }

  private mutating func perform(_ actions: [SyncAction], _ purchase: MachineLoad.Purchase) throws -> Int {
    var told = 0
    for action in actions {
      switch action {
      case .send(let lane, _):
        guard case .send = try machine.attemptBegins(lane: lane, now: purchase.moment) else { continue }
        let answer = machine.replyArrived(lane: lane, purchase.reply, now: purchase.moment)
        told += try perform(answer, purchase)
      case .finish(let tombstone):
        told += try perform(machine.finishEnded(tombstone.key, .finished, now: purchase.moment), purchase)
      case .emit(.delivered(let outcome)), .emit(.settled(let outcome)):
        told += 1
        told += try perform(machine.outcomeConfirmed(outcome.key, now: purchase.moment), purchase)
      case .storageFailed(let error): throw error
      case .emit, .wake, .readProof, .listStore, .adopt: break
      }
    }
    return told
  }
}
