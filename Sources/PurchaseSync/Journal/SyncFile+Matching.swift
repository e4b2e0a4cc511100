import AppStoreReceipts
import Foundation
package import PurchaseQueue

/// Answers matching's questions by queries.
extension SyncFile: MatchSource {
  package func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts] {
    try journal.rows(query).map(OrderFacts.init)
  }

  /// The binding is stored with the entry, its tombstone, or the order.
  package func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? {
    let bound = try journal.row(boundTo: key)
    if let entry = try queue.entry(key) {
      return KnownTransaction(lane: entry.lane, orderNumber: entry.orderNumber ?? bound?.order.number)
    }
    if let tombstone = try queue.tombstone(key) {
      return KnownTransaction(lane: tombstone.lane, orderNumber: tombstone.orderNumber ?? bound?.order.number)
    }
    return bound.map { KnownTransaction(lane: .account($0.order.account), orderNumber: $0.order.number) }
  }

  package func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] {
    try journal.orders(query, .unbound).map(OrderFacts.init)
  }

  package func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool {
    var all = query
    all.limit = .max
    let counted = try journal.orders(all, .counted)
    return Set(counted.map { Lane.account($0.order.account) }).count > 1
  }

  package func payer(ofBundle payment: String, _ query: OrderQuery) throws(QueueError) -> String? {
    for row in try journal.orders(query, .bound) {
      guard let key = row.boundTo else { continue }
      var details: EntryDetails?
      if let entry = try queue.entry(key) { details = EntryDetails(of: entry) }
      if details == nil, let tombstone = try queue.tombstone(key) { details = EntryDetails(of: tombstone) }
      if details?.known?.bundleTransactionID == payment { return row.order.account }
    }
    return nil
  }

  package func binding(by number: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    guard let entry = try queue.entry(key) else { return .keep }
    let details = try EntryDetails(of: entry).required()
    let order = try journal.row(number: number).map(OrderFacts.init)
    // If the order was made elsewhere, only entries and tombstones name its transaction.
    let holder = order == nil ? try queue.holder(ofOrder: number, excluding: key) : nil
    return VerdictBinding(
      verdictOrder: number, of: key, productID: details.soldProductID,
      quantity: details.expiresAt == nil ? details.quantity : nil,
      isOfBundle: details.bundleTransactionID != nil, isOfAnotherPayer: details.isOfAnotherPayer == true,
      known: try knownTransaction(key), order: order, holder: holder)
  }
}

extension OrderFacts {
  init(_ row: OrderRow) {
    self.init(row.order, expiresAt: row.order.expiresAt, boundTo: row.boundTo)
  }
}

/// Entries whose account token names no order here, and of which the app is asked whose they are.
extension SyncFile {
  /// The token of an entry, from its signed proof; nil if no proof shows one. A delivery since may have replaced the proof that
  /// the entry had when it was chosen.
  func token(of key: EntryKey) throws(QueueError) -> UUID? {
    for reference in try queue.entry(key)?.payloads ?? []
    where reference.kind == ProofKind.signedTransaction.rawValue {
      guard let proof = try queue.payload(reference) else { continue }
      do throws(ReceiptDecodingError) {
        return try StoreTransaction(jws: String(decoding: proof.bytes, as: UTF8.self)).accountToken
      } catch {
        return nil  // The backend gets the proof, and decides.
      }
    }
    return nil
  }

  /// The account of an order that came to be known since.
  func account(of token: UUID) throws(QueueError) -> String? {
    try journal.rows(TokenQuery(token, limit: 1)).first?.order.account
  }

  /// The app has said whose the token of an entry is; `account` is nil if it knows none. Returns the entry, in the lane of
  /// its owner; nil if it is not there any more, or was sent.
  func decideOwner(
    of key: EntryKey, named account: String?, _ user: AppUser, now: Timestamp
  ) throws(QueueError) -> Entry? {
    guard let entry = try queue.entry(key), var details = EntryDetails(of: entry).known else { return nil }
    let owner = account.map { (lane: Lane.account($0), evidence: .ownerNamedByApp) } ?? user.ownerByPolicy
    details.decide(owner?.evidence)
    return try queue.move(key, to: owner?.lane ?? entry.lane, details: try details.text(), now: now)
  }
}

extension TransactionDetails {
  /// Whether the app is to say whose the transaction's token is.
  var waitsForOwner: Bool { words.contains(MatchEvidence.appIsAsked.rawValue) }

  /// The app has said it, or the policy has.
  fileprivate mutating func decide(_ found: MatchEvidence?) {
    let rest = words.filter { $0 != MatchEvidence.appIsAsked.rawValue } + [found?.rawValue].compactMap { $0 }
    evidence = rest.joined(separator: ",")
  }

  private var words: [String] { (evidence ?? "").split(separator: ",").map(String.init) }
}
