package import AppStoreDocuments
package import AppStoreReceipts
package import PurchaseQueue

/// Makes server notifications of both versions and their signed payloads as the store writes them
/// (StoreFacts c and d). Signed by a ``ReceiptForge``, as that one signs.
package struct NotificationForge: Sendable, Hashable {
  package var receipts: ReceiptForge
  package var environment: StoreEnvironment

  package init(receipts: ReceiptForge, environment: StoreEnvironment = .production) {
    self.receipts = receipts
    self.environment = environment
  }

  /// The body of a POST, version 1: `unifiedReceipt` is an answer of
  /// ``VerifyReceiptForge/unified(held:latest:renewals:newReceipt:createdAt:alwaysTellsLatest:requestedAt:)``, of which
  /// the notification has a part.
  package func version1(
    _ kind: ServerNotificationV1.Kind, unifiedReceipt: JSONValue?, renewal: ForgedRenewal? = nil,
    password: String = "0123456789abcdef0123456789abcdef"
  ) -> JSONValue {
    var members: [String: JSONValue] = [
      "notification_type": .string(kind.rawValue), "password": .string(password),
      "environment": environment == .production ? "PROD" : .string(environment.rawValue),
      "bid": .string(receipts.bundleID), "bvrs": "1",
    ]
    if let renewal {
      members["auto_renew_product_id"] = .string(renewal.autoRenewProductID)
      members["auto_renew_status"] = renewal.willAutoRenew ? "true" : "false"
    }
    if var unified = unifiedReceipt?.object {
      unified["receipt"] = nil
      members["unified_receipt"] = .object(unified)
    }
    return .object(members)
  }

  /// The body of a POST, version 2, about a subscription or another purchase.
  package func version2(
    _ kind: ServerNotificationV2.Kind, _ subtype: ServerNotificationV2.Subtype? = nil, id: String,
    about transaction: StoreTransactionRecord?, renewal: ForgedRenewal? = nil,
    state: SubscriptionState? = nil,
    signedAt: Timestamp
  ) -> JSONValue {
    var details: [String: JSONValue] = [
      "bundleId": .string(receipts.bundleID), "environment": .string(environment.rawValue),
      "bundleVersion": "1",
    ]
    details["appAppleId"] = appAppleID
    if let transaction {
      details["signedTransactionInfo"] = .string(
        receipts.signedTransaction(transaction, signedAt: signedAt))
    }
    if let renewal { details["signedRenewalInfo"] = .string(signedRenewalInfo(renewal, signedAt: signedAt)) }
    if let state { details["status"] = .integer(Int64(state.rawValue)) }
    var payload: [String: JSONValue] = [
      "notificationType": .string(kind.rawValue), "notificationUUID": .string(id), "version": "2.0",
      "signedDate": .integer(signedAt.milliseconds), "data": .object(details),
    ]
    if let subtype { payload["subtype"] = .string(subtype.rawValue) }
    return ["signedPayload": .string(receipts.sign(payload: JSONValue.object(payload).text))]
  }

  /// The body of a POST, version 2, about claims of seats that the store took back.
  package func unclaimedSeats(_ claims: [String], id: String, signedAt: Timestamp) -> JSONValue {
    var part: [String: JSONValue] = [
      "bundleId": .string(receipts.bundleID), "environment": .string(environment.rawValue),
      "unclaimSeatIds": .array(claims.map(JSONValue.string)),
    ]
    part["appAppleId"] = appAppleID
    let payload: [String: JSONValue] = [
      "notificationType": .string(ServerNotificationV2.Kind.unclaimSeats.rawValue),
      "notificationUUID": .string(id), "version": "2.0",
      "signedDate": .integer(signedAt.milliseconds), "unclaimInfo": .object(part),
    ]
    return ["signedPayload": .string(receipts.sign(payload: JSONValue.object(payload).text))]
  }

  /// A signed renewal info with Apple's key names.
  package func signedRenewalInfo(_ renewal: ForgedRenewal, signedAt: Timestamp) -> String {
    var payload: [String: JSONValue] = [
      "originalTransactionId": .string(renewal.originalTransactionID),
      "productId": .string(renewal.productID),
      "autoRenewProductId": .string(renewal.autoRenewProductID),
      "autoRenewStatus": renewal.willAutoRenew ? 1 : 0,
      "environment": .string(environment.rawValue), "signedDate": .integer(signedAt.milliseconds),
    ]
    if let intent = renewal.expirationIntent { payload["expirationIntent"] = .integer(Int64(intent)) }
    if let retry = renewal.isInBillingRetry { payload["isInBillingRetryPeriod"] = .bool(retry) }
    if let grace = renewal.gracePeriodExpiresAt {
      payload["gracePeriodExpiresDate"] = .integer(grace.milliseconds)
    }
    payload.merge(ReceiptForge.members(of: renewal.bundle)) { $1 }
    if let leaves = renewal.willUnbundle { payload["willUnbundle"] = .bool(leaves) }
    if let commitment = renewal.commitment {
      payload["renewalBillingPlanType"] = .string(BillingPlanType.monthly.rawValue)
      payload["commitmentInfo"] = commitment.json
    }
    if let consents = renewal.consentsToPrice { payload["priceIncreaseStatus"] = consents ? 1 : 0 }
    if let seats = renewal.seats { payload["renewalQuantity"] = .integer(Int64(seats)) }
    return receipts.sign(payload: JSONValue.object(payload).text)
  }

  /// The body of a POST, version 2, about a parent who no longer consents to the use of the app: it has no transaction.
  package func consentRescinded(
    id: String, signedAppTransaction: String, signedAt: Timestamp
  ) -> JSONValue {
    var app: [String: JSONValue] = [
      "bundleId": .string(receipts.bundleID), "environment": .string(environment.rawValue),
      "signedAppTransactionInfo": .string(signedAppTransaction),
    ]
    app["appAppleId"] = appAppleID
    let payload: JSONValue = [
      "notificationType": .string(ServerNotificationV2.Kind.rescindConsent.rawValue),
      "notificationUUID": .string(id), "version": "2.0", "signedDate": .integer(signedAt.milliseconds),
      "appData": .object(app),
    ]
    return ["signedPayload": .string(receipts.sign(payload: payload.text))]
  }

  /// "It isn't present in the sandbox environment" (Apple, appAppleId).
  private var appAppleID: JSONValue? { environment == .production ? .integer(receipts.appAppleID) : nil }

  /// A signed app transaction with Apple's key names: the environment is under `receiptType`.
  ///
  /// - Parameters:
  ///   - id: The `appTransactionId` of the customer; nil leaves it out.
  ///   - downloadedAt: When the customer got the app; nil for `createdAt`.
  package func signedAppTransaction(
    applicationVersion: String = "1", id: String? = nil, downloadedAt: Timestamp? = nil,
    createdAt: Timestamp
  ) -> String {
    var payload: [String: JSONValue] = [
      "receiptType": .string(environment.rawValue), "bundleId": .string(receipts.bundleID),
      "applicationVersion": .string(applicationVersion), "originalApplicationVersion": "1.0",
      "receiptCreationDate": .integer(createdAt.milliseconds),
      "originalPurchaseDate": .integer((downloadedAt ?? createdAt).milliseconds),
      "versionExternalIdentifier": 1, "originalPlatform": "iOS",
    ]
    payload["appAppleId"] = appAppleID
    payload["appTransactionId"] = id.map(JSONValue.string)
    return receipts.sign(payload: JSONValue.object(payload).text)
  }
}
