import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting

@testable import PurchaseSync

/// A few orders and transactions, and a naive matcher that tries every assignment.
///
/// It knows the class of each transaction because it made it, and compares the times of all orders.
struct MatchingFixture {
  enum Kind: CaseIterable {
    case purchase, replan, renewal, restore, shared, code, refunded

    /// Whether a token on the transaction names its order.
    var pays: Bool { self == .purchase || self == .replan || self == .refunded }
  }

  struct Sale {
    var transaction: StoreTransaction
    var kind: Kind
  }

  var orders: [OrderFacts] = []
  var sales: [Sale] = []

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for number in 1...Int.random(in: 2...4, using: &random) { addOrder(number, &random) }
    for index in 0..<Int.random(in: 2...4, using: &random) { addSale(index, &random) }
  }

  private mutating func addOrder(_ number: Int, _ random: inout SplitMix64) {
    let states: [OrderState] = [.open, .open, .open, .deferred, .cancelled, .expired]
    let at = Int64.random(in: -8...2, using: &random) * 30_000
    orders.append(
      OrderFacts(
        number: String(number), account: Bool.random(using: &random) ? "alice" : "bob",
        productID: Self.product(&random), quantity: Self.quantity(&random),
        state: states[Int.random(in: 0..<states.count, using: &random)],
        createdAt: midday.adding(milliseconds: at),
        expiresAt: Bool.random(using: &random) ? nil : midday.adding(milliseconds: at + 60_000)))
  }

  private mutating func addSale(_ index: Int, _ random: inout SplitMix64) {
    let kinds = Kind.allCases + Array(repeating: .purchase, count: 8) + [.replan]
    let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
    var token: UUID?
    if Bool.random(using: &random) {
      token = orderToken(UInt8(Int.random(in: 1...(orders.count + 1), using: &random)))
    }
    var product = (id: Self.product(&random), quantity: Self.quantity(&random))
    // Otherwise few would agree with an order.
    let order = token.flatMap { token in orders.first { Self.token(of: $0) == token } } ?? orders[0]
    if Int.random(in: 0..<5, using: &random) > 0 { product = (order.productID, order.quantity) }
    let isLater = kind == .replan || kind == .renewal || kind == .restore
    let earlier = sales.first.map(\.transaction.transactionID) ?? "unconfirmed"
    sales.append(
      Sale(
        transaction: payment(
          "t\(index)", token: kind == .code ? nil : token, product: product.id, quantity: product.quantity,
          at: Int64.random(in: -8...2, using: &random) * 30_000, original: isLater ? earlier : nil
        ) {
          if kind == .replan || kind == .renewal { $0.expiresAt = midday }
          if kind == .replan { $0.reason = .purchase }
          if kind == .renewal, Bool.random(using: &random) { $0.reason = .renewal }
          if kind == .shared { $0.ownership = .familyShared }
          if kind == .code { $0.offerType = .code }
          if kind == .refunded { $0.revokedAt = midday }
        }, kind: kind))
  }

  private static func product(_ random: inout SplitMix64) -> String {
    Int.random(in: 0..<4, using: &random) > 0 ? "gems" : "coins"
  }

  private static func quantity(_ random: inout SplitMix64) -> Int {
    Int.random(in: 0..<5, using: &random) > 0 ? 1 : 2
  }

  // MARK: The naive matcher

  func order(_ number: String) -> OrderFacts? { orders.first { $0.number == number } }

  static func token(of order: OrderFacts) -> UUID { orderToken(UInt8(order.number) ?? 0) }

  /// Whether the sale has the token of the order, and both agree. Of a subscription any number of seats does.
  func isExact(_ sale: Sale, _ order: OrderFacts) -> Bool {
    sale.kind.pays && sale.transaction.accountToken == Self.token(of: order)
      && order.productID == sale.transaction.productID
      && (order.quantity == sale.transaction.quantity || sale.kind == .replan)
  }

  /// Whether the order may be proposed for the sale while it is unbound.
  func isPossible(_ sale: Sale, _ order: OrderFacts) -> Bool {
    let (paid, made) = (sale.transaction.purchasedAt.milliseconds, order.createdAt.milliseconds)
    guard sale.kind == .purchase, sale.transaction.accountToken == nil, order.state != .cancelled else {
      return false
    }
    guard order.productID == sale.transaction.productID, order.quantity == sale.transaction.quantity else {
      return false
    }
    if order.state == .expired, order.expiresAt == nil { return false }
    let end = order.expiresAt?.milliseconds ?? (made + inDays(7))
    return made - 60_000 <= paid && paid <= end + 60_000
  }

  /// The possible orders without a transaction, the most likely first.
  func candidates(of sale: Sale, taken: [String: EntryKey]) -> [String] {
    let paid = sale.transaction.purchasedAt
    let possible = orders.filter { isPossible(sale, $0) && taken[$0.number] == nil }
    let before = possible.filter { $0.createdAt <= paid }.sorted {
      ($0.createdAt, $0.number) > ($1.createdAt, $1.number)
    }
    let after = possible.filter { $0.createdAt > paid }.sorted {
      ($0.createdAt, $0.number) < ($1.createdAt, $1.number)
    }
    return (before + after).map(\.number)
  }

  /// Every assignment of sales to orders, one to one, in which each pair is exact or possible.
  func legalAssignments() -> Set<[String: String]> {
    var assignments: Set<[String: String]> = [[:]]
    for sale in sales {
      for assignment in assignments {
        for order in orders where isExact(sale, order) || isPossible(sale, order) {
          guard !assignment.values.contains(order.number) else { continue }
          var longer = assignment
          longer[sale.transaction.transactionID] = order.number
          assignments.insert(longer)
        }
      }
    }
    return assignments
  }

  /// The assignments in which each order that a token names exactly has a transaction with its token.
  func exactAssignments() -> Set<[String: String]> {
    legalAssignments().filter { assignment in
      orders.allSatisfy { order in
        let owners = sales.filter { isExact($0, order) }.map(\.transaction.transactionID)
        return owners.isEmpty || owners.contains { assignment[$0] == order.number }
      }
    }
  }

  /// The other sales with this token that could have its order as well.
  func hasRival(_ sale: Sale) -> Bool {
    orders.contains { order in
      isExact(sale, order) && sales.count { isExact($0, order) } > 1
    }
  }

  /// All permutations of `count` indices.
  static func permutations(_ count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return permutations(count - 1).flatMap { shorter in
      (0...shorter.count).map { position in
        var longer = shorter
        longer.insert(count - 1, at: position)
        return longer
      }
    }
  }
}
