public import Foundation
import PurchaseQueue

/// A model of the backend: orders, the ledger of credits, what the store told, and what else it knows.
///
/// A pure value without clock, randomness or I/O; time is an argument, numbers and tokens follow from the seed.
/// Every change is a list of `BackendWrite`: it is applied here and returned, so that a store can make it durable.
public struct BackendModel: Sendable, Hashable {
  /// The app whose transactions are accepted.
  public let bundleID: String
  /// What order tokens and the epoch follow from.
  public let seed: UInt64
  /// How often this backend was restored from a backup.
  public let restorations: Int
  /// Every order, oldest first.
  public private(set) var orders: [BackendOrder] = []
  /// The ledger. Append-only, and nothing in it keeps a transaction from standing there twice.
  public private(set) var credits: [Credit] = []
  /// What was taken back, in the order in which the backend heard of it.
  public private(set) var reversals: [Reversal] = []
  /// Every verified transaction: table C.
  public private(set) var purchases: [Purchase] = []
  /// What is known of the subscriptions' next renewals.
  public private(set) var renewals: [ChainKey: ChainRenewal] = [:]
  /// Which devices' grants moved to which accounts, oldest first.
  public private(set) var deviceClaims: [DeviceClaim] = []
  /// Every verdict given, oldest first.
  public private(set) var verdicts: [RecordedVerdict] = []
  /// The last run of the job, if it ever ran.
  public private(set) var lastJob: JobRun?

  private var index = BackendIndex()

  /// A backend that knows nothing yet.
  public init(bundleID: String, seed: UInt64, restorations: Int = 0) {
    self.bundleID = bundleID
    self.seed = seed
    self.restorations = restorations
  }

  /// Goes with every reply; a backend restored from a backup has another one.
  public var ledgerEpoch: String {
    "epoch-" + String(seed, radix: 16) + (restorations > 0 ? "-\(restorations)" : "")
  }

  /// Makes a change that was decided here, or read back from a store.
  ///
  /// Lines of the ledger and verdicts are appended, whatever they say; a known order, reversal, purchase or renewal is
  /// replaced.
  public mutating func apply(_ write: BackendWrite) {
    switch write {
    case .order(let order):
      if index.insert(order, at: orders.count) { orders.append(order) } else { replace(order) }
    case .credit(let credit):
      index.insert(credit, at: credits.count)
      credits.append(credit)
    case .reversal(let reversal): put(reversal)
    case .purchase(let purchase): put(purchase)
    case .renewal(let renewal): renewals[renewal.chain] = renewal
    case .proof: break
    case .newestProof(let newest): index.newestProofs[newest.chain] = newest.toldAt
    case .job(let run): lastJob = run
    case .deviceClaim(let claim): put(claim)
    case .verdict(let verdict):
      index.note(verdict)
      verdicts.append(verdict)
    }
  }

  private mutating func replace(_ order: BackendOrder) {
    if let position = index.orders[order.number] { orders[position] = order }
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
    if let position = index.purchases[purchase.transaction] {
      purchases[position] = purchase
    } else {
      index.insert(purchase, at: purchases.count)
      purchases.append(purchase)
    }
  }

  /// The rows of table C follow the credits to the account.
  private mutating func put(_ claim: DeviceClaim) {
    index.deviceClaims[claim.device, default: []].append(deviceClaims.count)
    deviceClaims.append(claim)
    for position in index.credits(of: .device(claim.device)) where claim.covers(credits[position]) {
      guard let row = index.purchases[credits[position].transaction], purchases[row].account == nil else {
        continue
      }
      purchases[row].account = claim.account
      purchases[row].updatedAt = claim.at
    }
  }

  // MARK: Looking up

  /// The order with this number, or nil.
  public func order(number: String) -> BackendOrder? { index.orders[number].map { orders[$0] } }

  /// The order with this account token, or nil.
  public func order(accountToken: UUID) -> BackendOrder? { index.tokens[accountToken].map { orders[$0] } }

  /// The order that this account made under this idempotency key, or nil.
  public func order(account: String, idempotencyKey: String) -> BackendOrder? {
    index.order(account: account, idempotencyKey: idempotencyKey).map { orders[$0] }
  }

  /// Every order of an account, oldest first.
  func orders(of account: String) -> [BackendOrder] {
    (index.accountOrders[account] ?? []).map { orders[$0] }
  }

  /// The ledger's lines for one transaction: more than one is a doubling.
  public func credits(for transaction: TransactionKey) -> [Credit] {
    (index.credits[transaction] ?? []).map { credits[$0] }
  }

  /// The ledger's lines that are an account's now, oldest first.
  func credits(of account: String) -> [Credit] {
    let devices = Set(deviceClaims.lazy.filter { $0.account == account }.map(\.device))
    var positions = index.credits(of: .account(account))
    for device in devices {
      positions += index.credits(of: .device(device)).filter { owner(of: credits[$0]) == .account(account) }
    }
    return positions.sorted().map { credits[$0] }
  }

  /// Whether the store took this transaction back, as far as the backend was told, and not gave it back.
  public func isReversed(_ transaction: TransactionKey) -> Bool { reversal(of: transaction) != nil }

  /// The reversal that holds for a transaction, or nil.
  func reversal(of transaction: TransactionKey) -> Reversal? {
    index.reversals[transaction].map { reversals[$0] }.flatMap { $0.undoneAt == nil ? $0 : nil }
  }

  /// What is known of a transaction; nil if no proof ever held it.
  public func purchase(_ transaction: TransactionKey) -> Purchase? {
    index.purchases[transaction].map { purchases[$0] }
  }

  /// The known periods of a subscription, the last one last.
  func periods(of chain: ChainKey) -> [Purchase] {
    (index.chains[chain] ?? []).map { purchases[$0] }.sorted { $0.place < $1.place }
  }

  /// Every known subscription.
  var chains: Dictionary<ChainKey, [Int]>.Keys { index.chains.keys }

  /// When the store vouched for the newest proof of a subscription; nil without one.
  func newestProof(of chain: ChainKey) -> Int64? { index.newestProofs[chain] }

  /// How often in a row the store said 21002 to this claim.
  func doubts(about transactionID: String, from uploader: Uploader) -> Int {
    index.doubts[BackendIndex.Doubt(transactionID: transactionID, uploader: uploader)] ?? 0
  }

  /// Who owns a credit now: a device's belongs to the account that first claimed it.
  public func owner(of credit: Credit) -> Uploader {
    guard case .device(let device) = credit.owner else { return credit.owner }
    let claim = (index.deviceClaims[device] ?? []).first { deviceClaims[$0].covers(credit) }
    return claim.map { .account(deviceClaims[$0].account) } ?? credit.owner
  }

  /// Transactions that were in proofs and are nobody's yet.
  public var sightings: [Purchase] { purchases.filter { $0.account == nil && $0.device == nil } }
}
