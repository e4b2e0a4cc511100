import AppStoreReceipts
import LoopbackHTTP
import PurchaseQueue

/// The routes of the App Store Server API that change something, and those about notifications.
extension MockState {
  static func setAppAccountToken(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    guard let token = ServerAPIBody.uuid(try call.body()["appAccountToken"]?.string) else {
      throw .tokenIsNoUUID
    }
    try mock.store.setAccountToken(token, ofOriginal: call.parameter)
    return nil
  }

  static func finishTransaction(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    try mock.store.finish(atAPI: call.parameter, at: call.now)
    return nil
  }

  static func takeConsumption(
    _ mock: inout MockState, _ call: ServerAPICall, version: Int
  ) throws(ServerAPIError) -> JSONValue? {
    let report = try ConsumptionReport(version: version, body: try call.body(), now: call.now)
    try mock.store.takeConsumption(report, of: call.parameter)
    return nil
  }

  // MARK: Renewal dates

  static func extendRenewal(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let request = try RenewalExtension(body: try call.body())
    let record = try mock.store.extendRenewal(
      ofOriginal: call.parameter, by: request.days, now: call.now)
    var reply: [String: JSONValue] = [
      "originalTransactionId": .string(record.originalTransactionID), "success": true,
    ]
    reply["webOrderLineItemId"] = record.webOrderLineItemID.map(JSONValue.string)
    reply["effectiveDate"] = record.expiresAt.map { .integer($0.milliseconds) }
    return .object(reply)
  }

  static func extendRenewals(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let body = try call.body()
    let request = try RenewalExtension(body: body)
    try mock.store.extendRenewals(request, body: body, now: call.now)
    return ["requestIdentifier": .string(request.requestIdentifier)]
  }

  static func extensionStatus(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let parts = call.parameter.split(separator: "/").map(String.init)
    guard parts.count == 2 else { throw .badRequest }
    let result = try mock.store.massExtension(product: parts[0], requestIdentifier: parts[1])
    return [
      "requestIdentifier": .string(result.requestIdentifier), "complete": true,
      "completeDate": .integer(result.completedAt.milliseconds),
      "succeededCount": .integer(Int64(result.succeeded)), "failedCount": .integer(Int64(result.failed)),
    ]
  }

  // MARK: Notifications

  static func requestTestNotification(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    ["testNotificationToken": .string(try mock.store.requestTestNotification(now: call.now))]
  }

  static func testNotificationStatus(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    try mock.store.testNotification(token: call.parameter).document
  }

  static func notificationHistory(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let query = try NotificationQuery(
      body: try call.body(), paginationToken: call.query.values("paginationToken").last,
      environment: mock.store.environment, now: call.now)
    let (entries, hasMore) = try mock.store.notificationHistory(query)
    var reply: [String: JSONValue] = [
      "hasMore": .bool(hasMore), "notificationHistory": .array(entries.map(\.document)),
    ]
    if hasMore { reply["paginationToken"] = entries.last.map { .string(query.token(after: $0)) } }
    return .object(reply)
  }
}

extension LoggedNotification {
  fileprivate var document: JSONValue {
    var members = ["sendAttempts": sendAttempts]
    members["signedPayload"] = signedPayload.map(JSONValue.string)
    return .object(members)
  }
}
