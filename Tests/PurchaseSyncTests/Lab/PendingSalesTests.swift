import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Sales and their callers, without a shop: a caller who waits for ever, gets another one's answer, or holds up a sale.
@Suite struct PendingSalesTests {
  private let start = ContinuousClock.now
  private let wish = OrderWish(account: "alice", product: "gems", quantity: 1)
  private let first = Self.order("1")

  private static func order(_ number: String) -> PurchaseOrder {
    PurchaseOrder(
      number: number, accountToken: UUID(), account: "alice", productID: "gems", quantity: 1, state: .open,
      createdAt: Timestamp(milliseconds: 0))
  }

  private static func transaction(_ id: String) -> StoreTransaction {
    StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: "gems", quantity: 1,
      purchasedAt: Timestamp(milliseconds: 1), accountToken: nil,
      proof: Payload(kind: ProofKind.signedTransaction.rawValue, bytes: []))
  }

  private static func outcome(_ id: String, order: String?) -> Outcome {
    var outcome = Outcome(
      of: transaction(id), .granted, account: "alice", settledAt: Date(timeIntervalSince1970: 1))
    outcome.orderNumber = order
    return outcome
  }

  private static func text(_ steps: [PendingSales<String>.Step]) -> [String] {
    steps.map { step in
      switch step {
      case .answer(let caller, .success(let sale)): "\(caller): \(word(sale))"
      case .answer(let caller, .failure): "\(caller): error"
      case .dismiss(let caller): "\(caller): nothing"
      case .forget: "forget"
      }
    }
  }

  private static func word(_ sale: Sale) -> String {
    switch sale {
    case .delivered: "delivered"
    case .pending(let wait): "\(wait)"
    case .cancelled: "cancelled"
    default: "other"
    }
  }

  private enum Event {
    case joins(String), joinsInside(String), leaves(String), goesAway(String)
    case ordered, sheetIsLate, sheetEnded, paid, waitIsOver
    case answered, settled(Sale), refused
    case fulfilled(order: String?), quarantined, signedOut(String), closed
  }

  private static let table: [([Event], [String])] = [
    (
      [.joins("a"), .ordered, .sheetEnded, .paid, .fulfilled(order: "1"), .leaves("a")],
      ["a: delivered", "forget"]
    ),
    (
      [.joins("a"), .joins("b"), .ordered, .sheetEnded, .settled(.cancelled)],
      ["a: cancelled", "b: cancelled"]
    ),
    ([.joins("a"), .refused], ["a: cancelled", "forget", "a: nothing"]),
    // From within `fulfil`.
    ([.joinsInside("a"), .joins("b"), .ordered, .sheetEnded, .paid], ["a: delivery"]),
    ([.joins("a"), .ordered, .sheetEnded, .paid, .waitIsOver], ["a: delivery"]),
    // A sheet that never answers: the caller has his answer, and the sale stays.
    ([.joins("a"), .ordered, .sheetIsLate, .leaves("a")], ["a: payment"]),
    ([.joins("a"), .ordered, .sheetIsLate, .leaves("a"), .sheetEnded, .paid], ["a: payment", "forget"]),
    // Another order's outcome, and one of the same transaction.
    ([.joins("a"), .ordered, .sheetEnded, .paid, .fulfilled(order: "2")], []),
    ([.joins("a"), .ordered, .sheetEnded, .answered, .paid, .fulfilled(order: nil)], ["a: delivered"]),
    // Obstacles are about the transaction with which the store has answered.
    ([.joins("a"), .ordered, .sheetEnded, .paid, .quarantined, .signedOut("alice")], []),
    ([.joins("a"), .ordered, .sheetEnded, .answered, .paid, .quarantined], ["a: support"]),
    ([.joins("a"), .ordered, .sheetEnded, .answered, .paid, .signedOut("bob")], []),
    ([.joins("a"), .ordered, .sheetEnded, .answered, .paid, .signedOut("alice")], ["a: signIn"]),
    // A shop that is closed: what has no order ends by itself.
    ([.joins("a"), .closed], []),
    ([.joins("a"), .ordered, .closed], ["a: nothing"]),
    ([.joins("a"), .ordered, .sheetEnded, .goesAway("a")], ["forget", "away: payment, looks"]),
    ([.joins("a"), .ordered, .sheetEnded, .paid, .goesAway("a")], ["forget", "away: delivery"]),
    ([.joins("a"), .ordered, .goesAway("a")], ["away: payment, looks"]),
    ([.joins("a"), .goesAway("a")], ["away: withdraws"]),
    ([.joins("a"), .joins("b"), .goesAway("a")], ["away: payment"]),
  ]

  @Test(arguments: table)
  private func `the events of a sale lead to these answers`(events: [Event], answers: [String]) {
    var (sales, callers, found) = (PendingSales<String>(), [String: Int](), [String]())
    let name = sales.begin(wish, .order, at: start)
    for event in events {
      var steps: [PendingSales<String>.Step] = []
      switch event {
      case .joins(let caller): callers[caller] = sales.join(name, caller, isInside: false)
      case .joinsInside(let caller): callers[caller] = sales.join(name, caller, isInside: true)
      case .leaves(let caller): steps = sales.leave(name, callers[caller] ?? 0)
      case .goesAway(let caller):
        let (departure, rest) = sales.goneAway(name, callers[caller] ?? 0)
        found += Self.text(rest)
        switch departure {
        case .withdraws: found.append("away: withdraws")
        case .leaves(let sale, let isOpen): found.append("away: \(Self.word(sale))\(isOpen ? ", looks" : "")")
        }
      case .ordered: sales.ordered(name, first)
      case .sheetIsLate: steps = sales.sheetIsLate(name, since: Timestamp(milliseconds: 0))
      case .sheetEnded: sales.sheetEnded(name)
      case .paid: steps = sales.paid(name).steps
      case .waitIsOver: steps = sales.waitIsOver(name)
      case .answered: _ = sales.answered(name, with: Self.transaction("7"))
      case .settled(let sale): steps = sales.settled(name, .success(sale))
      case .refused: steps = sales.refused(name, .cancelled)
      case .fulfilled(let order): steps = sales.fulfilled(Self.outcome("7", order: order))
      case .quarantined: steps = sales.published(.quarantined(Self.transaction("7").key, reason: "a test"))
      case .signedOut(let account): steps = sales.published(.signInNeeded(.account(account)))
      case .closed: steps = sales.closed()
      }
      found += Self.text(steps)
    }
    #expect(found == answers)
  }

  @Test func `a second tap joins the sheet that is open, and no later one`() {
    var sales = PendingSales<String>()
    let name = sales.begin(wish, .order, at: start)
    #expect(sales.open(for: wish, .order, at: start) == name)
    #expect(sales.open(for: wish, .guest, at: start) == nil)
    let limit = PendingSales<String>.sheetLimit
    #expect(sales.open(for: wish, .order, at: start + limit - .seconds(1)) == name)
    #expect(sales.open(for: wish, .order, at: start + limit) == nil)
    sales.ordered(name, first)
    #expect(sales.open(for: wish, .order, at: start) == name)
    sales.sheetEnded(name)
    #expect(sales.open(for: wish, .order, at: start) == nil)
  }

  @Test func `an order that another sale has is taken until that sale has ended`() {
    var sales = PendingSales<String>()
    let name = sales.begin(wish, .order, at: start)
    #expect(!sales.isTaken(first))
    sales.ordered(name, first)
    #expect(sales.isTaken(first))
    #expect(!sales.isTaken(Self.order("2")))
    sales.sheetEnded(name)
    _ = sales.settled(name, .success(.cancelled))
    #expect(!sales.isTaken(first))
  }

  @Test func `an outcome that came before the sheet's end is the answer`() {
    var sales = PendingSales<String>()
    let name = sales.begin(wish, .order, at: start)
    _ = sales.join(name, "a", isInside: false)
    sales.ordered(name, first)
    #expect(sales.known(name) == nil)
    _ = sales.fulfilled(Self.outcome("7", order: "1"))
    sales.sheetEnded(name)
    #expect(sales.known(name).map(Self.word) == "delivered")
  }

  @Test func `a sheet that is late is listed until it ends`() {
    var sales = PendingSales<String>()
    let name = sales.begin(wish, .order, at: start)
    sales.ordered(name, first)
    _ = sales.sheetIsLate(name, since: Timestamp(milliseconds: 5_000))
    #expect(sales.lateSheets == [LateCall(.sheet, about: "1", since: Date(timeIntervalSince1970: 5))])
    sales.sheetEnded(name)
    #expect(sales.lateSheets.isEmpty)
  }
}
