package import Foundation
import PurchaseQueue

/// A model of the backend: orders, the ledger of credits, and the store's facts.
///
/// A pure value without clock, randomness or I/O; time is an argument, numbers and tokens follow from the seed.
/// Every change is a list of `BackendWrite`: it is applied here and returned, so that a store can make it durable.
package struct BackendModel: Sendable, Hashable {
  /// The app whose transactions are accepted.
  package let bundleID: String
  /// The seed of the order tokens and the ledger epoch.
  package let seed: UInt64
  /// How many times this backend was restored from a backup.
  package let restorations: Int
  package private(set) var orders: [BackendOrder] = []
  /// The ledger: append-only, without a check for repeated transactions.
  package private(set) var credits: [Credit] = []
  /// The reversed transactions, in the order in which the backend learned of them.
  package private(set) var reversals: [Reversal] = []
  /// Every verified transaction: table C.
  package private(set) var purchases: [Purchase] = []
  /// The known facts about the next renewals of subscriptions.
  package private(set) var renewals: [ChainKey: ChainRenewal] = [:]
  package private(set) var deviceAdoptions: [AdoptionRecord] = []
  /// The secret of each device that has shown one.
  package private(set) var devices: [UUID: String] = [:]
  /// The newest verdicts, at least ``keptVerdicts`` of them.
  package private(set) var verdicts: [RecordedVerdict] = []
  /// How many verdicts are kept. They are a log for tests and people: nothing is judged by an old one.
  static let keptVerdicts = 20_000
  /// The last run of the job, if it ever ran.
  package private(set) var lastJob: JobRun?

  /// The last number that this backend gave to an order. Orders are removed, and numbers are never given again: the
  /// newest orders always stay.
  private(set) var lastOrder = 0

  private(set) var index = BackendIndex()
  /// How many writes were applied. It distinguishes an untouched model from a changed one, and is no part of its value.
  private(set) var changes = ChangeCount()

  package init(bundleID: String, seed: UInt64, restorations: Int = 0) {
    self.bundleID = bundleID
    self.seed = seed
    self.restorations = restorations
  }

  /// Part of every reply; it changes when the backend is restored from a backup.
  package var ledgerEpoch: String {
    "epoch-" + String(seed, radix: 16) + (restorations > 0 ? "-\(restorations)" : "")
  }

  /// Applies a change that was decided here or read from the file.
  ///
  /// Credits and verdicts are always appended; a line of the ledger keeps its place when its owner changes. A known order, reversal, purchase or renewal is replaced.
  package mutating func apply(_ write: BackendWrite) {
    changes.number += 1
    switch write {
    case .order(let order):
      if index.insert(order, at: orders.count) { orders.append(order) } else { replace(order) }
      lastOrder = max(lastOrder, order.ownNumber)
    case .orderRemoved(let number):
      orders.removeAll { $0.number == number }
      index.reindex(orders)
    case .credit(let credit):
      index.insert(credit, at: credits.count)
      credits.append(credit)
    case .creditMoved(let credit): replace(credit)
    case .reversal(let reversal): put(reversal)
    case .purchase(let purchase): put(purchase)
    case .renewal(let renewal): renewals[renewal.chain] = renewal
    case .proof: break
    case .newestProof(let newest): index.newestProofs[newest.chain] = newest.toldAt
    case .job(let run): lastJob = run
    case .adoption(let claim): put(claim)
    case .device(let record): devices[record.device] = record.secret
    case .verdict(let verdict):
      index.note(verdict)
      verdicts.append(verdict)
      // Not with each verdict, which would move all of them.
      if verdicts.count >= Self.keptVerdicts + Self.keptVerdicts / 8 {
        verdicts.removeFirst(verdicts.count - Self.keptVerdicts)
      }
    }
  }

  private mutating func replace(_ order: BackendOrder) {
    if let position = index.orders[order.number] { orders[position] = order }
  }

  private mutating func replace(_ credit: Credit) {
    guard let position = credits.firstIndex(where: { $0.sequence == credit.sequence }) else { return }
    index.move(creditAt: position, from: credits[position].owner, to: credit.owner)
    credits[position] = credit
  }

  private mutating func put(_ reversal: Reversal) {
    if let position = index.reversals[reversal.transaction] {
      reversals[position] = reversal
    } else {
      index.reversals[reversal.transaction] = reversals.count
      reversals.append(reversal)
    }
  }

  private mutating func put(_ purchase: Purchase) {
    let position = index.purchases[purchase.transaction] ?? purchases.count
    if position < purchases.count {
      purchases[position] = purchase
    } else {
      index.insert(purchase, at: position)
      purchases.append(purchase)
    }
    index.noteBundle(of: purchase, at: position)
  }

  /// Moves the rows of table C with the adopted credits.
  private mutating func put(_ claim: AdoptionRecord) {
    index.deviceAdoptions[claim.device, default: []].append(deviceAdoptions.count)
    deviceAdoptions.append(claim)
    for position in index.credits(of: .device(claim.device)) where claim.covers(credits[position]) {
      guard let row = index.purchases[credits[position].transaction], purchases[row].account == nil else {
        continue
      }
      purchases[row].account = claim.account
      purchases[row].updatedAt = claim.at
    }
  }

  // MARK: Looking up

  package func order(number: String) -> BackendOrder? { index.orders[number].map { orders[$0] } }

  /// The orders with this token, oldest first: one, or those of an account.
  package func orders(accountToken: UUID) -> [BackendOrder] {
    (index.tokens[accountToken] ?? []).map { orders[$0] }
  }

  /// The order that this account made under this idempotency key, or nil.
  package func order(account: String, idempotencyKey: String) -> BackendOrder? {
    index.order(account: account, idempotencyKey: idempotencyKey).map { orders[$0] }
  }

  func orders(of account: String) -> [BackendOrder] {
    (index.accountOrders[account] ?? []).map { orders[$0] }
  }

  /// The ledger's lines for one transaction: more than one is a doubling.
  package func credits(for transaction: TransactionKey) -> [Credit] {
    (index.credits[transaction] ?? []).map { credits[$0] }
  }

  /// The account's present credits, oldest first.
  package func credits(of account: String) -> [Credit] {
    let devices = Set(deviceAdoptions.lazy.filter { $0.account == account }.map(\.device))
    var positions = index.credits(of: .account(account))
    for device in devices {
      positions += index.credits(of: .device(device)).filter { owner(of: credits[$0]) == .account(account) }
    }
    return positions.sorted().map { credits[$0] }
  }

  /// Whether a reversal of all of this transaction is known and in effect.
  package func isReversed(_ transaction: TransactionKey) -> Bool {
    reversal(of: transaction).map { $0.units == nil } ?? false
  }

  /// How many units of a credit count: all without refunded seats, those that a reversal leaves, or none.
  package func units(of credit: Credit) -> Int {
    guard let reversal = reversal(of: credit.transaction) else {
      let seats = purchase(credit.transaction)?.facts.revokedSeats ?? 0
      return seats > 0 ? max(0, credit.quantity - seats) : credit.quantity
    }
    return max(0, credit.quantity - (reversal.units ?? credit.quantity))
  }

  /// The effective reversal of a transaction, or nil.
  package func reversal(of transaction: TransactionKey) -> Reversal? {
    index.reversals[transaction].map { reversals[$0] }.flatMap { $0.undoneAt == nil ? $0 : nil }
  }

  /// The known facts of a transaction; nil if no proof contained it.
  package func purchase(_ transaction: TransactionKey) -> Purchase? {
    index.purchases[transaction].map { purchases[$0] }
  }

  /// The known periods of a subscription, the last one last; several of one period if seats were added. Without seats that
  /// are listed under the id of another customer's subscription.
  package func periods(of chain: ChainKey) -> [Purchase] {
    (index.chains[chain] ?? []).map { purchases[$0] }.filter { !isApart($0.facts) }.sorted {
      $0.place < $1.place
    }
  }

  var chains: Dictionary<ChainKey, [Int]>.Keys { index.chains.keys }

  /// When the store confirmed the newest proof of a subscription; nil without one.
  func newestProof(of chain: ChainKey) -> Int64? { index.newestProofs[chain] }

  /// How many times in a row the store answered 21002 to this claim.
  func doubts(about transactionID: String, from uploader: Uploader) -> Int {
    index.doubts[BackendIndex.Doubt(transactionID: transactionID, uploader: uploader)] ?? 0
  }

  /// The present owner of a credit: the first account that adopted a device owns the device's credit.
  package func owner(of credit: Credit) -> Uploader {
    guard case .device(let device) = credit.owner else { return credit.owner }
    let claim = (index.deviceAdoptions[device] ?? []).first { deviceAdoptions[$0].covers(credit) }
    return claim.map { .account(deviceAdoptions[$0].account) } ?? credit.owner
  }

  /// Who owns what a device paid for at that moment: the first account that adopted the device since, or the device.
  func adopter(of device: UUID, chargedAt moment: Int64) -> Uploader {
    let claim = (index.deviceAdoptions[device] ?? []).first { deviceAdoptions[$0].covers(chargeAt: moment) }
    return claim.map { .account(deviceAdoptions[$0].account) } ?? .device(device)
  }

  /// Transactions from proofs that have no owner yet.
  package var sightings: [Purchase] { purchases.filter { $0.account == nil && $0.device == nil } }
}
