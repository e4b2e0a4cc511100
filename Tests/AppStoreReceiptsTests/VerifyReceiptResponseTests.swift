import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

@Suite struct VerifyReceiptResponseTests {
  @Test func `The old style, active, is read in full`() throws {
    let response = try Fixture.activeTransactionReceipt.response
    #expect(response.status == .ok && response.action == .ok)
    #expect(response.environment == nil)
    #expect(response.bundleID == "mango.star.risingsun")
    #expect(response.latestReceipt == "ewoxxxxx==")
    #expect(response.topLevelRenewal?.willAutoRenew == true)
    #expect(response.topLevelRenewal?.autoRenewProductID == "mango_star_vip10")
    #expect(response.unknownFields.isEmpty)
    guard case .transaction(let receipt) = response.receipt else { throw Unexpected() }
    #expect(receipt.transactionID == "1000000559740927")
    #expect(receipt.originalTransactionID == "1000000557452125")
    #expect(receipt.webOrderLineItemID == "1000000046388850")
    #expect(receipt.productID == "mango_star_vip10")
    #expect(receipt.quantity == 1)
    #expect(receipt.purchaseDate == 1_566_378_403_000)
    #expect(receipt.originalPurchaseDate == 1_565_771_334_000)
    #expect(receipt.expiresDate == 1_566_378_703_000)
    #expect(receipt.isTrialPeriod == false && receipt.isInIntroOfferPeriod == false)
    #expect(receipt.oldStyle?.bundleVersion == "1014")
    #expect(receipt.oldStyle?.itemID == "1476506027")
    #expect(receipt.oldStyle?.versionExternalID == "0")
    #expect(receipt.oldStyle?.uniqueID == "7468f08dc6b0cb8fa02580c5f35ef943ff3ca6da")
    #expect(receipt.oldStyle?.uniqueVendorID == "3873A4E2-FB10-4BA4-A24E-11C50E53BD4A")
    #expect(receipt.unknownFields.isEmpty)
    #expect(response.latestTransactions.map(\.transactionID) == ["1000000559740878"])
    #expect(response.transactions.map(\.transactionID) == ["1000000559740927", "1000000559740878"])
  }

  @Test func `The old style, lapsed, keeps the last paid period`() throws {
    let response = try Fixture.lapsedTransactionReceipt.response
    #expect(response.status == .lapsed && response.action == .lapsed)
    #expect(response.latestTransactions.isEmpty)
    #expect(response.latestExpiredTransactions.map(\.expiresDate) == [1_566_377_359_000])
    #expect(response.topLevelRenewal?.isInBillingRetryPeriod == true)
    #expect(response.unknownFields.isEmpty)
  }

  @Test func `Numbers instead of strings keep every digit`() throws {
    let old = try Fixture.numericTransactionReceipt.response.transactions[0]
    #expect(old.transactionID == "1000001127239959")
    #expect(old.originalTransactionID == "1000001127239959")
    #expect(old.purchaseDate == 1_626_147_394_550)
    #expect(old.expiresDate == nil)
    #expect(old.oldStyle?.itemID == "892617314")
    let response = try Fixture.numericConsumable.response
    guard case .app(let receipt) = response.receipt else { throw Unexpected() }
    #expect(receipt.applicationVersion == "1")
    #expect(receipt.requestDate == 1_513_235_963_829)
    #expect(receipt.transactions[0].transactionID == "1000000359369424")
    let large = try ReceiptTransaction([
      "transaction_id": .integer(9_007_199_254_740_993),
      "original_transaction_id": .number("18446744073709551617"),
      "product_id": "p", "quantity": "10",
    ])
    #expect(large.transactionID == "9007199254740993")
    #expect(large.originalTransactionID == "18446744073709551617")
    #expect(large.quantity == 10)
  }

