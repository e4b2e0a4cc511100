import AppStoreDocuments
import AppStoreReceipts
import Foundation
import TestSupport
import Testing

/// What the decoder of any document does with one bad part: it names it, and shows the rest. The decoders of one
/// kind refuse the same document.
@Suite struct LenientDocumentTests {
  private static let good = #"{"transaction_id":"7","product_id":"p","expires_date_ms":"5"}"#

  /// An item of `in_app` that cannot be read, and the place that is named.
  enum BadItem: String, CaseIterable {
    case noID, noProduct, receipt, number, unreadableRefund, farFuture

    var json: String {
      switch self {
      case .noID: #"{"product_id":"p","quantity":"1"}"#
      case .noProduct: #"{"transaction_id":"1"}"#
      case .receipt: #"{"bundle_id":"b","in_app":[]}"#
      case .number: "5"
      case .unreadableRefund: #"{"transaction_id":"1","product_id":"p","cancellation_date":"yesterday"}"#
      case .farFuture: #"{"transaction_id":"1","product_id":"p","expires_date_ms":"253402300800000"}"#
      }
    }

    var place: String {
      switch self {
      case .noID, .receipt: "[1].transaction_id"
      case .noProduct: "[1].product_id"
      case .number: "[1]"
      case .unreadableRefund: "[1].cancellation_date"
      case .farFuture: "[1].expires_date_ms"
      }
    }
  }

