import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What the store's answer to a payment is, without a file: a payment that is taken for an earlier purchase is never
/// fulfilled as this order, and an earlier purchase that is taken for the payment is fulfilled twice.
@Suite struct SheetAnswerTests {
  /// An order of midday with token 1, and the transaction with which the store answers its sheet.
  private static func answer(
    token: UUID? = orderToken(1), at offset: Int64 = 30_000, maker: OrderRow.Maker = .backend,
    _ change: (inout SheetAnswer) -> Void = { _ in }
  ) -> SheetAnswer {
    let order = PurchaseOrder(
      number: "1", accountToken: orderToken(1), account: "alice", productID: "gems", quantity: 1,
      state: .open,
      createdAt: midday)
    var answer = SheetAnswer(transaction: payment(token: token, at: offset), order: order)
    answer.known = OrderRow(begun: order, by: maker, at: midday)
    change(&answer)
    return answer
  }

  private static let other = orderToken(2)
  private static let before = -inMinutes(2)

  private static let table: [(String, SheetAnswer, SheetAnswer.Kind)] = [
    ("its token", answer(), .payment),
    ("its token, before it, within the clocks' tolerance", answer(at: -30_000), .payment),
    ("its token, a year before it", answer(at: -inDays(365)), .earlier),
    (
      "its token, taken before the sheet and settled",
      answer { ($0.isTakenBefore, $0.isSettled) = (true, true) }, .earlier
    ),
    ("its token, taken before the sheet", answer { $0.isTakenBefore = true }, .payment),
    (
      "the account's token, of another order", answer { ($0.isTakenBefore, $0.boundTo) = (true, "2") },
      .earlier
    ),
    ("the account's token, after it", answer { $0.isTokenShared = true }, .payment),
    ("the account's token, before it", answer(at: before) { $0.isTokenShared = true }, .earlier),
    ("its token, and bound to it", answer(at: before) { $0.boundTo = "1" }, .payment),
    ("bound to it in the journal", answer(at: before) { $0.known?.bind($0.transaction.key) }, .payment),
    ("another token, after it", answer(token: other), .payment),
    ("another token, before it", answer(token: other, at: -1), .earlier),
    ("another token, bound to another order", answer(token: other) { $0.boundTo = "2" }, .earlier),
    ("no token, after it", answer(token: nil), .payment),
    ("no token, before it", answer(token: nil, at: before), .earlier),
    ("no token, by the device's clock", answer(token: nil, at: before, maker: .device), .payment),
    (
      "no token, taken before the sheet and settled",
      answer(token: nil) { ($0.isTakenBefore, $0.isSettled) = (true, true) }, .earlier
    ),
    ("refunded", answer { $0.transaction.revokedAt = midday }, .over),
    ("replaced by another plan", answer { $0.transaction.isUpgraded = true }, .over),
    ("a period that was over", answer(at: before) { $0.transaction.expiresAt = midday }, .over),
    (
      "refunded, and bound to another order",
      answer { ($0.transaction.revokedAt, $0.boundTo) = (midday, "2") }, .over
    ),
    ("an order that the journal lacks", answer(token: nil, at: before) { $0.known = nil }, .payment),
    ("one that it lacks, refunded", answer { ($0.known, $0.transaction.revokedAt) = (nil, midday) }, .over),
  ]

  @Test(arguments: table)
  private func `the store's answer is the payment, an earlier purchase, or one that is over`(
    name: String, answer: SheetAnswer, kind: SheetAnswer.Kind
  ) {
    #expect(answer.kind == kind, "\(name)")
  }
}
