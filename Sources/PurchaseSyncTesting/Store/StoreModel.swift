public import AppStoreReceipts
public import PurchaseQueue

/// A model of the App Store: it charges, renews, keeps what is unfinished, writes app receipts, and refunds.
///
/// A pure value without clock, randomness or I/O; time is an argument, and whatever is asked at a moment, the store
/// first does what was due until then. Its log of transactions only grows, so that a test can count what people paid.
/// Unfinished transactions survive everything except `finish`; they belong to the store account that paid, whatever
/// device it is signed in on.
public struct StoreModel: Sendable, Hashable {
  /// What is sold, by product id.
  public internal(set) var products: [String: StoreProduct]
  /// Which store this is.
  public let environment: StoreEnvironment
  /// Signs what the store hands out.
  public let forge: ReceiptForge
  /// How fast the time of subscriptions goes, from the next purchase or change of plan on.
  public var pace: StorePace
  /// How purchases are delivered from now on, unless a payment says otherwise.
  public var delivery = StoreDelivery()
  /// What goes wrong from now on.
  public var faults = StoreFaults()
  /// The app's shared secret, which `verifyReceipt` wants; nil: anybody may ask.
  public var sharedSecret: SharedSecret?
  /// What the backend is told, and what of it still has to be posted.
  public var notifications = NotificationQueue()
  /// What is known of a store account beyond what it bought, by its name.
  public internal(set) var accounts: [String: StoreAccount] = [:]
  /// Every transaction in the order in which the store made them. None ever leaves.
  public internal(set) var transactions: [StoreTransactionRecord] = []
  /// Every subscription, by its original transaction id.
  public internal(set) var lives: [String: SubscriptionLife] = [:]
  /// Purchases that were begun and not paid at once, in order.
  public internal(set) var requests: [PurchaseRequest] = []
  /// Who is signed in to the store on which device.
  public internal(set) var signedIn: [String: String] = [:]
  /// How often a person was asked for a password to refresh the app receipt.
  public internal(set) var prompts = 0
  /// How often an app receipt was read, by whatever call.
  public internal(set) var receiptReadings = 0

  var positions: [String: Int] = [:]
  /// Apps ask for these all the time; to look through all transactions would make long runs quadratic.
  var unfinishedPositions: [String: [Int]] = [:]
  /// Finished ones that are delivered again, because they were refunded or upgraded.
  var announcedPositions: [String: [Int]] = [:]
  /// All of a store account, in order.
  var accountPositions: [String: [Int]] = [:]
  /// What the next app receipt of a store account holds, and finished consumables that were not swept out yet.
  var receiptPositions: [String: [Int]] = [:]
  /// Finished consumables that were refunded: the backend is told of them, the app receipt is not.
  var refundedPositions: [String: [Int]] = [:]
  /// The launch of the app that paid, by transaction id.
  var payingLaunches: [String: String] = [:]
  var receiptFiles: [String: ReceiptFile] = [:]
  var issued = IssuedProofs()
  /// The subscription that a store account has, or had, in each group: one at a time.
  var groupLives: [GroupMember: String] = [:]
  /// No step of a life is due before; nil for never.
  var earliestStep: Timestamp?
  var shares = FamilyShares()
  /// No longer for sale.
  var withdrawn: Set<String> = []
  private let firstTransactionID: Int64

  struct GroupMember: Sendable, Hashable {
    var storeAccount: String
    var groupID: String
  }

  /// An empty store. Of several products with one id, the last counts.
  public init(
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

  /// The subscription that a transaction is a period of, for a family share its owner's; nil for everything else.
  public func life(of transactionID: String) -> SubscriptionLife? {
    transaction(transactionID).flatMap {
      lives[shares.owners[$0.originalTransactionID] ?? $0.originalTransactionID]
    }
  }

  /// The signed transaction as the store would hand it out now, a refund included.
  public func signedTransaction(
    for transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> String {
    forge.signedTransaction(transactions[try position(of: transactionID)], signedAt: now)
  }

  func position(of transactionID: String) throws(StoreModelError) -> Int {
    guard let position = positions[transactionID] else { throw .unknownTransaction(transactionID) }
    return position
  }

  /// What the next transaction will be called.
  var nextTransactionID: String { String(firstTransactionID &+ Int64(transactions.count)) }

  /// Writes a transaction into the log and among the unfinished. It gets the next id.
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

  /// Delivers a finished transaction again, because something about it changed.
  mutating func announce(_ position: Int) {
    let storeAccount = transactions[position].storeAccount
    receiptFiles[storeAccount]?.isStale = true
    guard transactions[position].isFinished else { return }
    if announcedPositions[storeAccount]?.contains(position) != true {
      announcedPositions[storeAccount, default: []].append(position)
    }
  }
}
