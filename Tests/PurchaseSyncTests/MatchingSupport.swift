import AppStoreReceipts
import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Midday of some day, by the backend's and the store's clocks.
let midday = Timestamp(milliseconds: 1_700_000_000_000)

func inMinutes(_ count: Int64) -> Int64 { count * 60_000 }
func inDays(_ count: Int64) -> Int64 { count * 86_400_000 }

/// A token made from a short text.
func orderToken(_ number: UInt8) -> UUID {
  UUID(uuid: (0xA0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
}

/// A consumable, a first purchase, paid `offset` milliseconds after midday. Without a token it is of the original API, which
/// can have lost the token.
func payment(
  _ id: String = "100", token: UUID? = nil, product: String = "gems", quantity: Int = 1, at offset: Int64 = 0,
  original: String? = nil, _ change: (inout StoreTransaction) -> Void = { _ in }
) -> StoreTransaction {
  var transaction = StoreTransaction(
    environment: .production, transactionID: id, originalTransactionID: original ?? id, productID: product,
    quantity: quantity, purchasedAt: midday.adding(milliseconds: offset), accountToken: token,
    proof: Payload(
      kind: (token == nil ? ProofKind.transactionReceipt : .signedTransaction).rawValue,
      bytes: Array("x.y.z".utf8)))
  change(&transaction)
  return transaction
}

/// A period of a subscription, later in the chain of "100".
func laterPeriod(
  _ id: String = "200", token: UUID? = nil, product: String = "gold", reason: TransactionReason? = nil,
  at offset: Int64 = inDays(30)
) -> StoreTransaction {
  payment(id, token: token, product: product, at: offset, original: "100") {
    $0.expiresAt = $0.purchasedAt.adding(milliseconds: inDays(30))
    $0.reason = reason
  }
}

extension OrderBook {
  /// An order with the token of `number`, made the given milliseconds after midday.
  mutating func add(
    _ number: UInt8, account: String = "alice", product: String = "gems", quantity: Int = 1,
    at offset: Int64 = -60_000, state: OrderState = .open, expires: Int64? = nil, boundTo: EntryKey? = nil
  ) {
    insert(
      OrderFacts(
        number: String(number), account: account, productID: product, quantity: quantity, state: state,
        createdAt: midday.adding(milliseconds: offset),
        expiresAt: expires.map { midday.adding(milliseconds: $0) }, boundTo: boundTo),
      accountToken: orderToken(number))
  }

  /// Matches and commits, like a journal.
  mutating func arrive(_ transaction: StoreTransaction) throws -> OrderMatch {
    let match = try OrderMatcher.match(transaction, from: self)
    try record(match, of: transaction.key)
    return match
  }
}

extension MatchSource {
  /// The first order with this token.
  func orderFacts(accountToken: UUID) throws(QueueError) -> OrderFacts? {
    try orders(TokenQuery(accountToken, limit: 1)).first
  }
}
