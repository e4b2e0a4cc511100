import Foundation
import PurchaseQueue

/// Payments of guests that wait for an approval. A guest has no order in the journal, and a screen shows them all the
/// same. One fact holds them.
struct GuestApprovals: Codable, Sendable, Hashable {
  /// The name of the fact.
  static var name: String { "guest_approvals" }
  /// The most that are kept: the newest.
  private static var most: Int { 16 }

  private struct Approval: Codable, Sendable, Hashable {
    var number: String
    var token: UUID
    var product: String
    var quantity: Int
    var createdAt: Timestamp
  }

  /// The oldest first. At most one of each product, like the orders that a screen shows.
  private var waiting: [Approval] = []

  /// A sheet ended, and the payment waits. It takes the place of an earlier one of the product.
  mutating func begin(_ order: PurchaseOrder) {
    end(product: order.productID)
    waiting.append(
      Approval(
        number: order.number, token: order.accountToken, product: order.productID, quantity: order.quantity,
        createdAt: order.createdAt))
    waiting.removeFirst(max(0, waiting.count - Self.most))
  }

  /// The payment came.
  mutating func end(token: UUID) { waiting.removeAll { $0.token == token } }

  /// A later payment of the product came.
  mutating func end(product: String) { waiting.removeAll { $0.product.hasSameBytes(as: product) } }

  /// As orders without an account.
  var orders: [PurchaseOrder] {
    waiting.map {
      PurchaseOrder(
        number: $0.number, accountToken: $0.token, account: "", productID: $0.product, quantity: $0.quantity,
        state: .deferred, createdAt: $0.createdAt)
    }
  }
}

extension SyncFile {
  func guestApprovals() throws(QueueError) -> [PurchaseOrder] {
    try fact(GuestApprovals.name).map { (approvals: GuestApprovals) in approvals.orders } ?? []
  }

  /// Changes what is kept of them. Nothing is written where nothing changes.
  func changeGuestApprovals(_ change: (inout GuestApprovals) -> Void) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      let before = try fact(GuestApprovals.name) ?? GuestApprovals()
      var after = before
      change(&after)
      if after != before { try setFact(GuestApprovals.name, after) }
    }
  }
}
