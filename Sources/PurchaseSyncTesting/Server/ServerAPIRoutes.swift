import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue

/// A request to the App Store Server API whose token is valid.
struct ServerAPICall {
  /// The segment at the place of `*`; several with a `/` between them.
  var parameter: String
  var query: ServerAPIQuery
  /// The body; throws 4000000 unless it is a JSON object.
  var body: () throws(ServerAPIError) -> JSONValue
  /// The mock store's time.
  var now: Timestamp
}

extension Route {
  typealias ServerAPIHandler =
    @Sendable (inout MockState, ServerAPICall) throws(ServerAPIError) -> JSONValue?

  /// A route of the App Store Server API: checks the token and the rate limit first, and answers with the JSON, or
  /// without a body.
  init(api method: String, _ path: String, status: Int = 200, _ handler: @escaping ServerAPIHandler) {
    self.init(method, path) { (mock: inout MockState, call: Call) -> HTTPResponse in
      if let refusal = mock.refusal(of: call.request) { return refusal }
      do throws(ServerAPIError) {
        // Tokens and limits are compared with the clock of the backend, which no test moves.
        try mock.limiter.admit("\(method) \(path)", now: .wallClock())
        let bytes = call.request.body
        let apiCall = ServerAPICall(
          parameter: call.parameter, query: ServerAPIQuery(target: call.request.target),
          body: { () throws(ServerAPIError) in try ServerAPIBody.object(bytes) }, now: call.now)
        mock.store.advance(to: call.now)
        guard let reply = try handler(&mock, apiCall) else { return HTTPResponse(status: status) }
        return HTTPResponse(
          status: status, headers: ["Content-Type": "application/json"], body: Array(reply.text.utf8))
      } catch {
        return error.response
      }
    }
  }
}

/// The routes of the App Store Server API, as Apple's libraries call them: paths, queries, bodies and errors.
extension MockState {
  static let serverAPIRoutes =
    [
      Route(api: "GET", "/inApps/v1/transactions/*", transactionInfo),
      Route(api: "GET", "/inApps/v1/history/*") { mock, call throws(ServerAPIError) in
        try history(&mock, call, version: 1)
      },
      Route(api: "GET", "/inApps/v2/history/*") { mock, call throws(ServerAPIError) in
        try history(&mock, call, version: 2)
      },
      Route(api: "GET", "/inApps/v1/subscriptions/*", subscriptionStatuses),
      Route(api: "GET", "/inApps/v1/lookup/*", lookUpOrder),
      Route(api: "GET", "/inApps/v2/refund/lookup/*", refundHistory),
      Route(api: "GET", "/inApps/v1/transactions/appTransactions/*", appTransactionInfo),
      Route(api: "POST", "/inApps/v1/notifications/test", requestTestNotification),
      Route(api: "GET", "/inApps/v1/notifications/test/*", testNotificationStatus),
      Route(api: "POST", "/inApps/v1/notifications/history", notificationHistory),
      Route(api: "PUT", "/inApps/v1/transactions/*/appAccountToken", setAppAccountToken),
      Route(api: "POST", "/inApps/v1/transactions/*/finish", finishTransaction),
      Route(api: "PUT", "/inApps/v1/subscriptions/extend/*", extendRenewal),
      Route(api: "POST", "/inApps/v1/subscriptions/extend/mass", extendRenewals),
      Route(api: "GET", "/inApps/v1/subscriptions/extend/mass/*/*", extensionStatus),
      Route(api: "PUT", "/inApps/v1/transactions/consumption/*", status: 202) {
        mock, call throws(ServerAPIError) in
        try takeConsumption(&mock, call, version: 1)
      },
      Route(api: "PUT", "/inApps/v2/transactions/consumption/*", status: 202) {
        mock, call throws(ServerAPIError) in
        try takeConsumption(&mock, call, version: 2)
      },
    ] + seatRoutes

