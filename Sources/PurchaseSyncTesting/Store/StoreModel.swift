public import AppStoreReceipts
package import PurchaseQueue

/// A model of the App Store: it charges, renews, redelivers unfinished transactions, writes app receipts and refunds.
///
/// A pure value without clock, randomness or I/O. Time is an argument; each call first does everything that was due
/// until then. The log of transactions only grows, so that a test can count the charges. Unfinished transactions stay
/// until `finish`. They belong to the store account that paid, on every device.
public struct StoreModel: Sendable, Hashable {
  /// The products for sale, by product id.
  public internal(set) var products: [String: StoreProduct]
  /// The environment of the store.
  public let environment: StoreEnvironment
  /// Signs the store's proofs.
  package let forge: ReceiptForge
  /// The pace of subscriptions, from the next purchase or change of plan on.
  public var pace: StorePace
  /// How purchases are delivered from now on, unless the payment has its own delivery.
  public var delivery = StoreDelivery()
  /// The faults from now on.
  public var faults = StoreFaults()
  /// The app's shared secret for `verifyReceipt`; nil if none is needed.
  public var sharedSecret: SharedSecret?
  /// The notifications to the backend.
  public var notifications = NotificationQueue()
  /// The settings of the store accounts, by name.
  public internal(set) var accounts: [String: StoreAccount] = [:]
  /// Every transaction, in order of creation. None is ever removed.
  public internal(set) var transactions: [StoreTransactionRecord] = []
  /// Every subscription, by its original transaction id.
  package internal(set) var subscriptions: [String: Subscription] = [:]
  /// The purchases that were begun and not paid at once, in order.
  public internal(set) var requests: [PurchaseRequest] = []
  /// The signed-in store account of each device.
  public internal(set) var signedIn: [String: String] = [:]
  /// How many times the person was asked for a password to refresh the app receipt.
  public internal(set) var prompts = 0
  /// How many times an app receipt was read, by any call.
  public internal(set) var receiptReadings = 0

  var positions: [String: Int] = [:]
  /// Indexed because apps ask for these often: a search of all transactions would make long runs quadratic.
  var unfinishedPositions: [String: [Int]] = [:]
  /// Finished transactions that are delivered again, because they were refunded or upgraded.
  var announcedPositions: [String: [Int]] = [:]
  /// All transactions of a store account, in order.
  var accountPositions: [String: [Int]] = [:]
  /// The content of the next app receipt of a store account, and finished consumables that the next writing removes.
  var receiptPositions: [String: [Int]] = [:]
  /// Refunded finished consumables: notifications include them, the app receipt does not.
  var refundedPositions: [String: [Int]] = [:]
  /// The launch of the app that paid each transaction.
  var payingLaunches: [String: String] = [:]
  var receiptFiles: [String: ReceiptFile] = [:]
  var issued = IssuedProofs()
  /// The present or last subscription of a store account in each group.
  var groupSubscriptions: [GroupMember: String] = [:]
  /// No step of a subscription is due before this time; nil without a step.
  var earliestStep: Timestamp?
  var shares = FamilyShares()
  /// Products that are not for sale.
  var withdrawn: Set<String> = []
  private let firstTransactionID: Int64

  struct GroupMember: Sendable, Hashable {
    var storeAccount: String
    var groupID: String
  }

  /// An empty store. Of several products with the same id, the last one counts.
  package init(
    products: [StoreProduct], forge: ReceiptForge, environment: StoreEnvironment = .production,
    pace: StorePace = .real, firstTransactionID: Int64 = 2_000_000_000_000_001
  ) {
    self.products = Dictionary(products.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    self.forge = forge
    self.environment = environment
    self.pace = pace
    self.firstTransactionID = firstTransactionID
  }

  /// Every charge in order, refunded and finished ones too: the transactions without restores and family shares.
  public var charges: [StoreTransactionRecord] { transactions.filter(\.isCharge) }

  /// The transaction with this id, or nil.
  public func transaction(_ transactionID: String) -> StoreTransactionRecord? {
    positions[transactionID].map { transactions[$0] }
  }

  /// All transactions of a store account, in order.
  public func transactions(storeAccount: String) -> [StoreTransactionRecord] {
    (accountPositions[storeAccount] ?? []).map { transactions[$0] }
  }

  /// The subscription to which a period's transaction belongs; for a family share the owner's. Nil for other
  /// transactions.
  package func subscription(of transactionID: String) -> Subscription? {
    transaction(transactionID).flatMap {
      subscriptions[shares.owners[$0.originalTransactionID] ?? $0.originalTransactionID]
    }
  }

  /// The signed transaction as the store would issue it now, a refund included.
  package func signedTransaction(
    for transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> String {
    forge.signedTransaction(transactions[try position(of: transactionID)], signedAt: now)
  }

  func position(of transactionID: String) throws(StoreModelError) -> Int {
    guard let position = positions[transactionID] else { throw .unknownTransaction(transactionID) }
    return position
  }

  /// The id of the next transaction.
  var nextTransactionID: String { String(firstTransactionID &+ Int64(transactions.count)) }

  /// Adds a transaction with the next id to the log and to the unfinished ones.
  @discardableResult
  mutating func append(_ draft: StoreTransactionRecord) -> StoreTransactionRecord {
    var record = draft
    if record.originalTransactionID == record.transactionID {
      record.originalTransactionID = nextTransactionID
    }
    record.transactionID = nextTransactionID
    let position = transactions.count
    positions[record.transactionID] = position
    unfinishedPositions[record.storeAccount, default: []].append(position)
    accountPositions[record.storeAccount, default: []].append(position)
    receiptPositions[record.storeAccount, default: []].append(position)
    transactions.append(record)
    return record
  }

  /// Delivers a finished transaction again, because it changed.
  mutating func announce(_ position: Int) {
    let storeAccount = transactions[position].storeAccount
    receiptFiles[storeAccount]?.isStale = true
    guard transactions[position].isFinished else { return }
    if announcedPositions[storeAccount]?.contains(position) != true {
      announcedPositions[storeAccount, default: []].append(position)
    }
  }
}
