import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

/// The state outside the disk: payments, grants of the backend, finished transactions of the store.
struct OutsideState: Sendable {
  /// Orders that the backend made, by number.
  var orders: Set<String> = []
  /// Keys of requests for orders.
  var requests: Set<String> = []
  /// Transactions that were charged, with the order that they belong to.
  var paid: [EntryKey: String?] = [:]
  /// Given up by a person.
  var discarded: Set<EntryKey> = []
  /// Transactions that the backend credited. Its ledger takes each once.
  var granted: Set<EntryKey> = []
  /// Transactions that the store does not deliver again.
  var finished: Set<EntryKey> = []
  /// How many were charged.
  var transactions = 0

  static let account = "alice"
  static let product = "gems"

  static let noon = Timestamp(milliseconds: 1_767_268_800_000)

  /// A payment: with an order for the first six, then without.
  mutating func pay() -> StoreTransaction {
    transactions += 1
    let transaction = Self.transaction(transactions)
    paid[transaction.key] = transactions <= 6 ? Self.orderNumber(transactions) : .some(nil)
    return transaction
  }

  static func transaction(_ number: Int, revision: Int = 0) -> StoreTransaction {
    let id = String(2_000_000_000_000_000 + number)
    return StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: product,
      quantity: 1, purchasedAt: noon.adding(milliseconds: Int64(number) * 1_000),
      accountToken: number <= 6 ? token(number) : nil,
      proof: Payload(kind: ProofKind.signedTransaction.rawValue, bytes: proof(number, revision)))
  }

  /// Another one for each, and none that could be compressed.
  private static func proof(_ number: Int, _ revision: Int) -> [UInt8] {
    var random = RandomSource(seed: UInt64(number * 1_000 + revision))
    return (0..<1_300 + 64 * (number % 3)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  static func orderNumber(_ number: Int) -> String { "order-\(number)" }

  static func token(_ number: Int) -> UUID {
    UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  static func document(_ number: Int) -> OrderDocument {
    OrderDocument(
      number: orderNumber(number), accountToken: token(number), productID: product, quantity: 1,
      state: .open, createdAt: noon.adding(milliseconds: Int64(number) * 1_000 - 500))
  }

  /// The number of the transaction of this name.
  static func number(of key: EntryKey) -> Int? {
    guard let id = key.rawValue.split(separator: "/").last, let whole = Int(id) else { return nil }
    return whole - 2_000_000_000_000_000
  }
}

extension OutsideState {
  /// The transaction that was paid last.
  var newest: EntryKey? { transactions > 0 ? Self.transaction(transactions).key : nil }
}