  @Test func `The unified style is read in full`() throws {
    let response = try Fixture.cancelledRenewal.response
    #expect(response.environment == .sandbox)
    #expect(response.bundleID == "com.example.app")
    guard case .app(let receipt) = response.receipt else { throw Unexpected() }
    #expect(receipt.receiptType == "ProductionSandbox")
    #expect(receipt.appID == 0 && receipt.downloadID == 0 && receipt.versionExternalID == 0)
    #expect(receipt.originalApplicationVersion == "1.0")
    #expect(receipt.receiptCreationDate == 1_574_919_499_000)
    #expect(receipt.requestDate == 1_574_929_092_579)
    #expect(receipt.originalPurchaseDate == 1_375_340_400_000)
    #expect(receipt.unknownFields.isEmpty && response.unknownFields.isEmpty)
    #expect(receipt.transactions.map(\.expiresDate) == [1_574_919_799_000])
    #expect(receipt.transactions[0].oldStyle == nil)
    #expect(response.latestTransactions.map(\.expiresDate) == [nil, 1_574_921_299_000])
    #expect(response.latestTransactions[1].subscriptionGroupID == "20577287")
    let renewal = try #require(response.pendingRenewals.first)
    #expect(renewal.willAutoRenew == false)
    #expect(renewal.expirationIntent == .cancelled)
    #expect(renewal.isInBillingRetryPeriod == false)
    #expect(renewal.originalTransactionID == "1000000598465716")
    #expect(response.topLevelRenewal == nil)
  }

