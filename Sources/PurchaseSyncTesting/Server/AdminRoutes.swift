import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// Routes for the person who runs the mock server: they show the state, plan faults and move the clock. They are no
/// part of the wire protocol.
///
/// | route | what |
/// | --- | --- |
/// | `GET /` | the status page |
/// | `GET /openapi.json` | the wire protocol as an OpenAPI 3.1 document |
/// | `GET /admin/state` | the state, as JSON |
/// | `GET /admin/transactions/ID` | one transaction's way from the payment to the finish, as JSON |
/// | `GET /admin/tables` | the newest rows of tables A, B and C, without proofs |
/// | `PUT /admin/faults` | replaces the fault plan (`FaultPlan`) and counts occurrences from 1 again |
/// | `DELETE /admin/faults` | removes all faults |
/// | `POST /admin/clock` | `{"milliseconds": N}` moves the clock of store and backend; N may be negative |
/// | `POST /admin/job` | runs the backend's job with the next step of the clock, due or not |
extension MockState {
  static func statusPage(_ mock: inout MockState, _ call: Route.Call) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": "text/html; charset=utf-8",
        // The page is one file and loads nothing.
        "Content-Security-Policy":
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
          + "connect-src 'self'; base-uri 'none'; form-action 'none'",
      ], body: ServerPages.status)
  }

  static func openAPI(_ mock: inout MockState, _ call: Route.Call) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "application/vnd.oai.openapi+json;version=3.1"],
      body: ServerPages.openAPI)
  }

  static func state(_ mock: inout MockState, _ call: Route.Call) throws -> AdminState {
    let model = try mock.backend.model()
    return AdminState(
      now: call.now, clockShift: mock.clockShift, ledgerEpoch: model.ledgerEpoch,
      orders: model.orders.suffix(AdminState.rows).reversed().map { AdminState.OrderRow($0, at: call.now) },
      orderCount: model.orders.count,
      transactions: mock.store.charges.suffix(AdminState.rows).reversed().map {
        AdminState.TransactionRow($0, model)
      },
      transactionCount: mock.store.charges.count,
      notifications: AdminState.NotificationRow.all(mock.store.notifications),
      environment: mock.store.environment.rawValue, accounts: AdminState.AccountRow.all(mock.store),
      waiting: AdminState.WaitingRow.all(mock.store),
      subscriptions: AdminState.SubscriptionRow.all(mock.store),
      requests: mock.requests, faults: mock.faults)
  }

  static func timeline(_ mock: inout MockState, _ call: Route.Call) throws -> TransactionTimeline {
    mock.store.advance(to: call.now)
    guard let record = mock.store.transaction(call.parameter) else {
      throw StoreModelError.unknownTransaction(call.parameter)
    }
    return TransactionTimeline(record, mock.store, try mock.backend.model())
  }

  static func tables(_ mock: inout MockState, _ call: Route.Call) throws -> TableList {
    TableList(tables: try mock.backend.newestRows(AdminState.rows))
  }

  static func planFaults(_ mock: inout MockState, _ plan: FaultPlan, _ call: Route.Call) -> FaultPlan {
    mock.faults = plan
    return plan
  }

  static func dropFaults(_ mock: inout MockState, _ call: Route.Call) -> FaultPlan {
    mock.faults = .none
    return .none
  }

  /// The job asks the store over HTTP, which takes time: it runs after the answer.
  static func askForJob(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    if !call.request.body.isEmpty { _ = try JSONBody.decode(NoMembers.self, from: call.request) }
    mock.isJobAsked = true
    return try JSONBody.response(EmptyDocument(), status: 202)
  }

  static func moveClock(_ mock: inout MockState, _ step: ClockStep, _ call: Route.Call) throws -> ClockReply {
    // A century at most, so that arithmetic with moments does not overflow.
    let (shift, overflow) = mock.clockShift.addingReportingOverflow(step.milliseconds)
    guard !overflow, abs(Double(shift)) < 3.2e12 else {
      throw HTTPProblem.invalid("milliseconds: more than a century away from the real time")
    }
    let moment = call.now.adding(milliseconds: step.milliseconds)
    guard TestCertificate.years ~= moment.milliseconds else {
      throw HTTPProblem.invalid(
        "milliseconds: the store's certificates are valid from 2016 until the end of 2099, and the clock would leave "
          + "these years")
    }
    mock.clockShift = shift
    return ClockReply(now: moment, clockShift: shift)
  }
}

