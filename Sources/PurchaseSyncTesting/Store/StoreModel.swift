public import AppStoreDocuments
public import AppStoreReceipts
package import PurchaseQueue

/// A model of the App Store: it charges, renews, redelivers unfinished transactions, writes app receipts and refunds.
///
/// A pure value without clock, randomness or I/O. Time is an argument; each call first does everything that was due
/// until then. The log of transactions only grows, so that a test can count the charges. Unfinished transactions stay
/// until `finish`. They belong to the store account that paid, on every device.
///
/// Every stored property is `Codable`, so that a mock server can keep the store in its file. The signer and the shared
/// secret are not encoded: the owner of a decoded store gives them again.
public struct StoreModel: Sendable, Hashable, Codable {
  /// The products for sale, by product id.
  public internal(set) var products: [String: StoreProduct]
  /// The environment of the store.
  public let environment: StoreEnvironment
  /// Recognises the store's proofs. ``signer`` signs them.
  package internal(set) var forge: ReceiptForge
  /// The pace of subscriptions, from the next purchase or change of plan on.
  public var pace: StorePace
  /// How purchases are delivered from now on, unless the payment has its own delivery.
  public var delivery = StoreDelivery()
  /// Which transactions of a bundle's payment have its account token. No source says.
  public var bundleTokens = BundleTokens.all
  /// The faults from now on.
  public var faults = StoreFaults()
  /// The app's shared secret for `verifyReceipt`; nil if none is needed.
  public var sharedSecret: SharedSecret? {
    get { secret.value }
    set { secret.value = newValue }
  }
  /// The notifications to the backend.
  public var notifications = NotificationQueue()
  /// The settings of the store accounts, by name.
  public var accounts: [String: StoreAccount] { settings.values }
  /// Every transaction, in order of creation. None is ever removed.
  public var transactions: [StoreTransactionRecord] { log.records.elements }
  /// Every subscription, by its original transaction id.
  package var subscriptions: [String: Subscription] { plans.values }
  /// The purchases that were begun and not paid at once, in order.
  public var requests: [PurchaseRequest] { requestLog.elements }
  /// The signed-in store account of each device.
  public var signedIn: [String: String] { devices.values }
  /// How many times the person was asked for a password to refresh the app receipt.
  public internal(set) var prompts = 0
  /// How many times an app receipt was read, by any call.
  public internal(set) var receiptReadings = 0

  var log = TransactionLog()
  var plans = StoreRows<String, Subscription>()
  var settings = StoreRows<String, StoreAccount>()
  var requestLog = StoreLog<PurchaseRequest>()
  var devices = StoreRows<String, String>()
  /// Finished transactions that are delivered again, because they were refunded or upgraded.
  var announcedPositions = StoreRows<String, [Int]>()
  /// The launch of the app that paid each transaction.
  var payingLaunches = StoreRows<String, String>()
  var receiptFiles = StoreRows<String, ReceiptFile>()
  /// The transactions that changed since the app receipt of their store account was written, as the receipt shows them.
  var writtenRecords = StoreRows<Int, StoreTransactionRecord>()
  var issued = IssuedProofs()
  /// The present or last subscription of a store account in each group.
  var groupSubscriptions = StoreRows<GroupMember, String>()
  /// The prices that were raised since the store began.
  var raisedPrices: [String: Int64] = [:]
  private var secret = UnkeptSecret()
  /// Another one after each writing to a file.
  private(set) var mark = StoreMark()
  /// No step of a subscription is due before this time; nil without a step.
  var earliestStep: Timestamp?
  var shares = FamilyShares()
  /// Who has the seats of each subscription, by its original transaction id.
  var seats = StoreRows<String, SeatHolders>()
  /// Products that are not for sale.
  var withdrawn: Set<String> = []
  /// What backends reported about the use of purchases, by transaction id.
  var consumptionReports = StoreRows<String, ConsumptionReport>()
  /// The results of requests to postpone all renewals of a product.
  var massExtensions: [MassExtension] = []
  private let firstTransactionID: Int64