  @Test(arguments: BadItem.allCases)
  func `One bad item is named, and the others are shown`(item: BadItem) throws {
    let items = "[\(Self.good),\(item.json),\(Self.good)]"
    for (text, list) in [
      (#"{"status":0,"receipt":{"bundle_id":"b","in_app":\#(items)}}"#, "receipt.in_app"),
      (#"{"status":0,"latest_receipt_info":\#(items)}"#, "latest_receipt_info"),
      (
        #"{"notification_type":"CANCEL","unified_receipt":{"latest_receipt_info":\#(items)}}"#,
        "unified_receipt.latest_receipt_info"
      ),
      (#"{"bundle_id":"b","in_app":\#(items)}"#, "in_app"),
    ] {
      let document = try StoreDocument(decoding: text)
      #expect(document.transactions.map(\.transactionID) == ["7", "7"])
      #expect(document.undecodable.map(\.location) == [list + item.place])
    }
  }

  @Test(arguments: BadItem.allCases)
  func `The decoder of an answer refuses it as a whole, so that a backend misses no purchase`(item: BadItem) {
    let text = #"{"status":0,"receipt":{"in_app":[\#(Self.good),\#(item.json)]}}"#
    #expect(decodingFailure { _ = try VerifyReceiptResponse(json: Data(text.utf8)) } != nil)
    let notification = #"{"notification_type":"CANCEL","latest_receipt_info":[\#(item.json)]}"#
    #expect(decodingFailure { _ = try ServerNotificationV1(json: Data(notification.utf8)) } != nil)
  }

  @Test func `An unreadable field of the answer itself is named`() throws {
    let document = try StoreDocument(
      decoding: #"{"status":0,"environment":[],"receipt":{"adam_id":{},"in_app":[\#(Self.good)]}}"#)
    #expect(document.transactions.map(\.transactionID) == ["7"] && document.environment == nil)
    #expect(document.undecodable.map(\.location) == ["environment", "receipt.adam_id"])
    #expect(document.undecodable.map(\.found) == ["an array", "an object"])
  }

  @Test(arguments: [
    #"{"status":"x"}"#, #"{"notification_type":[]}"#,
    #"{"latest_receipt_info":[{"transaction_id":"1"}]}"#, #"{"receipt":5}"#,
    #"{"signedTransactions":[5]}"#, #"{"product_id":[]}"#,
  ])
  func `Where nothing is left to show, the document is refused`(text: String) {
    #expect(decodingFailure { _ = try StoreDocument(decoding: text) } != nil)
  }

  @Test(arguments: [
    (#"{"transactionId":"7","bundleId":"b","purchaseDate":1,"environment":"Sandbox"}"#, "productId"),
    (#"{"bundleId":"b","environment":"Sandbox","signedDate":1672956154000}"#, "transactionId"),
    (
      #"{"transactionId":"7","bundleId":"b","productId":"p","purchaseDate":1,"revocationDate":"?","environment":"Sandbox"}"#,
      "revocationDate"
    ),
  ])
  func `A payload without a required field is shown as far as it goes`(
    payload: String, field: String
  ) throws {
    let signed = try StoreDocument(decoding: jws(payload: payload))
    let plain = try StoreDocument(decoding: payload)
    #expect(signed.kind == .signedTransaction && plain.kind == .transactionPayload)
    for document in [signed, plain] {
      #expect(document.bundleID == "b" && document.environment == .sandbox)
      #expect(document.undecodable.count == 1 && document.undecodable[0].location.hasSuffix(field))
      #expect(document.transactions.isEmpty)
    }
    #expect(decodingFailure { _ = try SignedTransaction(jws: jws(payload: payload)) } != nil)
  }

  @Test func `A transaction of the old style without its id is named`() throws {
    let text = #"{"status":0,"receipt":{"product_id":"p","bid":"b","purchase_date_ms":"5"}}"#
    let document = try StoreDocument(decoding: text)
    #expect(document.undecodable.map(\.location) == ["receipt.transaction_id"])
    #expect(decodingFailure { _ = try VerifyReceiptResponse(json: Data(text.utf8)) } != nil)
  }

  @Test func `A date beyond the year 9999 is named beside a readable spelling`() throws {
    let item =
      #"{"transaction_id":"7","product_id":"p","expires_date_ms":"99999999999999999","expires_date":"2024-01-01 00:00:00 Etc/GMT"}"#
    let document = try StoreDocument(decoding: #"{"status":0,"receipt":{"in_app":[\#(item)]}}"#)
    #expect(document.transactions.map(\.expiresDate) == [1_704_067_200_000])
    #expect(document.undecodable.map(\.location) == ["receipt.in_app[0].expires_date_ms"])
  }

  @Test(arguments: [
    ("Tue, 07 Mar 2017 14:21:49 GMT", 1_488_896_509_000), ("7 Mar 2017 14:21:49 +0000", 1_488_896_509_000),
    ("Tue, 07 Mar 2017 06:21:49 -0800", 1_488_896_509_000),
  ])
  func `A date of RFC 1123 is read`(text: String, milliseconds: Int64) throws {
    let item = #"{"transaction_id":"7","product_id":"p","purchase_date":"\#(text)"}"#
    #expect(try StoreDocument(decoding: item).transactions.map(\.purchaseDate) == [milliseconds])
  }

  @Test(arguments: [
    "Tue, 07 Mar 2017 14:21:49 PST", "Foo, 07 Mar 2017 14:21:49 GMT", "32 Mar 2017 14:21:49 GMT",
  ])
  func `A date of RFC 1123 with an unknown zone or day is not guessed`(text: String) {
    let item = #"{"transaction_id":"7","product_id":"p","purchase_date":"\#(text)"}"#
    #expect(decodingFailure { _ = try ReceiptTransaction(JSONValue(json: Data(item.utf8))) } != nil)
  }

  @Test func `Unknown and misplaced members are named once, without the numbers of items`() throws {
    let item = #"{"transaction_id":"7","product_id":"p","colour":1}"#
    let document = try StoreDocument(
      decoding: #"{"status":0,"receipt":{"in_app":[\#(item),\#(item)],"latest_receipt_info":[]},"in_app":[]}"#
    )
    let members = document.unknownMembers.sorted { $0.path < $1.path }
    #expect(members.map(\.path) == ["in_app", "receipt.in_app[].colour", "receipt.latest_receipt_info"])
    #expect(members.map(\.home) == ["receipt", nil, "the top"])
  }

  @Test(arguments: [
    (#"{"environment":"Sandbox","signedDate":1}"#, StoreDocument.Kind.signedRenewalInfo),
    (#"{"environment":"Sandbox","signedDate":1,"renewalPrice":1,"productId":"p"}"#, .signedRenewalInfo),
    (#"{"environment":"Sandbox","signedDate":1,"bundleId":"b"}"#, .signedTransaction),
    (
      #"{"requestIdentifier":"r","locale":"en_US","environment":"Sandbox","signedDate":1}"#, .retentionRequest
    ),
    (#"{"requestIdentifier":"r","userLocale":"en_US","productId":"p","appAppleId":1}"#, .retentionRequest),
  ])
  func `A payload is recognised by what only its kind has`(payload: String, kind: StoreDocument.Kind) throws {
    #expect(try StoreDocument(decoding: jws(payload: payload)).kind == kind)
  }
}
