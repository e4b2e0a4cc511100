import PurchaseQueue
import PurchaseSQLite

/// The statements of the order journal, each compiled once.
struct OrderStatements {
  let insert: PreparedStatement
  let dropDamaged: PreparedStatement
  let all: PreparedStatement
  let byNumber: PreparedStatement
  let byToken: PreparedStatement
  let byTokenAndProduct: PreparedStatement
  let byTransaction: PreparedStatement
  let answered: PreparedStatement
  let answeredWith: PreparedStatement
  let noticed: PreparedStatement
  let unbound: PreparedStatement
  let reusable: PreparedStatement
  /// The orders of one product and quantity in a span of time.
  let found: [OrderFilter: PreparedStatement]
  let unanswered: PreparedStatement
  let isRequest: PreparedStatement
  let endRequest: PreparedStatement

  /// The state of a request whose answer never came.
  static var requested: String { "requested" }

  private static let columns = OrderRow.columns.joined(separator: ", ")
  private static let select = "SELECT \(columns) FROM orders WHERE "
  /// Only the order of that number is written over. Another one that stands in the way is an error.
  private static let write =
    "INSERT INTO orders(\(columns)) VALUES(\(OrderRow.columns.map { _ in "?" }.joined(separator: ","))) "
    + "ON CONFLICT(number) DO UPDATE SET "
    + OrderRow.columns.dropFirst().map { "\($0)=excluded.\($0)" }.joined(separator: ", ")

  init(_ file: QueueFile) {
    func statement(_ condition: String) -> PreparedStatement {
      PreparedStatement(file.connection, Self.select + condition)
    }
    insert = PreparedStatement(file.connection, Self.write)
    dropDamaged = PreparedStatement(
      file.connection, "DELETE FROM orders WHERE bound_to=? AND number<>?")
    all = statement("true ORDER BY created_at, number")
    byNumber = statement("number=?")
    let sequence = " ORDER BY bound_to IS NOT NULL, created_at DESC, number DESC LIMIT ?"
    byToken = statement("account_token=?" + sequence)
    byTokenAndProduct = statement(
      "account_token=? AND product=? AND quantity=coalesce(?, quantity)" + sequence)
    byTransaction = statement("bound_to=?")
    // With `+`, SQLite reads the few of the index and sorts them. Without, it reads all orders in their sequence.
    answered = statement("existing_key IS NOT NULL ORDER BY +number")
    answeredWith = statement("existing_key=?")
    noticed = statement("notice IS NOT NULL ORDER BY number LIMIT ?")
    // The index of `bound_to` has the orders without a transaction side by side. With `+`, SQLite takes it, and does not
    // read what was paid, of years perhaps.
    unbound = statement("bound_to IS NULL ORDER BY created_at, number")
    reusable = statement(
      """
      bound_to IS NULL AND +product=? AND quantity=? AND created_at>=? AND account=? AND state='open'
      AND origin='begun' AND begun_at<=? AND ifnull(expires_at, ?)>=?
      AND NOT EXISTS (SELECT 1 FROM reservations WHERE name=number AND until>?)
      ORDER BY created_at DESC, number DESC
      """)
    unanswered = statement(
      "bound_to IS NULL AND +product=? AND quantity=? AND account=? AND state='\(Self.requested)' "
        + "ORDER BY +number")
    found = Dictionary(uniqueKeysWithValues: OrderFilter.all.map { ($0, statement($0.sql)) })
    isRequest = PreparedStatement(
      file.connection, "SELECT 1 FROM orders WHERE number=? AND state='\(Self.requested)'")
    endRequest = PreparedStatement(
      file.connection, "DELETE FROM orders WHERE number=? AND state='\(Self.requested)'")
  }
}
