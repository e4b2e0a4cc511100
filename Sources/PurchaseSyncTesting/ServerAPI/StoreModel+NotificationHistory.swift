import AppStoreDocuments
import AppStoreReceipts
import PurchaseQueue

/// *Request a Test Notification*, *Get Test Notification Status*, *Get Notification History*.
extension StoreModel {
  /// A page of the log, oldest first, and whether there are more.
  func notificationHistory(
    _ query: NotificationQuery
  ) throws(ServerAPIError) -> (entries: [LoggedNotification], hasMore: Bool) {
    var account: String?
    if let id = query.transactionID { account = try customer(of: id) }
    let matching = notifications.log.entries.filter { entry in
      query.matches(entry)
        && account.map { transaction(entry.transactionID)?.storeAccount == $0 } ?? true
    }
    return (
      Array(matching.prefix(NotificationQuery.pageLength)), matching.count > NotificationQuery.pageLength
    )
  }

  /// Queues a notification of type `TEST`, and returns its token. "You can call this endpoint regardless of whether you
  /// configured your App Store Server Notifications URL … for version 1 or version 2."
  mutating func requestTestNotification(now: Timestamp) throws(ServerAPIError) -> String {
    advance(to: now)
    guard !notifications.versions.isEmpty else { throw .noNotificationURL }
    let id = notificationID
    let body = notificationForge.version2(.test, id: id, about: nil, signedAt: now)
    add(id: id, .test, nil, body: body, now: now)
    return "\(id)_\(now.milliseconds)"
  }

  /// The test notification of a token. As the store, 4040008 until an attempt was made.
  func testNotification(token: String) throws(ServerAPIError) -> LoggedNotification {
    let parts = token.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, ServerAPIBody.uuid(String(parts[0])) != nil, Int64(parts[1]) != nil else {
      throw .invalidTestToken
    }
    let kind = ServerNotificationV2.Kind.test.rawValue
    guard
      let entry = notifications.log.entries.last(where: {
        $0.notificationID == parts[0] && $0.kind == kind && String($0.createdAt.milliseconds) == parts[1]
      }), !entry.attempts.isEmpty
    else { throw .testNotificationNotFound }
    return entry
  }

  /// Tells of the end of a request for all subscribers, or of a subscription that could not be extended.
  mutating func tell(ofExtension result: MassExtension, failed transactionID: String?, now: Timestamp) {
    guard notifications.versions.contains(.two) else { return }
    let id = notificationID
    guard let transactionID else {
      let summary: JSONValue = [
        "requestIdentifier": .string(result.requestIdentifier), "environment": .string(environment.rawValue),
        "appAppleId": .integer(forge.appAppleID), "bundleId": .string(forge.bundleID),
        "productId": .string(result.productID), "storefrontCountryCodes": .array([]),
        "succeededCount": .integer(Int64(result.succeeded)), "failedCount": .integer(Int64(result.failed)),
      ]
      let payload: JSONValue = [
        "notificationType": .string(ServerNotificationV2.Kind.renewalExtension.rawValue),
        "subtype": .string(ServerNotificationV2.Subtype.summary.rawValue), "notificationUUID": .string(id),
        "version": "2.0", "signedDate": .integer(now.milliseconds), "summary": summary,
      ]
      let body: JSONValue = ["signedPayload": .string(notificationForge.receipts.sign(payload: payload.text))]
      return add(id: id, .renewalExtension, .summary, body: body, now: now)
    }
    let body = notificationForge.version2(
      .renewalExtension, .failure, id: id, about: transaction(transactionID),
      renewal: renewal(of: transaction(transactionID)?.originalTransactionID ?? ""),
      state: subscription(of: transactionID)?.state, signedAt: now)
    add(id: id, .renewalExtension, .failure, transactionID: transactionID, body: body, now: now)
  }

  private mutating func add(
    id: String, _ kind: ServerNotificationV2.Kind, _ subtype: ServerNotificationV2.Subtype?,
    transactionID: String = "", body: JSONValue, now: Timestamp
  ) {
    notifications.add(
      OutgoingNotification(
        id: 0, notificationID: id, version: .two, kind: kind.rawValue, subtype: subtype?.rawValue,
        transactionID: transactionID, body: body.text, createdAt: now, dueAt: now))
  }
}

extension LoggedNotification {
  /// The notification as the store signed it; nil never happens.
  var signedPayload: String? {
    do throws(ReceiptDecodingError) {
      return try JSONValue(json: body)["signedPayload"]?.string
    } catch {
      return nil
    }
  }

  /// `sendAttempts`
  var sendAttempts: JSONValue {
    .array(
      attempts.map { attempt in
        let result =
          attempt.isSuccess
          ? "SUCCESS" : attempt.status == nil ? "NO_RESPONSE" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        return [
          "attemptDate": .integer(attempt.attemptedAt.milliseconds), "sendAttemptResult": .string(result),
        ]
      })
  }
}
