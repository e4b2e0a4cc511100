public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// A model of the App Store: it charges, keeps what is unfinished, writes app receipts, and refunds.
///
/// A pure value without clock, randomness or I/O; time is an argument. Its log of charges only grows, so that a
/// test can count what people paid. Unfinished transactions survive everything except `finish`; they belong to the
/// store account that paid, whatever device it is signed in on.
public struct StoreModel: Sendable, Hashable {
  /// What is sold, by product id.
  public let products: [String: StoreProduct]
  /// Which store this is.
  public let environment: StoreEnvironment
  /// Signs what the store hands out.
  public let forge: ReceiptForge
  /// How purchases are delivered from now on, unless a payment says otherwise.
  public var delivery = StoreDelivery()
  /// What goes wrong from now on.
  public var faults = StoreFaults()
  /// Every charge in order of purchase, refunded and finished ones too. None ever leaves.
  public internal(set) var charges: [StoreTransactionRecord] = []
  /// Who is signed in to the store on which device.
  public internal(set) var signedIn: [String: String] = [:]
  /// How often a person was asked for a password to refresh the app receipt.
  public internal(set) var prompts = 0
  /// How often an app receipt was read, by whatever call.
  public internal(set) var receiptReadings = 0

  var positions: [String: Int] = [:]
  /// Apps ask for these all the time; to look through all charges would make long runs quadratic.
  var unfinishedPositions: [String: [Int]] = [:]
  /// Finished ones that are delivered again, because they were refunded or upgraded.
  var announcedPositions: [String: [Int]] = [:]
  /// The launch of the app that paid, by transaction id.
  var payingLaunches: [String: String] = [:]
  var receiptFiles: [String: ReceiptFile] = [:]
  var issued = IssuedProofs()
  private let firstTransactionID: Int64

  /// An empty store. Of several products with one id, the last counts.
  public init(
    products: [StoreProduct], forge: ReceiptForge, environment: StoreEnvironment = .production,
    firstTransactionID: Int64 = 2_000_000_000_000_001
  ) {
    self.products = Dictionary(products.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    self.forge = forge
    self.environment = environment
    self.firstTransactionID = firstTransactionID
  }

  /// Charges a store account and keeps the transaction until it is finished.
  ///
  /// Someone who owns a non-consumable already is not charged again: the earlier transaction comes back as it is.
  /// `launch` names the run of the app that pays; another run may get the transaction without its token.
  public mutating func pay(
    product productID: String, quantity: Int, accountToken: UUID?, storeAccount: String,
    delivery: StoreDelivery? = nil, launch: String? = nil, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    guard !storeAccount.isEmpty else { throw .noStoreAccount }
    guard let product = products[productID] else { throw .unknownProduct(productID) }
    // "The default value is 1, the minimum value is 1, and the maximum value is 10" (SKMutablePayment.quantity).
    let allowed = product.kind == .consumable || product.kind == .nonRenewing ? 1...10 : 1...1
    guard allowed.contains(quantity) else { throw .invalidQuantity(quantity, productID: productID) }
    if product.kind == .nonConsumable, let owned = owned(productID, by: storeAccount) { return owned }
    let record = charge(
      product, quantity: quantity, accountToken: accountToken, storeAccount: storeAccount, original: nil,
      delivery: delivery, now: now)
    payingLaunches[record.transactionID] = launch
    updateReceipt(with: record, now: now)
    return record
  }

  /// Writes a charge into the log and among the unfinished.
  mutating func charge(
    _ product: StoreProduct, quantity: Int, accountToken: UUID?, storeAccount: String, original: String?,
    delivery: StoreDelivery?, now: Timestamp
  ) -> StoreTransactionRecord {
    let record = StoreTransactionRecord(
      transactionID: String(firstTransactionID &+ Int64(charges.count)), originalTransactionID: original,
      storeAccount: storeAccount, productID: product.id, kind: product.kind, quantity: quantity,
      accountToken: accountToken, purchasedAt: now,
      expiresAt: product.periodMilliseconds.map { now.adding(milliseconds: $0) }, environment: environment,
      delivery: delivery ?? self.delivery)
    positions[record.transactionID] = charges.count
    unfinishedPositions[storeAccount, default: []].append(charges.count)
    charges.append(record)
    return record
  }

  /// The charge with this id, or nil.
  public func transaction(_ transactionID: String) -> StoreTransactionRecord? {
    positions[transactionID].map { charges[$0] }
  }

  /// The signed transaction as the store would hand it out now, a refund included.
  public func signedTransaction(
    for transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> String {
    forge.signedTransaction(charges[try position(of: transactionID)], signedAt: now)
  }

  func position(of transactionID: String) throws(StoreModelError) -> Int {
    guard let position = positions[transactionID] else { throw .unknownTransaction(transactionID) }
    return position
  }

  private func owned(_ productID: String, by storeAccount: String) -> StoreTransactionRecord? {
    charges.first { $0.productID == productID && $0.storeAccount == storeAccount && $0.revokedAt == nil }
  }
}
