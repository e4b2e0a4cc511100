import AppStoreReceipts
import Foundation
import PurchaseQueue

/// What a person wants to buy.
struct OrderWish: Sendable {
  var account: String
  var product: String
  /// How many units, or how many seats the subscription is to have in all.
  var quantity: Int
  /// What is counted. It makes no other wish: a product is sold in one way.
  var count = Count.units
  /// What the app adds. It makes no other wish.
  var note: OrderNote

  init(account: String, product: String, quantity: Int, note: OrderNote = OrderNote()) {
    (self.account, self.product, self.quantity, self.note) = (account, product, quantity, note)
  }

  init(account: String, product: String, seats: Int, note: OrderNote = OrderNote()) {
    self.init(account: account, product: product, quantity: seats, note: note)
    count = .seats
  }

  init(of order: PurchaseOrder) {
    self.init(account: order.account, product: order.productID, quantity: order.quantity)
  }

  /// Names are compared by their bytes, as in the file.
  func isSame(as other: OrderWish) -> Bool { hasProduct(of: other) && quantity == other.quantity }

  /// Whether it is for the same account and product.
  func hasProduct(of other: OrderWish) -> Bool {
    account.hasSameBytes(as: other.account) && product.hasSameBytes(as: other.product)
  }
}

extension OrderWish {
  enum Count: String, Sendable {
    case units, seats

    /// The most that StoreKit sells at once (`Product.PurchaseOption.quantity`). Of seats no source says it: this is more than
    /// any group has.
    var most: Int { self == .units ? 10 : 100_000 }
  }

  /// Throws before a payment that the store would refuse.
  func checkQuantity() throws(SyncError) {
    guard 1...count.most ~= quantity else {
      throw .encoding(what: "an order of \(quantity) \(count.rawValue), of 1 to \(count.most),")
    }
  }

  /// The bytes of its texts.
  var bytes: Int { account.utf8.count + product.utf8.count }

  /// Whether a payment for it can be queued, with the longest number that an order can have: what the queue refuses after
  /// the payment is never delivered.
  func fits(_ limits: QueueLimits) throws(SyncError) -> Bool {
    guard bytes <= limits.textBytes else { return false }
    // As long as any transaction of the product: its ids have fewer than 32 digits.
    let (id, moment) = (String(repeating: "9", count: 32), Timestamp(milliseconds: 9_999_999_999_999))
    var transaction = StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: product,
      quantity: quantity, purchasedAt: moment, accountToken: nil,
      proof: Payload(kind: ProofKind.signedTransaction.rawValue, bytes: []))
    (transaction.expiresAt, transaction.revokedAt, transaction.signedAt) = (moment, moment, moment)
    (transaction.refundedShare, transaction.revokedSeats) = (.whole, quantity)
    let match = OrderMatch(
      kind: .none, lane: .account(account), transactionClass: .purchase, evidence: MatchEvidence.allCases)
    do throws(QueueError) {
      let details = try TransactionDetails(transaction, match: match).text().utf8.count
      let texts = transaction.key.rawValue.utf8.count + match.lane.rawValue.utf8.count + details
      return texts + VerdictBinding.longestNumber + Self.storeAccountBytes <= limits.textBytes
    } catch {
      throw .encoding(what: "an order of \(product)")
    }
  }

  /// For the name of the store account that listed the transaction.
  private static var storeAccountBytes: Int { 128 }
}
