import Foundation
import PurchaseQueue
import PurchaseSync

/// The baseline of `bench machine`: the same path with nothing around it. No retries, no lanes that wait, no clocks, no
/// limits, no tombstones that are dropped: what the bookkeeping alone costs.
struct MachineToy: MachineSubject {
  private struct Queued {
    var transaction: StoreTransaction
    var orderNumber: String?
    var attempts = 0
  }

  private enum Settled { case isUnfinished, isUnseen, isDone }

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
      settled[key] = .isUnseen
      settled[key] = .isDone
    }
    return told
  }
}
