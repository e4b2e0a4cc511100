import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseSyncTesting
import Testing

/// One rule for a document alone, in another one, and in each encoding; and messages that say where it broke.
@Suite struct DocumentRuleTests {
  private static let incomplete = #"{"transactionId":"7","bundleId":"b","environment":"Sandbox"}"#
  private static let item = #"{"transaction_id":"7","original_transaction_id":"6"}"#

  @Test(arguments: [
    incomplete, jws(payload: incomplete), #"{"signedTransactionInfo":"\#(jws(payload: incomplete))"}"#,
    #"{"signedTransactions":["\#(jws(payload: incomplete))"]}"#,
    #"{"data":[{"lastTransactions":[{"signedTransactionInfo":"\#(jws(payload: incomplete))"}]}]}"#,
    #"{"notificationType":"DID_RENEW","data":{"signedTransactionInfo":"\#(jws(payload: incomplete))"}}"#,
    item, #"{"status":0,"latest_receipt_info":[\#(item)]}"#, #"{"bundle_id":"b","in_app":[\#(item)]}"#,
    #"{"notification_type":"CANCEL","latest_receipt_info":\#(item)}"#,
  ])
  func `A transaction without a product is named, and is listed nowhere`(text: String) throws {
    let document = try StoreDocument(decoding: text)
    #expect(document.transactions.isEmpty)
    #expect(!document.covers("7"))
    #expect(document.undecodable.count == 1)
    #expect(document.undecodable.first?.reason == .missing)
    #expect(document.undecodable.first?.location.lowercased().contains("product") == true)
  }

  @Test(arguments: DocumentSample.allCases)
  func `NULs at the end of a text do not count, as after base64 and DER`(sample: DocumentSample) throws {
    // A binary property list is no text: its last bytes are numbers.
    guard sample != .transactionReceiptBinary else { return }
    let plain = try StoreDocument(decoding: sample.bytes)
    for end in [[0], [0, 0, 0], [0x0A, 0], [0, 0x0D, 0x0A], [0x20, 0, 0x20, 0]] as [[UInt8]] {
      let document = try StoreDocument(decoding: sample.bytes + end)
      #expect(document.kind == sample.kind)
      #expect(document.transactions == plain.transactions)
      let wrapped = try StoreDocument(decoding: Array(Data(sample.bytes).base64EncodedData()) + end)
      #expect(wrapped.transactions == plain.transactions)
    }
  }

  @Test func `A strict decoder ignores NULs at the end, and nothing else`() throws {
    #expect(try VerifyReceiptResponse(json: Data("{\"status\":21007}\0".utf8)).status == .sandboxReceipt)
    #expect(try JSONValue(json: Data("[1]\0\0".utf8)) == [1])
    for text in ["\0{\"status\":0}", "{\"status\":0}\0x", "{\0\"status\":0}", "{\"status\":0}\u{1}", "\0"] {
      #expect(decodingFailure { _ = try VerifyReceiptResponse(json: Data(text.utf8)) } != nil)
    }
  }

