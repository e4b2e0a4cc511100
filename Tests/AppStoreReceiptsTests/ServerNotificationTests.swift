import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

@Suite struct ServerNotificationTests {
  private let transaction = jws(
    payload:
      #"{"transactionId":"2","originalTransactionId":"1","productId":"p","purchaseDate":1,"expiresDate":9}"#)
  private let renewal = jws(
    payload: #"{"originalTransactionId":"1","autoRenewProductId":"q","autoRenewStatus":1}"#)

  private func payload(_ data: String) -> String {
    """
    {"notificationType":"DID_RENEW","subtype":"BILLING_RECOVERY","notificationUUID":"u","version":"2.0",
     "signedDate":7,\(data),"later":1}
    """
  }

  @Test func `Version 2 is read with its signed parts`() throws {
    let payload = payload(
      """
      "data":{"appAppleId":1234567890,"bundleId":"b","bundleVersion":"3","environment":"Sandbox","status":1,
        "signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)",
        "consumptionRequestReason":"LEGAL","x":null}
      """)
    let notification = try ServerNotificationV2(
      json: Data(#"{"signedPayload":"\#(jws(payload: payload))"}"#.utf8))
    #expect(try ServerNotificationV2(payload: Data(payload.utf8)) == notification)
    #expect(notification.kind == .didRenew && notification.subtype == .billingRecovery)
    #expect(notification.id == "u" && notification.version == "2.0" && notification.signedDate == 7)
    #expect(notification.bundleID == "b" && notification.environment == .sandbox)
    let details = try #require(notification.details)
    #expect(details.appID == 1_234_567_890 && details.bundleVersion == "3")
    #expect(details.subscriptionState == .active && details.consumptionRequestReason == .legal)
    #expect(try details.transaction()?.transactionID == "2")
    #expect(try details.renewalInfo()?.autoRenewProductID == "q")
    #expect(details.unknownFields == ["x": .null] && notification.unknownFields == ["later": 1])
    #expect("\(notification)" == "notification DID_RENEW/BILLING_RECOVERY, version 2, id u")
  }

  @Test func `Version 2 has other parts for other kinds`() throws {
    let summary = try ServerNotificationV2(
      jws: jws(
        payload: payload(
          """
          "summary":{"environment":"Production","appAppleId":1,"bundleId":"b","productId":"p",
            "requestIdentifier":"r","storefrontCountryCodes":["USA","DEU"],"succeededCount":5,"failedCount":"2"}
          """)))
    #expect(summary.details == nil && summary.bundleID == "b" && summary.environment == .production)
    #expect(summary.summary?.storefronts == ["USA", "DEU"] && summary.summary?.requestID == "r")
    #expect(summary.summary?.succeededCount == 5 && summary.summary?.failedCount == 2)
    for (id, environment) in [("SANDBOX_1", StoreEnvironment.sandbox), ("1", .production)] {
      let token = try ServerNotificationV2(
        jws: jws(
          payload: payload(
            #""externalPurchaseToken":{"externalPurchaseId":"\#(id)","tokenCreationDate":4,"bundleId":"b"}"#))
      )
      #expect(token.externalPurchaseToken?.creationDate == 4 && token.environment == environment)
    }
    let app = jws(payload: #"{"receiptType":"Sandbox","bundleId":"b"}"#)
    let rescinded = try ServerNotificationV2(
      jws: jws(
        payload: payload(
          #""appData":{"bundleId":"b","environment":"Sandbox","signedAppTransactionInfo":"\#(app)"}"#)))
    #expect(try rescinded.appData?.appTransaction()?.environment == .sandbox)
    let test = try ServerNotificationV2(
      jws: jws(payload: #"{"notificationType":"TEST","subtype":"","data":{}}"#))
    #expect(test.kind == .test && test.subtype == nil)
    #expect(try test.details?.transaction() == nil)
    #expect(try SubscriptionFacts(test) == SubscriptionFacts())
  }

  @Test func `Version 2 keeps unknown values, and names unreadable fields`() throws {
    let later = try ServerNotificationV2(
      jws: jws(payload: #"{"notificationType":"MOON_RISES","subtype":"FULL","data":{"status":9}}"#))
    #expect(later.kind.rawValue == "MOON_RISES" && later.subtype?.rawValue == "FULL")
    #expect(later.details?.subscriptionState?.rawValue == 9)
    for (text, location) in [
      (#"{"signedPayload":7}"#, "signedPayload"), ("{}", "signedPayload"), ("", "byte 0"),
      (#"{"signedPayload":"a.b"}"#, "start"),
      (#"{"signedPayload":"\#(jws(payload: "{}"))"}"#, "payload.notificationType"),
      (#"{"signedPayload":"\#(jws(payload: payload(#""data":[]"#)))"}"#, "payload.data"),
      (#"{"signedPayload":"\#(jws(payload: payload(#""data":{"status":"x"}"#)))"}"#, "payload.data.status"),
    ] {
      #expect(decodingFailure { _ = try ServerNotificationV2(json: Data(text.utf8)) }?.location == location)
    }
    let broken = try ServerNotificationV2(
      jws: jws(payload: payload(#""data":{"signedTransactionInfo":"x"}"#)))
    #expect(decodingFailure { _ = try broken.details?.transaction() } != nil)
    #expect(decodingFailure { _ = try SubscriptionFacts(broken) } != nil)
  }

  @Test func `Version 1 is read with its unified receipt`() throws {
    let notification = try ServerNotificationV1(
      json: Data(
        """
        {"notification_type":"DID_CHANGE_RENEWAL_STATUS","environment":"PROD","password":"hush","bid":"b","bvrs":"1",
         "auto_renew_product_id":"q","auto_renew_adam_id":"12","auto_renew_status":"false",
         "auto_renew_status_change_date":"","auto_renew_status_change_date_ms":"55",
         "original_transaction_id":1000000000000001,"expiration_intent":1,"web_order_line_item_id":"3",
         "cancellation_date":"2020-01-01 00:00:00 Etc/GMT","deprecation":"soon","later":1,
         "latest_receipt":"a","latest_expired_receipt":"b",
         "latest_expired_receipt_info":{"transaction_id":"1","product_id":"p","expires_date":"5"},
         "unified_receipt":{"environment":"Production","latest_receipt":"c","status":"OK",
          "latest_receipt_info":[{"transaction_id":"2","product_id":"p","expires_date_ms":"9"}],
          "pending_renewal_info":[{"auto_renew_status":"0","product_id":"p"}]}}
        """.utf8))
    #expect(notification.kind == .didChangeRenewalStatus && notification.storeEnvironment == .production)
    #expect(notification.environment == "PROD" && notification.password == SharedSecret("hush"))
    #expect(notification.bundleID == "b" && notification.bundleVersion == "1")
    #expect(notification.topLevelRenewal?.willAutoRenew == false && notification.autoRenewAdamID == "12")
    #expect(notification.topLevelRenewal?.expirationIntent == .cancelled)
    #expect(notification.originalTransactionID == "1000000000000001")
    #expect(notification.autoRenewStatusChangeDate == 55)
    #expect(notification.cancellationDate == 1_577_836_800_000 && notification.webOrderLineItemID == "3")
    #expect(notification.deprecation == "soon" && notification.unknownFields == ["later": 1])
    #expect(notification.latestReceipt == "a" && notification.latestExpiredReceipt == "b")
    #expect(notification.unifiedReceipt?.status == .ok)
    #expect(notification.unifiedReceipt?.pendingRenewals.count == 1)
    #expect(notification.transactions.map(\.transactionID) == ["1", "2"])
  }

  @Test func `The kind of a body is recognised by its fields`() throws {
    let signed = jws(payload: #"{"notificationType":"TEST"}"#)
    guard case .notificationV2 = try StoreMessage(json: Data(#"{"signedPayload":"\#(signed)"}"#.utf8)),
      case .notificationV2 = try StoreMessage(json: Data(#"{"notificationType":"TEST"}"#.utf8)),
      case .notificationV1(let cancel) = try StoreMessage(json: Data(#"{"notification_type":"CANCEL"}"#.utf8)),
      case .request = try StoreMessage(json: Data(#"{"receipt-data":"MII="}"#.utf8)),
      case .response = try StoreMessage(json: Data(#"{"status":21007}"#.utf8)),
      case .response = try StoreMessage(json: Fixture.cancelledRenewal.data)
    else {
      Issue.record("a body was recognised as another kind")
      return
    }
    #expect(cancel.kind == .cancel)
    #expect(decodingFailure { _ = try StoreMessage(json: Data("{}".utf8)) }?.location == "start")
    #expect(decodingFailure { _ = try StoreMessage(json: Data("7".utf8)) }?.location == "start")
    let nameless = decodingFailure {
      _ = try ServerNotificationV1(json: Data(#"{"notification_type":""}"#.utf8))
    }
    #expect(nameless?.location == "notification_type")
  }
}
