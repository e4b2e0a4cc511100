/// Every transaction of the store in order of creation, and what is looked up in it often.
///
/// Only the records are kept in a file. The rest follows from them: indexed because apps ask for these often, and a
/// search of all transactions would make long runs quadratic.
struct TransactionLog: Sendable, Hashable, Codable {
  private enum CodingKeys: CodingKey { case records }

  private(set) var records = StoreLog<StoreTransactionRecord>()
  private(set) var positions: [String: Int] = [:]
  private(set) var unfinished: [String: [Int]] = [:]
  /// All transactions of a store account, in order.
  private(set) var accounts: [String: [Int]] = [:]
  /// The content of the next app receipt of a store account, and finished consumables that the next writing removes.
  private(set) var receipts: [String: [Int]] = [:]
  /// Refunded consumables: notifications include them, the app receipt does not include finished ones.
  private(set) var refunded: [String: [Int]] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    records = try decoder.container(keyedBy: CodingKeys.self).decode(
      StoreLog<StoreTransactionRecord>.self, forKey: .records)
    for position in records.elements.indices { index(position) }
  }

  var count: Int { records.count }

  subscript(position: Int) -> StoreTransactionRecord { records[position] }

  mutating func append(_ record: StoreTransactionRecord) {
    records.append(record)
    index(records.count - 1)
  }

  /// Changes a record. Its id and its store account stay.
  mutating func amend(_ position: Int, _ change: (inout StoreTransactionRecord) -> Void) {
    let before = records[position]
    var record = before
    change(&record)
    guard record != before else { return }
    records[position] = record
    if record.isFinished, !before.isFinished { unfinished[record.storeAccount]?.removeAll { $0 == position } }
    if record.revokedAt != nil, before.revokedAt == nil { noteRefund(position) }
  }

  /// Sets what the next app receipt of a store account holds.
  mutating func hold(_ held: [Int], for storeAccount: String) { receipts[storeAccount] = held }

  mutating func forgetChanges() { records.forgetChanges() }

  private mutating func index(_ position: Int) {
    let record = records[position]
    positions[record.transactionID] = position
    if !record.isFinished { unfinished[record.storeAccount, default: []].append(position) }
    accounts[record.storeAccount, default: []].append(position)
    receipts[record.storeAccount, default: []].append(position)
    if record.revokedAt != nil { noteRefund(position) }
  }

  private mutating func noteRefund(_ position: Int) {
    let record = records[position]
    guard record.kind == .consumable, refunded[record.storeAccount]?.contains(position) != true else {
      return
    }
    refunded[record.storeAccount, default: []].append(position)
  }
}
