import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// What somebody does who runs the mock: look, plan faults, move the clock. No part of the wire protocol.
///
/// | route | what |
/// | --- | --- |
/// | `GET /` | the status page |
/// | `GET /openapi.json` | the wire protocol as an OpenAPI 3.1 document |
/// | `GET /admin/state` | everything, as JSON |
/// | `PUT /admin/faults` | plans faults (`FaultPlanDocument`); occurrences are counted anew |
/// | `DELETE /admin/faults` | nothing goes wrong any more |
/// | `POST /admin/clock` | `{"milliseconds": N}` moves the clock of store and backend on, or back |
extension WorldState {
  static func statusPage(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": "text/html; charset=utf-8",
        // The page is one file, and nothing in it comes from elsewhere.
        "Content-Security-Policy":
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
          + "connect-src 'self'; base-uri 'none'; form-action 'none'",
      ], body: PackageResources.status_html)
  }

  /// The contract, as it stands in this repository.
  static func openAPI(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "application/vnd.oai.openapi+json;version=3.1"],
      body: PackageResources.openapi_json)
  }

  static func state(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let model = try world.model()
    return try JSONBody.response(
      AdminState(
        now: call.now, clockShift: world.clockShift, ledgerEpoch: model.ledgerEpoch,
        orders: model.orders.suffix(AdminState.rows).reversed().map { AdminState.OrderRow($0, at: call.now) },
        orderCount: model.orders.count,
        transactions: world.store.charges.suffix(AdminState.rows).reversed().map {
          AdminState.TransactionRow($0, model)
        },
        transactionCount: world.store.charges.count,
        notifications: AdminState.NotificationRow.all(world.store.notifications),
        requests: world.requests, faults: world.faultDocument))
  }

  static func planFaults(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let document = try JSONBody.decode(FaultPlanDocument.self, from: call.request)
    world.faults = FaultPlan(document)
    world.faultDocument = document
    return try JSONBody.response(document)
  }

  static func dropFaults(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    world.faults = .none
    world.faultDocument = FaultPlanDocument(rules: [])
    return try JSONBody.response(world.faultDocument)
  }

  static func moveClock(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let step = try JSONBody.decode(ClockStep.self, from: call.request)
    // A century at most: what is computed from moments must not overflow.
    let (shift, overflow) = world.clockShift.addingReportingOverflow(step.milliseconds)
    guard !overflow, abs(Double(shift)) < 3.2e12 else {
      throw .invalid("milliseconds: more than a century away from the real time")
    }
    world.clockShift = shift
    let now = call.now.adding(milliseconds: step.milliseconds)
    return try JSONBody.response(ClockReply(now: now, clockShift: shift))
  }
}

struct ClockStep: Decodable { var milliseconds: Int64 }

struct ClockReply: Encodable {
  var now: Timestamp
  var clockShift: Int64
}

/// What the status page shows. Neither proofs nor tokens are in it.
struct AdminState: Encodable {
  /// The newest so many of each kind.
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
    var isFinished: Bool
    /// To whom the backend granted it, if it did.
    var grantedTo: String?

    init(_ record: StoreTransactionRecord, _ model: BackendModel) {
      transactionID = record.transactionID
      storeAccount = record.storeAccount
      productID = record.productID
      quantity = record.quantity
      purchasedAt = record.purchasedAt
      expiresAt = record.expiresAt
      revokedAt = record.revokedAt
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
    /// Nil when it needs no further attempt.
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

    /// What waits, then what is over, the newest first.
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
  var requests: [String: Int]
  var faults: FaultPlanDocument
}
