import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Each event in each state of an order, by the row alone.
@Suite struct OrderRowTests {
  /// What can happen to an order.
  enum Event: String, CaseIterable {
    case beginsAgain, cancels, defers, isListedOpen, isListedExpired, isListedPaid, isAcknowledged, isAnswered
    case closes, isPaid, isGranted, isRefunded

    func happen(to row: inout OrderRow) {
      let known = row.order
      switch self {
      case .beginsAgain: row.beginAgain(known.with(.open), at: midday)
      case .cancels: _ = row.set(.cancelled)
      case .defers: _ = row.set(.deferred)
      case .isListedOpen: row.update(known.with(.open))
      case .isListedExpired: row.update(known.with(.expired))
      case .isListedPaid: row.update(known.with(.paid))
      case .isAcknowledged: row.acknowledge(row.notice ?? row.order.state, nil)
      case .isAnswered: row.answer(with: key("earlier"))
      case .closes: _ = row.close()
      case .isPaid: row.bind(key("own"))
      case .isGranted: row.settle(key("own"), .granted)
      case .isRefunded: row.settle(key("own"), .refunded)
      }
    }
  }

  /// The states in which an order can be. A small letter: the backend has yet to acknowledge it.
  static let states: [String: (OrderState, notice: OrderState?, boundTo: EntryKey?)] = [
    "open": (.open, nil, nil), "made": (.open, .open, nil), "deferring": (.deferred, .deferred, nil),
    "deferred": (.deferred, nil, nil), "cancelling": (.cancelled, .cancelled, nil),
    "cancelled": (.cancelled, nil, nil), "expired": (.expired, nil, nil),
    "closing": (.alreadyOwned, .cancelled, nil), "closed": (.alreadyOwned, nil, nil),
    "paid elsewhere": (.paid, nil, nil), "paid": (.paid, nil, key("own")),
    "delivered": (.delivered, nil, key("own")), "refunded": (.refunded, nil, key("own")),
  ]

  /// Only what changes. Everything else leaves the state as it is.
  static let table: [String: [Event: String]] = [
    "open": [
      .cancels: "cancelling", .defers: "deferring", .isListedExpired: "expired",
      .isListedPaid: "paid elsewhere",
      .closes: "closing", .isPaid: "paid", .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "made": [
      .beginsAgain: "open", .cancels: "cancelling", .defers: "deferring", .isAcknowledged: "open",
      .closes: "closing", .isPaid: "paid, made", .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "deferring": [
      .beginsAgain: "open", .cancels: "cancelling", .isAcknowledged: "deferred", .closes: "closing",
      .isPaid: "paid, deferring", .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "deferred": [
      .beginsAgain: "open", .cancels: "cancelling", .isListedExpired: "expired",
      .isListedPaid: "paid elsewhere",
      .closes: "closing", .isPaid: "paid", .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "cancelling": [
      .beginsAgain: "open", .defers: "deferring", .isAcknowledged: "cancelled", .closes: "closing",
      .isPaid: "paid, cancelling", .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "cancelled": [
      .beginsAgain: "open", .defers: "deferring", .isListedExpired: "expired",
      .isListedPaid: "paid elsewhere",
      .closes: "closing", .isPaid: "paid", .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "expired": [
      .beginsAgain: "open", .cancels: "cancelling", .defers: "deferring", .isListedOpen: "open",
      .isListedPaid: "paid elsewhere", .closes: "closing", .isPaid: "paid", .isGranted: "delivered",
      .isRefunded: "refunded",
    ],
    "closing": [
      .isAcknowledged: "closed", .isPaid: "paid, cancelling", .isGranted: "delivered",
      .isRefunded: "refunded",
    ],
    "closed": [.isPaid: "paid", .isGranted: "delivered", .isRefunded: "refunded"],
    "paid elsewhere": [
      .beginsAgain: "open", .cancels: "cancelling", .defers: "deferring", .closes: "closing", .isPaid: "paid",
      .isGranted: "delivered", .isRefunded: "refunded",
    ],
    "paid": [.isGranted: "delivered", .isRefunded: "refunded"],
    "delivered": [.isRefunded: "refunded"],
    "refunded": [.isGranted: "delivered"],
  ]

  private static func name(_ row: OrderRow) -> String {
    let found = states.first {
      $0.value.0 == row.order.state && $0.value.notice == row.notice && $0.value.boundTo == row.boundTo
    }
    if let found { return found.key }
    let pending: [OrderState: String] = [.open: "made", .deferred: "deferring", .cancelled: "cancelling"]
    return row.order.state.rawValue + ", " + (row.notice.flatMap { pending[$0] } ?? "?")
  }

  private static func row(_ name: String) throws -> OrderRow {
    let (state, notice, boundTo) = try #require(states[name])
    var row = OrderRow(
      begun: PurchaseOrder(
        number: "7", accountToken: orderToken(7), account: "alice", productID: "gems", quantity: 1,
        state: state,
        createdAt: midday),
      by: .backend, at: midday)
    (row.notice, row.boundTo) = (notice, boundTo)
    return row
  }

  @Test(arguments: states.keys.sorted(), Event.allCases)
  func `an event leads from a state to the state of the table`(state: String, event: Event) throws {
    var row = try Self.row(state)
    event.happen(to: &row)
    #expect(Self.name(row) == Self.table[state]?[event] ?? state)
  }

  @Test func `a binding is for good, and outlives every event`() throws {
    for event in Event.allCases {
      var row = try Self.row("paid")
      event.happen(to: &row)
      row.bind(key("another"))
      #expect(row.boundTo == key("own"), "\(event)")
    }
  }

  @Test func `what the backend lists changes neither account, token, product nor context`() throws {
    var row = try Self.row("open")
    row.order.note = OrderNote(context: "chapter 2")
    var other = row.order
    (other.account, other.accountToken, other.productID, other.quantity) = ("bob", orderToken(8), "coins", 9)
    (other.note, other.expiresAt) = (OrderNote(), midday)
    let before = row.order
    row.update(other)
    #expect(row.order.expiresAt == midday)
    row.order.expiresAt = before.expiresAt
    #expect(row.order == before)
  }

  @Test func `the time of an order that the device made becomes the backend's`() throws {
    let later = midday.adding(milliseconds: 60_000)
    for maker in [OrderRow.Maker.device, .backend] {
      var row = try Self.row("open")
      row.maker = maker
      var listed = row.order
      listed.createdAt = later
      row.update(listed)
      #expect(row.order.createdAt == (maker == .device ? later : midday))
    }
  }

  @Test func `a second answer of the store with the same transaction keeps what the backend said`() throws {
    var row = try Self.row("open")
    row.answer(with: key("earlier"))
    row.existing?.answer = OrderRow.Answer(outcome: "granted", settledAt: midday)
    row.answer(with: key("earlier"))
    #expect(row.existing?.answer != nil)
    row.answer(with: key("later"))
    #expect(row.existing == OrderRow.Existing(key: key("later"), answer: nil))
  }
}

extension PurchaseOrder {
  fileprivate func with(_ state: OrderState) -> PurchaseOrder {
    var order = self
    order.state = state
    return order
  }
}
