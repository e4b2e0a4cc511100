import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// Orders, and for each the transaction that pays for it.
struct MatchLoad {
  /// How hard the matching is.
  enum Shape: String, CaseIterable {
    /// A product for each 50 orders, and every second payment lost its token.
    case mixed
    /// One product and no tokens: every order is a candidate for every payment.
    case alike
  }

  struct Placed {
    var order: OrderFacts
    var accountToken: UUID
  }

  var orders: [Placed] = []
  /// In random order.
  var transactions: [StoreTransaction] = []

  init(_ shape: Shape, count: Int, seed: UInt64 = 7) {
    var random = SplitMix64(seed: seed)
    // All within the window in which an order is proposed, for any number of orders.
    let begin: Int64 = 1_700_000_000_000
    let step = 6 * 86_400_000 / Int64(count)
    let products = max(1, count / 50)
    var bought: [Placed] = []
    for number in 0..<count {
      let product = shape == .mixed ? "gems.\(Int.random(in: 0..<products, using: &random))" : "gems"
      let order = OrderFacts(
        number: "order-\(number)", account: "alice", productID: product, quantity: 1,
        createdAt: Timestamp(milliseconds: begin + Int64(number) * step))
      bought.append(Placed(order: order, accountToken: random.nextUUID()))
    }
    orders = bought
    bought.shuffle(using: &random)
    for (index, placed) in bought.enumerated() {
      let id = String(2_000_000_000_000_001 + index)
      let keepsToken = shape == .mixed && Bool.random(using: &random)
      transactions.append(
        StoreTransaction(
          environment: .production, transactionID: id, originalTransactionID: id,
          productID: placed.order.productID, quantity: 1,
          purchasedAt: placed.order.createdAt.adding(
            milliseconds: Int64.random(in: 1_000...90_000, using: &random)),
          accountToken: keepsToken ? placed.accountToken : nil,
          // Only the original API drops a token: a signed transaction without one is proposed for no order.
          proof: Payload(
            kind: (keepsToken ? ProofKind.signedTransaction : .transactionReceipt).rawValue, bytes: [])))
    }
  }
}

/// Stores orders and transactions, and answers queries of the matcher.
protocol MatchSubject: MatchSource {
  init()
  mutating func insert(_ order: OrderFacts, accountToken: UUID)
  func match(_ transaction: StoreTransaction) throws(QueueError) -> OrderMatch
  mutating func record(_ match: OrderMatch, of key: EntryKey) throws(QueueError)
  mutating func bind(_ key: EntryKey, to number: String, lane: Lane) throws(QueueError)
}

extension OrderBook: MatchSubject {
  func match(_ transaction: StoreTransaction) throws(QueueError) -> OrderMatch {
    try match(transaction, window: MatchWindow())
  }
}

extension MatchSubject {
  /// Starts empty, adds every order, matches every transaction, and binds it to its first candidate, as a verdict would.
  static func work(_ load: MatchLoad, _ note: (StoreTransaction, OrderMatch) -> Void) throws {
    var subject = Self()
    for placed in load.orders { subject.insert(placed.order, accountToken: placed.accountToken) }
    for transaction in load.transactions {
      let match = try subject.match(transaction)
      let key = transaction.key
      try subject.record(match, of: key)
      if let first = match.candidates.first { try subject.bind(key, to: first, lane: match.lane) }
      note(transaction, match)
    }
  }
}
