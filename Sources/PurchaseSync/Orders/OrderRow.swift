import Foundation
import PurchaseQueue
import PurchaseSQLite

/// What this device knows of an order: one row of the table `orders`. `OrderRow+States` has its transitions.
struct OrderRow: Hashable {
  /// Who gave the order its number.
  enum Maker: String {
    case backend, device
  }

  /// How this installation came to know the order.
  enum Origin: String {
    /// It gave the order to the app.
    case begun
    /// An earlier installation did, and the vault brought it back.
    case restored
    /// The backend listed it: another device or an earlier installation gave it to the app.
    case listed
    /// The file is a copy, and the order is of the device that it was copied from.
    case copied
  }

  /// The earlier transaction with which the store answered the payment. Its outcome is the order's, too.
  struct Existing: Hashable {
    var key: EntryKey
    /// What the backend said to the order's account about the transaction; nil if it was not asked for this order.
    var answer: Answer?
  }

  /// As the outcome of a tombstone of the device lane.
  struct Answer: Hashable {
    var outcome: String
    var settledAt: Timestamp
  }

  /// With the app's note.
  var order: PurchaseOrder
  var maker: Maker
  var origin: Origin
  /// When the app got the order last, by the device's clock; nil if this installation never gave it to the app.
  var begunAt: Timestamp?
  /// The transaction to which the order belongs, for good.
  var boundTo: EntryKey?
  /// The state that the backend has not acknowledged yet.
  var notice: OrderState?
  /// Nil if the store did not answer with an earlier transaction, and once the app has confirmed the outcome.
  var existing: Existing?

  /// An order that is new to this device. The backend knows its own orders; one that the device made is to be
  /// registered.
  init(_ order: PurchaseOrder, by maker: Maker, _ origin: Origin) {
    (self.order, self.maker, self.origin) = (order, maker, origin)
    notice = maker == .device ? order.state : nil
  }

  /// A new order that the app gets now.
  init(begun order: PurchaseOrder, by maker: Maker, at now: Timestamp) {
    self.init(order, by: maker, .begun)
    begunAt = now
  }

  /// Whether this installation or an earlier one of the same device gave the order to the app.
  var isOwn: Bool { origin == .begun || origin == .restored }
}

// MARK: Columns

extension OrderRow {
  /// In the sequence of `values`. The last one is a checksum of the others.
  static let columns = [
    "number", "account_token", "account", "product", "quantity", "state", "created_at", "expires_at",
    "note", "maker", "origin", "begun_at", "bound_to", "notice", "existing_key", "existing_outcome",
    "existing_settled_at", "checksum",
  ]

  func values() throws(QueueError) -> [SQLValue] {
    Self.withChecksum([
      .text(order.number), .text(order.accountToken.uuidString), .text(order.account), .text(order.productID),
      .integer(Int64(order.quantity)), .text(order.state.rawValue), .integer(order.createdAt.milliseconds),
      .integer(order.expiresAt?.milliseconds), .text(try order.note.text()), .text(maker.rawValue),
      .text(origin.rawValue), .integer(begunAt?.milliseconds), .text(boundTo?.rawValue),
      .text(notice?.rawValue), .text(existing?.key.rawValue),
      .text(existing?.answer?.outcome), .integer(existing?.answer?.settledAt.milliseconds),
    ])
  }

  /// Nil if the row does not match its checksum: it counts as absent, because the backend knows the order. Nil also for
  /// a request whose answer never came: it has no token yet.
  init?(_ row: borrowing Row) {
    guard Self.isWhole(row), let token = UUID(uuidString: row.text(1)),
      let maker = Maker(rawValue: row.text(9)),
      let origin = Origin(rawValue: row.text(10))
    else { return nil }
    order = PurchaseOrder(
      number: row.text(0), accountToken: token, account: row.text(2), productID: row.text(3),
      quantity: Int(row.integer(4)), state: OrderState(rawValue: row.text(5)),
      createdAt: Timestamp(milliseconds: row.integer(6)),
      expiresAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)),
      note: OrderNote(row.optionalText(8)))
    (self.maker, self.origin) = (maker, origin)
    begunAt = row.optionalInteger(11).map(Timestamp.init(milliseconds:))
    boundTo = row.optionalText(12).map(EntryKey.init(rawValue:))
    notice = row.optionalText(13).map(OrderState.init(rawValue:))
    existing = row.optionalText(14).map { Existing(key: EntryKey(rawValue: $0)) }
    guard let outcome = row.optionalText(15), let moment = row.optionalInteger(16) else { return }
    existing?.answer = Answer(outcome: outcome, settledAt: Timestamp(milliseconds: moment))
  }

  static func isWhole(_ row: borrowing Row) -> Bool {
    var fields: [SQLValue] = []
    for column in columns.indices.dropLast() { fields.append(row.value(Int32(column))) }
    return checksum(fields) == row.integer(Int32(columns.count - 1))
  }

  /// A row's values, with their checksum appended.
  static func withChecksum(_ fields: [SQLValue]) -> [SQLValue] { fields + [.integer(checksum(fields))] }

  private static func checksum(_ fields: [SQLValue]) -> Int64 {
    var hash = RowHash()
    for field in fields {
      switch field {
      case .text(let text): hash.add(text)
      case .integer(let integer): hash.add(integer)
      default: hash.add(nil as Int64?)
      }
    }
    return hash.value
  }
}
