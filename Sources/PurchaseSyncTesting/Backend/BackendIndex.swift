import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseSync

/// Positions in the model's lists, derived from them, so that no list is searched item by item.
struct BackendIndex: Sendable, Hashable {
  /// Positions of orders, by number, token, account and key, and account.
  private(set) var orders: [String: Int] = [:]
  private(set) var tokens: [UUID: [Int]] = [:]
  private(set) var accountOrders: [String: [Int]] = [:]
  private var keys: [AccountKey: Int] = [:]
  /// Positions of credits, by transaction and by owner at the time of the grant.
  private(set) var credits: [TransactionKey: [Int]] = [:]
  private var owners: [Uploader: [Int]] = [:]
  /// Positions of reversals.
  var reversals: [TransactionKey: Int] = [:]
  /// Positions of purchases; of the periods of each subscription.
  private(set) var purchases: [TransactionKey: Int] = [:]
  private(set) var chains: [ChainKey: [Int]] = [:]
  /// Positions of purchases of subscriptions in a bundle, by the id of the bundle's payment.
  private(set) var bundles: [ChainKey: [Int]] = [:]
  /// Positions of adoptions, by device.
  var deviceAdoptions: [UUID: [Int]] = [:]
  /// When the store confirmed the newest proof of each subscription.
  var newestProofs: [ChainKey: Int64] = [:]
  /// How many times in a row the store answered 21002.
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
    tokens[order.accountToken, default: []].append(position)
    keys[AccountKey(account: order.account, key: order.idempotencyKey)] = position
    accountOrders[order.account, default: []].append(position)
    return true
  }

  /// Orders were removed.
  mutating func reindex(_ all: [BackendOrder]) {
    (orders, tokens, accountOrders, keys) = ([:], [:], [:], [:])
    for (position, order) in all.enumerated() { _ = insert(order, at: position) }
  }

  mutating func insert(_ credit: Credit, at position: Int) {
    credits[credit.transaction, default: []].append(position)
    owners[credit.owner, default: []].append(position)
  }

  mutating func move(creditAt position: Int, from owner: Uploader, to next: Uploader) {
    owners[owner]?.removeAll { $0 == position }
    owners[next, default: []].append(position)
    owners[next]?.sort()
  }

  mutating func insert(_ purchase: Purchase, at position: Int) {
    purchases[purchase.transaction] = position
    if purchase.isSubscription { chains[ChainKey(purchase.facts), default: []].append(position) }
  }

  /// A proof of another kind may say later that a purchase is part of a bundle.
  mutating func noteBundle(of purchase: Purchase, at position: Int) {
    guard let id = purchase.facts.bundle?.transactionID else { return }
    let key = ChainKey(environment: purchase.facts.environment, originalTransactionID: id)
    guard bundles[key]?.contains(position) != true else { return }
    bundles[key, default: []].append(position)
    bundles[key]?.sort()
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
