public import Foundation

/// A model of the backend: orders, the ledger of credits, and what else it knows.
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
  /// Transactions seen in proofs and not claimed then.
  public private(set) var sightings: [Sighting] = []
  /// Which devices' grants moved to which accounts, oldest first.
  public private(set) var deviceClaims: [DeviceClaim] = []
  /// Every verdict given, oldest first.
  public private(set) var verdicts: [RecordedVerdict] = []

  private var orderPositions: [String: Int] = [:]
  private var tokenPositions: [UUID: Int] = [:]
  private var keyPositions: [AccountKey: Int] = [:]
  private var creditPositions: [TransactionKey: [Int]] = [:]
  private var reversed: Set<TransactionKey> = []
  private var sighted: Set<TransactionKey> = []

  private struct AccountKey: Hashable {
    var account: String
    var key: String
  }

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
  /// Lines of the ledger and verdicts are appended, whatever they say; a known order is replaced; a known
  /// reversal or sighting changes nothing.
  public mutating func apply(_ write: BackendWrite) {
    switch write {
    case .order(let order): put(order)
    case .credit(let credit):
      creditPositions[credit.transaction, default: []].append(credits.count)
      credits.append(credit)
    case .reversal(let reversal):
      if reversed.insert(reversal.transaction).inserted { reversals.append(reversal) }
    case .sighting(let sighting):
      if sighted.insert(sighting.transaction).inserted { sightings.append(sighting) }
    case .deviceClaim(let claim): deviceClaims.append(claim)
    case .verdict(let verdict): verdicts.append(verdict)
    }
  }

  private mutating func put(_ order: BackendOrder) {
    if let position = orderPositions[order.number] {
      orders[position] = order
      return
    }
    orderPositions[order.number] = orders.count
    tokenPositions[order.accountToken] = orders.count
    keyPositions[AccountKey(account: order.account, key: order.idempotencyKey)] = orders.count
    orders.append(order)
  }

  // MARK: Looking up

  /// The order with this number, or nil.
  public func order(number: String) -> BackendOrder? { orderPositions[number].map { orders[$0] } }

  /// The order with this account token, or nil.
  public func order(accountToken: UUID) -> BackendOrder? { tokenPositions[accountToken].map { orders[$0] } }

  /// The order that this account made under this idempotency key, or nil.
  public func order(account: String, idempotencyKey: String) -> BackendOrder? {
    keyPositions[AccountKey(account: account, key: idempotencyKey)].map { orders[$0] }
  }

  /// The ledger's lines for one transaction: more than one is a doubling.
  public func credits(for transaction: TransactionKey) -> [Credit] {
    (creditPositions[transaction] ?? []).map { credits[$0] }
  }

  /// Whether the store took this transaction back, as far as the backend was told.
  public func isReversed(_ transaction: TransactionKey) -> Bool { reversed.contains(transaction) }

  func isSighted(_ transaction: TransactionKey) -> Bool { sighted.contains(transaction) }

  /// Who owns a credit now: a device's belongs to the account that first claimed it.
  public func owner(of credit: Credit) -> Uploader {
    let claim = deviceClaims.first { $0.covers(credit) }
    return claim.map { .account($0.account) } ?? credit.owner
  }
}
