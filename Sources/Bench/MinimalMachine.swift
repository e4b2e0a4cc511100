import Foundation
import PurchaseQueue
import PurchaseSync

/// The baseline of `bench machine`: only the bookkeeping of the same path. It has no retries, waiting lanes, clocks or
/// limits, and drops no tombstones.
struct MinimalMachine: MachineSubject {
  private struct Queued {
    var transaction: StoreTransaction
    var orderNumber: String?
    var attempts = 0
  }

  private enum Settled { case isUnfinished, isUnconfirmed, isDone }

  private var orders: [UUID: OrderFacts] = [:]
  private var entries: [EntryKey: Queued] = [:]
  private var settled: [EntryKey: Settled] = [:]

  mutating func work(_ load: MachineLoad) throws -> Int {
    var told = 0
    for purchase in load.purchases {
      orders[purchase.accountToken] = purchase.order
      let key = purchase.transaction.key
      guard settled[key] == nil, entries[key] == nil else { continue }
      let order = purchase.transaction.accountToken.flatMap { orders[$0] }
      entries[key] = Queued(transaction: purchase.transaction, orderNumber: order?.number)
      entries[key]?.attempts += 1
      for verdict in purchase.reply.verdicts where verdict.verdict.isSettled {
        entries[key] = nil
        settled[key] = .isUnfinished
        told += 1
      }
      settled[key] = .isUnconfirmed
      settled[key] = .isDone
    }
    return told
  }
}
