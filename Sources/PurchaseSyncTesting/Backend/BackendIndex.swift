import AppStoreReceipts
import Foundation
import PurchaseSync

/// Where things stand in the model's lists. Follows from them, and is kept so that nothing is looked for one by one.
struct BackendIndex: Sendable, Hashable {
  /// Positions of orders, by number, token, account and key, and account.
  private(set) var orders: [String: Int] = [:]
  private(set) var tokens: [UUID: Int] = [:]
  private(set) var accountOrders: [String: [Int]] = [:]
  private var keys: [AccountKey: Int] = [:]
  /// Positions of credits, by transaction, and by whom they were granted to.
  private(set) var credits: [TransactionKey: [Int]] = [:]
  private var owners: [Uploader: [Int]] = [:]
  /// Positions of reversals.
  var reversals: [TransactionKey: Int] = [:]
  /// Positions of purchases; of the periods of each subscription.
  private(set) var purchases: [TransactionKey: Int] = [:]
  private(set) var chains: [ChainKey: [Int]] = [:]
  /// Positions of device claims.
  var deviceClaims: [UUID: [Int]] = [:]
  /// When the store vouched for the newest proof of each subscription.
  var newestProofs: [ChainKey: Int64] = [:]
  /// How often in a row the store said 21002.
  private(set) var doubts: [Doubt: Int] = [:]

  private struct AccountKey: Hashable {
    var account: String
    var key: String
  }

  struct Doubt: Sendable, Hashable {
    var transactionID: String
    var uploader: Uploader
  }

  /// False if the order's number is known.
  mutating func insert(_ order: BackendOrder, at position: Int) -> Bool {
    guard orders[order.number] == nil else { return false }
    orders[order.number] = position
    tokens[order.accountToken] = position
    keys[AccountKey(account: order.account, key: order.idempotencyKey)] = position
    accountOrders[order.account, default: []].append(position)
    return true
  }

  mutating func insert(_ credit: Credit, at position: Int) {
    credits[credit.transaction, default: []].append(position)
    owners[credit.owner, default: []].append(position)
  }

  mutating func insert(_ purchase: Purchase, at position: Int) {
    purchases[purchase.transaction] = position
    if purchase.isSubscription { chains[ChainKey(purchase.facts), default: []].append(position) }
  }

  mutating func note(_ verdict: RecordedVerdict) {
    let claim = Doubt(transactionID: verdict.transactionID, uploader: verdict.uploader)
    if verdict.storeStatus == ReceiptStatus.malformed.rawValue {
      doubts[claim, default: 0] += 1
    } else {
      doubts[claim] = nil
    }
  }

  func order(account: String, idempotencyKey: String) -> Int? {
    keys[AccountKey(account: account, key: idempotencyKey)]
  }

  func credits(of owner: Uploader) -> [Int] { owners[owner] ?? [] }
}
