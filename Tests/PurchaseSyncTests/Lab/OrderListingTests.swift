import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// The pages of open orders, and which of their orders are the account's, without an engine or a file.
@Suite struct OrderListingTests {
  private static let token = UUID()

  private static func document(_ number: String = "7", quantity: Int = 1) -> OrderDocument {
    OrderDocument(
      number: number, accountToken: token, productID: "gems", quantity: quantity, state: .open,
      createdAt: Timestamp(milliseconds: 0))
  }

  // MARK: Pages

  /// The cursor in each answer, and those of the pages that are asked for.
  @Test(
    arguments: [
      ([nil], [nil]), (["a", nil], [nil, "a"]), (["a", "b", nil], [nil, "a", "b"]),
      (["a", "a", "b"], [nil, "a"]), (["a", "b", "a", "c"], [nil, "a", "b"]),
    ] as [([String?], [String?])])
  func `each page is asked for once, up to the last one or one that comes again`(
    answers: [String?], asked: [String?]
  ) {
    var listing = OrderListing()
    var cursors: [String?] = []
    for (place, next) in answers.enumerated() where !listing.isComplete {
      cursors.append(listing.cursor)
      listing.took(OrderListDocument(orders: [Self.document("\(place)")], next: next))
    }
    #expect(listing.isComplete)
    #expect(cursors == asked)
    #expect(listing.orders.map(\.number) == asked.indices.map(String.init), "no page is lost")
  }

  @Test func `a list without an end is asked for a hundred times`() {
    var listing = OrderListing()
    var count = 0
    while !listing.isComplete {
      count += 1
      listing.took(OrderListDocument(orders: [], next: "\(count)"))
    }
    #expect(count == 100)
  }

  // MARK: Whose an order is

  private static func known(
    account: String = "alice", quantity: Int = 1, boundTo: EntryKey? = nil, tokenAccount: String? = "alice"
  ) -> KnownOrder {
    var row = OrderRow(PurchaseOrder(document(quantity: quantity), account: account), by: .backend, .listed)
    row.boundTo = boundTo
    return KnownOrder(isRequest: false, row: row, tokenAccount: tokenAccount)
  }

  private static let unknown = KnownOrder(isRequest: false, row: nil, tokenAccount: nil)
  private static let bound = known(boundTo: EntryKey(rawValue: "Sandbox/1"))
  private static let twice = "it gave order 7 twice, with other contents or after its payment"
  private static let tokenTwice = "it gave the account token of order 7 to two accounts"

  /// What is known, whether the order answers a request, and the objection.
  private static let table: [(KnownOrder, Bool, String?)] = [
    (unknown, false, nil), (unknown, true, nil), (known(), false, nil), (known(), true, nil),
    (KnownOrder(isRequest: true, row: nil, tokenAccount: nil), false, "it gave an order the number 7"),
    (known(account: "bob"), false, "it gave order 7 to two accounts"),
    (known(account: "bob"), true, "it gave order 7 to two accounts"),
    (known(quantity: 2), false, nil), (known(quantity: 2), true, twice),
    (bound, false, nil), (bound, true, twice),
    (KnownOrder(isRequest: false, row: nil, tokenAccount: "bob"), true, tokenTwice),
    (known(tokenAccount: "bob"), false, tokenTwice),
  ]

  @Test(arguments: table)
  private func `an order that another account has, or that is paid, is not this account's`(
    known: KnownOrder, isAnswer: Bool, objection: String?
  ) {
    #expect(known.objection(to: Self.document(), of: "alice", isAnswer: isAnswer) == objection)
  }

  @Test(arguments: ["", String(repeating: "7", count: VerdictBinding.longestNumber + 1)])
  func `an order whose number is empty or too long is refused`(number: String) {
    let objection = Self.unknown.objection(to: Self.document(number), of: "alice", isAnswer: false)
    #expect(objection == "it gave an order a number of \(number.utf8.count) bytes")
  }
}