  @Test func `An array and a single object have the same meaning`() throws {
    let item = #"{"transaction_id":"1","product_id":"p"}"#
    for name in ["latest_receipt_info", "latest_expired_receipt_info"] {
      let one = try read(#"{"status":0,"\#(name)":\#(item)}"#)
      #expect(try one == read(#"{"status":0,"\#(name)":[\#(item)]}"#))
      #expect(one.transactions.count == 1)
    }
  }

  @Test func `The renewal status is read in its three encodings`() throws {
    for (text, value) in [
      ("1", true), ("0", false), (#""1""#, true), (#""0""#, false), (#""true""#, true), (#""false""#, false),
      ("true", true), ("false", false),
    ] {
      #expect(try PendingRenewal(JSONValue(json: #"{"auto_renew_status":\#(text)}"#)).willAutoRenew == value)
    }
    let later = try PendingRenewal(["auto_renew_status": 7])
    #expect(later.autoRenewStatus?.rawValue == 7 && later.willAutoRenew == nil)
  }

  @Test func `Unknown fields and values are kept`() throws {
    let response = try read(
      """
      {"status":21500,"environment":"Moon","mood":{"x":[1.5]},
       "receipt":{"in_app":[{"transaction_id":"1","product_id":"p","in_app_ownership_type":"PET",
         "cancellation_reason":"9","cancellation_date_ms":"5","later":null}],"season":"winter"},
       "pending_renewal_info":[{"expiration_intent":"77","colour":"red"}]}
      """)
    #expect(response.status?.rawValue == 21500 && response.action == .unknown)
    #expect(response.environment?.rawValue == "Moon")
    #expect(response.unknownFields == ["mood": ["x": [.number("1.5")]]])
    guard case .app(let receipt) = response.receipt else { throw Unexpected() }
    #expect(receipt.unknownFields == ["season": "winter"])
    #expect(receipt.transactions[0].unknownFields == ["later": .null])
    #expect(receipt.transactions[0].ownership?.rawValue == "PET")
    #expect(receipt.transactions[0].cancellationReason?.rawValue == 9)
    #expect(response.pendingRenewals[0].expirationIntent?.rawValue == 77)
    #expect(response.pendingRenewals[0].unknownFields == ["colour": "red"])
  }

  @Test func `A receipt object with an empty list or no list of purchases is an app receipt`() throws {
    for receipt in [#"{"bundle_id":"b","in_app":[]}"#, #"{"bundle_id":"b","download_id":null}"#, "{}"] {
      let response = try read(#"{"status":0,"receipt":\#(receipt)}"#)
      guard case .app(let app) = response.receipt else { throw Unexpected() }
      #expect(app.transactions.isEmpty && app.downloadID == nil)
    }
  }

  @Test(arguments: [
    (#"{"status":0,"receipt":[]}"#, "receipt"), (#"{"receipt":{"in_app":"x"}}"#, "receipt.in_app"),
    (#"{"latest_receipt_info":[{"transaction_id":"1","product_id":"p"},7]}"#, "latest_receipt_info[1]"),
    (#"{"latest_receipt_info":[{"product_id":"p"}]}"#, "latest_receipt_info[0].transaction_id"),
    (
      #"{"latest_receipt_info":{"transaction_id":"","product_id":"p"}}"#, "latest_receipt_info.transaction_id"
    ),
    (
      #"{"receipt":{"in_app":[{"transaction_id":"1","product_id":"p","quantity":"x"}]}}"#,
      "receipt.in_app[0].quantity"
    ),
    (
      #"{"receipt":{"in_app":[{"transaction_id":"1","product_id":"p","cancellation_date_ms":"9e99"}]}}"#,
      "receipt.in_app[0].cancellation_date_ms"
    ),
    (#"{"receipt":{"in_app":[],"download_id":1e30}}"#, "receipt.download_id"),
    (
      #"{"pending_renewal_info":[{"is_in_billing_retry_period":"maybe"}]}"#,
      "pending_renewal_info[0].is_in_billing_retry_period"
    ),
    ("[]", "start"), ("<html>", "byte 0"), ("", "byte 0"),
  ])
  func `An error names the unreadable field`(text: String, location: String) {
    #expect(decodingFailure { _ = try read(text) }?.location == location)
  }

  @Test func `No description shows a receipt or a secret`() throws {
    let response = try Fixture.activeTransactionReceipt.response
    let request = VerifyReceiptRequest(receiptData: "TOPSECRET", password: SharedSecret("HUSH"))
    let notification = try ServerNotificationV1(
      json: Data(#"{"notification_type":"CANCEL","password":"HUSH","latest_receipt":"TOPSECRET"}"#.utf8))
    for value in [response, request, notification, [request], request.password as Any] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped] {
        #expect(!text.contains("TOPSECRET") && !text.contains("HUSH") && !text.contains("ewoxxxxx"))
      }
    }
  }

  private func read(_ text: String) throws -> VerifyReceiptResponse {
    try VerifyReceiptResponse(json: Data(text.utf8))
  }

  private struct Unexpected: Error {}
}

@Suite struct VerifyReceiptRequestTests {
  @Test func `A request is written and read`() throws {
    let request = VerifyReceiptRequest(
      receipt: Data([0xFB, 0xFF, 0xFE]), password: SharedSecret("s\"s"), excludesOldTransactions: true)
    let text = #"{"exclude-old-transactions":true,"password":"s\"s","receipt-data":"+//+"}"#
    #expect(String(decoding: request.json, as: UTF8.self) == text)
    #expect(try VerifyReceiptRequest(json: request.json) == request)
    let bare = VerifyReceiptRequest(receiptData: "TUlJ\r\nQQ \t==\n")
    #expect(String(decoding: bare.json, as: UTF8.self) == #"{"receipt-data":"TUlJQQ=="}"#)
  }

  @Test func `A request is read unchanged`() throws {
    let request = try VerifyReceiptRequest(
      json: Data(#"{"receipt-data":"\/a\n=","exclude-old-transactions":"true","x":1}"#.utf8))
    #expect(request.receiptData == "/a\n=" && request.excludesOldTransactions == true)
    #expect(request.password == nil)
    for text in ["{}", #"{"receipt-data":null}"#, #"{"receipt-data":7}"#] {
      let error = decodingFailure { _ = try VerifyReceiptRequest(json: Data(text.utf8)) }
      #expect(error?.location == "receipt-data")
    }
  }
}