struct ClockStep: Decodable { var milliseconds: Int64 }

struct TableList: Encodable { var tables: [TableRows] }

struct ClockReply: Encodable {
  var now: Timestamp
  var clockShift: Int64
}

/// The JSON behind the status page. It holds no proofs and no tokens.
struct AdminState: Encodable {
  /// How many rows of each kind it has at most: the newest.
  static let rows = 100

  struct OrderRow: Encodable {
    var number: String
    var account: String
    var productID: String
    var quantity: Int
    var state: String
    var createdAt: Timestamp
    var transactionID: String?

    init(_ order: BackendOrder, at now: Timestamp) {
      number = order.number
      account = order.account
      productID = order.productID
      quantity = order.quantity
      state = order.state(at: now).rawValue
      createdAt = order.createdAt
      transactionID = order.fulfilledBy?.transactionID
    }
  }

  struct TransactionRow: Encodable {
    var transactionID: String
    var storeAccount: String
    var productID: String
    var quantity: Int
    var purchasedAt: Timestamp
    var expiresAt: Timestamp?
    var revokedAt: Timestamp?
    /// In thousandths of a percent; nil for all of it.
    var refundedShare: RefundedShare?
    var isFinished: Bool
    /// The account that has the credit; nil without one.
    var grantedTo: String?

    init(_ record: StoreTransactionRecord, _ model: BackendModel) {
      transactionID = record.transactionID
      storeAccount = record.storeAccount
      productID = record.productID
      quantity = record.quantity
      purchasedAt = record.purchasedAt
      expiresAt = record.expiresAt
      revokedAt = record.revokedAt
      refundedShare = record.refundedShare
      isFinished = record.isFinished
      grantedTo = model.credits(for: TransactionKey(record)).first.map { credit in
        switch model.owner(of: credit) {
        case .account(let account): account
        case .device: "a device"
        }
      }
    }
  }

  struct NotificationRow: Encodable {
    var type: String
    var transactionID: String
    /// The next attempt; nil if there is none.
    var dueAt: Timestamp?
    var attempts: Int
    var state: String

    private init(_ notification: OutgoingNotification, _ state: String, attempts: Int, isOver: Bool) {
      type = notification.kind + (notification.subtype.map { " " + $0 } ?? "")
      transactionID = notification.transactionID
      dueAt = isOver ? nil : notification.dueAt
      self.attempts = attempts
      self.state = state
    }

    /// Waiting notifications, then finished ones, newest first.
    static func all(_ queue: NotificationQueue) -> [NotificationRow] {
      let waiting = queue.waiting.prefix(AdminState.rows).map {
        NotificationRow($0, $0.failures == 0 ? "waiting" : "failed", attempts: $0.failures, isOver: false)
      }
      return waiting
        + queue.fates.reversed().map { fate in
          NotificationRow(
            fate.notification, fate.isDelivered ? "delivered" : "given up",
            attempts: fate.notification.failures + 1, isOver: true)
        }
    }
  }

  var now: Timestamp
  var clockShift: Int64
  var ledgerEpoch: String
  var orders: [OrderRow]
  var orderCount: Int
  var transactions: [TransactionRow]
  var transactionCount: Int
  var notifications: [NotificationRow]
  /// The store's environment.
  var environment: String
  var accounts: [AccountRow]
  var waiting: [WaitingRow]
  var subscriptions: [SubscriptionRow]
  var requests: [String: Int]
  var faults: FaultPlan
}
