public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// A model of the App Store: it charges, keeps what is unfinished, and refunds.
///
/// A pure value without clock, randomness or I/O; time is an argument. Its log of charges only grows, so that a
/// test can count what people paid. Unfinished transactions survive everything except `finish`.
public struct StoreModel: Sendable, Hashable {
  /// What is sold, by product id.
  public let products: [String: StoreProduct]
  /// Which store this is.
  public let environment: StoreEnvironment
  /// Signs what the store hands out.
  public let forge: ReceiptForge
  /// Every charge in order of purchase, refunded and finished ones too. None ever leaves.
  public private(set) var charges: [StoreTransactionRecord] = []
  private var positions: [String: Int] = [:]
  /// Apps ask for these all the time; to look through all charges would make long runs quadratic.
  private var unfinishedPositions: [String: [Int]] = [:]
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
  public mutating func pay(
    product productID: String, quantity: Int, accountToken: UUID?, storeAccount: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    guard !storeAccount.isEmpty else { throw .noStoreAccount }
    guard let product = products[productID] else { throw .unknownProduct(productID) }
    // "The default value is 1, the minimum value is 1, and the maximum value is 10" (SKMutablePayment.quantity).
    let allowed = product.kind == .consumable || product.kind == .nonRenewing ? 1...10 : 1...1
    guard allowed.contains(quantity) else { throw .invalidQuantity(quantity, productID: productID) }
    if product.kind == .nonConsumable, let owned = owned(productID, by: storeAccount) { return owned }
    let record = StoreTransactionRecord(
      transactionID: String(firstTransactionID &+ Int64(charges.count)), storeAccount: storeAccount,
      productID: productID, kind: product.kind, quantity: quantity, accountToken: accountToken,
      purchasedAt: now, expiresAt: product.periodMilliseconds.map { now.adding(milliseconds: $0) },
      environment: environment)
    positions[record.transactionID] = charges.count
    unfinishedPositions[storeAccount, default: []].append(charges.count)
    charges.append(record)
    return record
  }

  /// What this store account would be delivered again, in order of purchase; a refund takes nothing out.
  public func unfinished(storeAccount: String) -> [StoreTransactionRecord] {
    (unfinishedPositions[storeAccount] ?? []).map { charges[$0] }
  }

  /// Ends redelivery. Finishing twice changes nothing; an unknown transaction is refused.
  public mutating func finish(transactionID: String) throws(StoreModelError) {
    let position = try position(of: transactionID)
    charges[position].isFinished = true
    unfinishedPositions[charges[position].storeAccount]?.removeAll { $0 == position }
  }

  /// Gives the money back. A second refund keeps the first moment; an unknown transaction is refused.
  @discardableResult
  public mutating func refund(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let position = try position(of: transactionID)
    if charges[position].revokedAt == nil { charges[position].revokedAt = now }
    return charges[position]
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

  private func position(of transactionID: String) throws(StoreModelError) -> Int {
    guard let position = positions[transactionID] else { throw .unknownTransaction(transactionID) }
    return position
  }

  private func owned(_ productID: String, by storeAccount: String) -> StoreTransactionRecord? {
    charges.first { $0.productID == productID && $0.storeAccount == storeAccount && $0.revokedAt == nil }
  }
}