  /// The answer to a request without a valid token; nil for a valid one.
  ///
  /// The store's body says no more than this. The header has the reason, for the engineer of the backend.
  fileprivate mutating func refusal(of request: HTTPRequest) -> HTTPResponse? {
    do throws(ServerAPIToken.Refusal) {
      let key = ServerAPIKey(bundleID: store.forge.bundleID)
      try checkedTokens.check(request.headers["Authorization"], key, now: .wallClock())
      return nil
    } catch {
      return HTTPResponse(
        status: 401,
        headers: [
          "Content-Type": "text/plain;charset=UTF-8",
          "WWW-Authenticate": "Bearer error=\"invalid_token\", error_description=\"\(error.rawValue)\"",
        ], body: Array("Unauthenticated\n".utf8))
    }
  }

  /// The key with which a backend signs its requests.
  static func apiKey(_ mock: inout MockState, _ call: Route.Call) -> APIKeyDocument {
    let key = ServerAPIKey(bundleID: mock.store.forge.bundleID)
    return APIKeyDocument(
      keyID: key.keyID, issuerID: key.issuerID, bundleID: key.bundleID, appAppleID: key.appAppleID,
      privateKey: key.privateKeyPEM)
  }

  // MARK: Reading

  /// Bundle, app and environment, as several answers have them.
  private func identity() -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "bundleId": .string(store.forge.bundleID), "environment": .string(store.environment.rawValue),
    ]
    if store.environment == .production { members["appAppleId"] = .integer(ServerAPIKey.appAppleID) }
    return members
  }

  private func signed(_ records: [StoreTransactionRecord], now: Timestamp) -> JSONValue {
    .array(records.map { .string(store.notificationForge.receipts.signedTransaction($0, signedAt: now)) })
  }

  private static func transactionInfo(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let record = try mock.store.transaction(atAPI: call.parameter)
    return [
      "signedTransactionInfo": .string(
        mock.store.notificationForge.receipts.signedTransaction(record, signedAt: call.now))
    ]
  }

  private static func history(
    _ mock: inout MockState, _ call: ServerAPICall, version: Int
  ) throws(ServerAPIError) -> JSONValue? {
    let page = try mock.store.history(
      of: call.parameter, version: version, try HistoryQuery(call.query))
    return .object(mock.identity().merging(mock.document(of: page, now: call.now)) { $1 })
  }

  private static func refundHistory(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let page = try mock.store.refundHistory(
      of: call.parameter, after: call.query.values("revision").last)
    return .object(mock.document(of: page, now: call.now))
  }

  private func document(of page: HistoryPage, now: Timestamp) -> [String: JSONValue] {
    [
      "revision": .string(page.revision), "hasMore": .bool(page.hasMore),
      "signedTransactions": signed(page.records, now: now),
    ]
  }

  private static func subscriptionStatuses(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let items = try mock.store.subscriptionStatuses(
      of: call.parameter, in: call.query.values("status"))
    let groups = items.map(\.groupID).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let store = mock.store
    var document = mock.identity()
    document["data"] = .array(
      groups.map { group in
        [
          "subscriptionGroupIdentifier": .string(group),
          "lastTransactions": .array(
            items.filter { $0.groupID == group }.map { $0.document(store, now: call.now) }),
        ]
      })
    return .object(document)
  }

  private static func lookUpOrder(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let records = mock.store.order(call.parameter)
    guard !records.isEmpty else { return ["status": 1] }
    return ["status": 0, "signedTransactions": mock.signed(records, now: call.now)]
  }

  private static func appTransactionInfo(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let signed = try mock.store.signedAppTransaction(of: call.parameter, now: call.now)
    return ["signedAppTransactionInfo": .string(signed)]
  }
}

extension SubscriptionStatusItem {
  fileprivate func document(_ store: StoreModel, now: Timestamp) -> JSONValue {
    [
      "originalTransactionId": .string(record.originalTransactionID),
      "status": .integer(Int64(status.rawValue)),
      "signedTransactionInfo": .string(
        store.notificationForge.receipts.signedTransaction(record, signedAt: now)),
      "signedRenewalInfo": .string(store.notificationForge.signedRenewalInfo(renewal, signedAt: now)),
    ]
  }
}

/// `GET /store/api-key`
struct APIKeyDocument: Codable {
  var keyID: String
  var issuerID: String
  var bundleID: String
  var appAppleID: Int64
  /// PKCS #8 in PEM.
  var privateKey: String
}