  @Test(arguments: [
    (#"{"signedPayload":"..."}"#, "signedPayload", "text that is no JWS"),
    (#"{"signedPayload":""}"#, "signedPayload", "an empty text"),
    (#"{"signedPayload":"a.b"}"#, "signedPayload", "text that is no JWS"),
    (#"{"signedTransactionInfo":""}"#, "signedTransactionInfo", "an empty text"),
    (#"{"signedRenewalInfo":"null"}"#, "signedRenewalInfo", "text that is no JWS"),
    (#"{"signedTransactions":["","x"]}"#, "signedTransactions[0]", "an empty text"),
    (
      #"{"notificationType":"TEST","data":{"signedTransactionInfo":""}}"#, "data.signedTransactionInfo",
      "an empty text"
    ),
    (
      #"{"signedPayload":"\#(jws(payload: "{}").replacing(".", with: "=."))"}"#, "signedPayload",
      "padding: remove it"
    ),
  ])
  func `A member that is no JWS is named, and what it is`(text: String, member: String, found: String) throws
  {
    var errors: [ReceiptDecodingError] = []
    if let failure = decodingFailure({ errors = try StoreDocument(decoding: text).undecodable }) {
      errors = [failure]
    }
    #expect(errors.first?.location.hasSuffix(member) == true)
    #expect(errors.first?.found == found)
  }

  @Test(arguments: [
    (#"{"status":0,"unified_receipt":{}}"#, "unified_receipt", "the top of a notification of version 1"),
    (
      #"{"status":0,"receipt":{"unified_receipt":{}}}"#, "receipt.unified_receipt",
      "the top of a notification of version 1"
    ),
    (#"{"status":0,"receipt":{"status":0}}"#, "receipt.status", "the top"),
    (#"{"status":0,"signedPayload":"x"}"#, "signedPayload", nil),
    (#"{"notification_type":"CANCEL","receipt":{}}"#, "receipt", "the top of an answer of verifyReceipt"),
    (#"{"notification_type":"CANCEL","in_app":[]}"#, "in_app", "receipt of an answer of verifyReceipt"),
    (#"{"receipt-data":"","status":0}"#, "status", "the top of an answer of verifyReceipt"),
    (#"{"status":0,"receipt-data":"","in_app":[]}"#, "in_app", "receipt of an answer of verifyReceipt"),
    (#"{"notificationType":"TEST","signedTransactionInfo":"x"}"#, "signedTransactionInfo", "data"),
    (
      #"{"status":0,"receipt":{"in_app":[{"transaction_id":"7","product_id":"p","status":0}]}}"#,
      "receipt.in_app[].status", "the top"
    ),
  ])
  func `A misplaced member is named with its place, and the place where it belongs`(
    text: String, path: String, home: String?
  ) throws {
    guard let home else {
      // A signed payload makes the document another one.
      #expect(decodingFailure { _ = try StoreDocument(decoding: text) } != nil)
      return
    }
    let members = try StoreDocument(decoding: text).unknownMembers
    #expect(members.first { $0.path == path }?.home == home)
  }

  @Test func `The share of a partial refund is in the list`() throws {
    let payload =
      #"{"transactionId":"7","productId":"p","purchaseDate":1,"quantity":3,"revocationDate":5,"revocationType":"REFUND_PRORATED","revocationPercentage":33333}"#
    for text in [jws(payload: payload), #"{"signedTransactions":["\#(jws(payload: payload))"]}"#] {
      let transaction = try #require(try StoreDocument(decoding: text).transactions.first)
      #expect(transaction.revocationPercentage == 33_333)
      #expect(transaction.revocationType == .proratedRefund)
      #expect(transaction.quantity == 3)
    }
  }

  @Test func `Xcode's device verification of a renewal info is known`() throws {
    let text = jws(
      payload:
        #"{"autoRenewStatus":1,"originalTransactionId":"7","deviceVerification":"eA==","deviceVerificationNonce":"n"}"#
    )
    #expect(try StoreDocument(decoding: text).unknownMembers.isEmpty)
    let renewal = try SignedRenewalInfo(jws: text)
    #expect(renewal.deviceVerification == "eA==")
    #expect(renewal.deviceVerificationNonce == "n")
  }

  @Test(arguments: [
    "{\"purchase-info\"=\"e30=\";", "{\"purchase-info\"=\"e30=\"", "{\"purchase-info\"=", "{a=(1,",
    "<plist><dict>",
    "{\"status\":0,\"receipt\":{\"in_a", "[1,", "\"MII",
  ])
  func `A text that ends too early says that it is truncated`(text: String) {
    let error = decodingFailure { _ = try StoreDocument(decoding: text) }
    #expect(error?.reason == .truncated)
    #expect(error?.description.contains("truncated") == true)
  }

  @Test(arguments: [
    (DERNode.constructed(0x30, []), "a SEQUENCE"), (.primitive(0x04, [1]), "an OCTET STRING"),
    (.utf8("x"), "text"),
    (.integer(5), "an INTEGER"),
  ])
  func `An app receipt whose content is no SET says what it is`(payload: DERNode, found: String) {
    let bytes = Self.message(payload.encoded())
    let error = decodingFailure { _ = try AppReceipt(decoding: bytes) }
    #expect(error?.expected == "the SET of the receipt's attributes")
    #expect(error?.found == found)
  }

  @Test func `A provisioning profile is named`() {
    let text = "<?xml version=\"1.0\"?>" + String(repeating: "<plist><dict/></plist>", count: 4)
    let bytes = Self.message(Array(text.utf8))
    #expect(decodingFailure { _ = try AppReceipt(decoding: bytes) }?.found?.contains("provisioning") == true)
  }

  private static func message(_ content: [UInt8]) -> [UInt8] {
    ForgedAppReceipt.message(ForgedAppReceipt.octetString(content, pieces: nil)).encoded()
  }
}