  struct GroupMember: Sendable, Hashable, Codable, Comparable {
    var storeAccount: String
    var groupID: String

    static func < (left: GroupMember, right: GroupMember) -> Bool {
      (left.storeAccount, left.groupID) < (right.storeAccount, right.groupID)
    }
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

  /// Every charge in order, refunded and finished ones too: the transactions without restores, family shares and
  /// assigned seats.
  public var charges: [StoreTransactionRecord] { transactions.filter(\.isCharge) }

  /// The transaction with this id, or nil.
  public func transaction(_ transactionID: String) -> StoreTransactionRecord? {
    log.positions[transactionID].map { log[$0] }
  }

  /// All transactions of a store account, in order.
  public func transactions(storeAccount: String) -> [StoreTransactionRecord] {
    (log.accounts[storeAccount] ?? []).map { log[$0] }
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
    signer.signedTransaction(transactions[try position(of: transactionID)], signedAt: now)
  }

  /// Signs the store's proofs, with the planned defect.
  var signer: ReceiptForge { forge.breaking(faults.brokenProofs) }

  func position(of transactionID: String) throws(StoreModelError) -> Int {
    guard let position = log.positions[transactionID] else { throw .unknownTransaction(transactionID) }
    return position
  }

  /// The id of the next transaction.
  var nextTransactionID: String { String(firstTransactionID &+ Int64(log.count)) }

  /// Adds a transaction with the next id to the log and to the unfinished ones.
  @discardableResult
  mutating func append(_ draft: StoreTransactionRecord) -> StoreTransactionRecord {
    var record = draft
    if record.originalTransactionID == record.transactionID {
      record.originalTransactionID = nextTransactionID
    }
    record.transactionID = nextTransactionID
    log.append(record)
    return record
  }

  /// Changes a transaction. The app receipt of its store account shows it as it was until it is written again.
  mutating func amend(_ position: Int, _ change: (inout StoreTransactionRecord) -> Void) {
    let before = log[position]
    log.amend(position, change)
    if writtenRecords[position] == nil, log[position] != before,
      receiptFiles[before.storeAccount].map({ position < $0.end }) == true
    {
      writtenRecords[position] = before
    }
  }

  /// Delivers a finished transaction again, because it changed.
  mutating func announce(_ position: Int) {
    let storeAccount = transactions[position].storeAccount
    if receiptFiles[storeAccount] != nil { receiptFiles[storeAccount]?.isStale = true }
    guard transactions[position].isFinished else { return }
    if announcedPositions[storeAccount]?.contains(position) != true {
      announcedPositions[storeAccount, default: []].append(position)
    }
  }
}

extension StoreModel {
  /// Every change so far is in the file. Returns the mark of what the file has.
  mutating func forgetChanges() -> StoreMark {
    log.forgetChanges()
    plans.forgetChanges()
    settings.forgetChanges()
    requestLog.forgetChanges()
    devices.forgetChanges()
    announcedPositions.forgetChanges()
    payingLaunches.forgetChanges()
    receiptFiles.forgetChanges()
    writtenRecords.forgetChanges()
    issued.forgetChanges()
    groupSubscriptions.forgetChanges()
    consumptionReports.forgetChanges()
    shares.forgetChanges()
    seats.forgetChanges()
    notifications.forgetChanges()
    mark = StoreMark()
    return mark
  }

  /// Goes on after a restart with what is given at each start: the signer, the secret, and the products with the prices
  /// that were raised. Notifications that were being posted are posted again.
  mutating func resume(as given: StoreModel) {
    forge = given.forge
    sharedSecret = given.sharedSecret
    products = given.products
    for (id, price) in raisedPrices { products[id]?.price = price }
    notifications.resume()
  }
}

/// The shared secret is given at each start and is in no file of the store.
private struct UnkeptSecret: Sendable, Hashable, Codable {
  private enum CodingKeys: CodingKey {}

  var value: SharedSecret?
}
