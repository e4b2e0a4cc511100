import AppStoreReceipts
import Foundation
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import AppStoreDocuments

/// One forged document of each kind, with its transactions.
enum DocumentSample: String, CaseIterable {
  case appReceipt, appReceiptBER, transactionReceipt, transactionReceiptXML, transactionReceiptBinary
  case request, response, oldResponse, statusAlone, signedTransaction, signedRenewalInfo, signedAppTransaction
  case notificationV1, notificationV2, notificationV2JWS, transactionPayload, renewalInfoPayload
  case renewalInfoWithoutNames, appTransactionPayload, notificationV2Payload, history, statuses,
    transactionObject
  case renewalObject, receiptObject

  private static let transaction =
    #"{"transactionId":"2","originalTransactionId":"1","productId":"p","bundleId":"b","purchaseDate":1,"environment":"Sandbox"}"#
  private static let renewal =
    #"{"originalTransactionId":"1","autoRenewProductId":"q","autoRenewStatus":1,"environment":"Sandbox"}"#
  private static let app = #"{"receiptType":"Sandbox","bundleId":"b","applicationVersion":"1"}"#
  private static var notification: String {
    #"{"notificationType":"DID_RENEW","data":{"bundleId":"b","environment":"Sandbox","#
      + #""signedTransactionInfo":""# + jws(payload: transaction) + #"","signedRenewalInfo":""#
      + jws(payload: renewal) + #""}}"#
  }
  private static let item =
    #"{"transaction_id":"2","original_transaction_id":"1","product_id":"p","quantity":"1"}"#
  private static let receipt = ForgedAppReceipt(
    bundleID: "b",
    purchases: [ForgedPurchase(transactionID: "2", originalTransactionID: "1", productID: "p")])
  private static func old(_ form: ForgedTransactionReceipt.Form) -> [UInt8] {
    ForgedTransactionReceipt(bundleID: "b", transactionID: "2", productID: "p").bytes(form)
  }

  var kind: StoreDocument.Kind { made.0 }
  var bytes: [UInt8] { made.1 }
  var ids: [String] {
    switch self {
    case .statusAlone, .signedRenewalInfo, .renewalInfoPayload, .renewalInfoWithoutNames, .renewalObject: []
    case .signedAppTransaction, .appTransactionPayload: []
    case .response: ["2", "2"]
    default: ["2"]
    }
  }

  private var made: (StoreDocument.Kind, [UInt8]) {
    func text(_ kind: StoreDocument.Kind, _ text: String) -> (StoreDocument.Kind, [UInt8]) {
      (kind, Array(text.utf8))
    }
    let (item, transaction, renewal) = (Self.item, Self.transaction, Self.renewal)
    switch self {
    case .appReceipt: return (.appReceipt, Self.receipt.bytes())
    case .appReceiptBER: return (.appReceipt, Self.receipt.bytes(.ber(pieces: 7)))
    case .transactionReceipt: return (.transactionReceipt, Self.old(.text))
    case .transactionReceiptXML: return (.transactionReceipt, Self.old(.xml))
    case .transactionReceiptBinary: return (.transactionReceipt, Self.old(.binary))
    case .request:
      return (
        .verifyReceiptRequest, Array(VerifyReceiptRequest(receipt: Data(Self.receipt.bytes())).json)
      )
    case .response:
      return text(
        .verifyReceiptResponse,
        #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"b","in_app":[\#(item)]},"latest_receipt_info":[\#(item)]}"#
      )
    case .oldResponse:
      return text(.verifyReceiptResponse, #"{"receipt":{"transaction_id":2,"product_id":"p","bid":"b"}}"#)
    case .statusAlone: return text(.verifyReceiptResponse, #"{"status":21007}"#)
    case .signedTransaction: return text(.signedTransaction, jws(payload: transaction))
    case .signedRenewalInfo: return text(.signedRenewalInfo, jws(payload: renewal))
    case .signedAppTransaction: return text(.signedAppTransaction, jws(payload: Self.app))
    case .notificationV1:
      return text(
        .notificationV1,
        #"{"notification_type":"DID_RENEW","bid":"b","unified_receipt":{"status":0,"latest_receipt_info":[\#(item)]}}"#
      )
    case .notificationV2:
      return text(.notificationV2, #"{"signedPayload":"\#(jws(payload: Self.notification))"}"#)
    case .notificationV2JWS: return text(.notificationV2, jws(payload: Self.notification))
    case .transactionPayload: return text(.transactionPayload, transaction)
    case .renewalInfoPayload: return text(.renewalInfoPayload, renewal)
    case .renewalInfoWithoutNames:
      return text(.signedRenewalInfo, jws(payload: #"{"environment":"Sandbox","signedDate":1}"#))
    case .appTransactionPayload: return text(.appTransactionPayload, Self.app)
    case .notificationV2Payload: return text(.notificationV2Payload, Self.notification)
    case .history:
      return text(
        .serverAPIResponse, #"{"signedTransactions":["\#(jws(payload: transaction))"],"hasMore":false}"#)
    case .statuses:
      return text(
        .serverAPIResponse,
        #"{"data":[{"lastTransactions":[{"status":1,"signedTransactionInfo":"\#(jws(payload: transaction))","#
          + #""signedRenewalInfo":"\#(jws(payload: renewal))"}]}]}"#)
    case .transactionObject: return text(.transactionObject, item)
    case .renewalObject:
      return text(.transactionObject, #"{"original_transaction_id":"1","auto_renew_status":"1"}"#)
    case .receiptObject: return text(.receiptObject, #"{"bundle_id":"b","in_app":[\#(item)]}"#)
    }
  }
}

@Suite struct StoreDocumentTests {
  private static func base64(_ bytes: [UInt8]) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }

  @Test(arguments: DocumentSample.allCases)
  func `A document is recognised by its contents`(sample: DocumentSample) throws {
    let document = try StoreDocument(decoding: sample.bytes)
    #expect(document.kind == sample.kind && document.wrappings.isEmpty && document.bytes == sample.bytes)
    #expect(document.transactions.map(\.transactionID) == sample.ids && document.undecodable.isEmpty)
    for id in sample.ids { #expect(document.covers(id)) }
    #expect(!document.covers("3") && document.covered(of: ["3", "2"]) == (sample.ids.isEmpty ? [] : ["2"]))
  }

  @Test(arguments: DocumentSample.allCases)
  func `A document is recognised in every wrapping`(sample: DocumentSample) throws {
    let plain = try StoreDocument(decoding: sample.bytes)
    let once = Self.base64(sample.bytes)
    let lines = Data(sample.bytes).base64EncodedString(options: [.lineLength64Characters]) + "\r\n"
    let bare = String(decoding: once, as: UTF8.self).replacing("=", with: "")
    let quoted = JSONValue.string(String(decoding: once, as: UTF8.self)).text
    let forms: [([UInt8], [DocumentWrapping])] = [
      (once, [.base64]), (Array(lines.utf8), [.base64]), (Array(bare.utf8), [.base64]),
      (Self.base64(once), [.base64, .base64]), (Array(quoted.utf8), [.jsonString, .base64]),
    ]
    for (bytes, wrappings) in forms {
      let document = try StoreDocument(decoding: bytes)
      #expect(document.kind == plain.kind && document.wrappings == wrappings)
      #expect(document.transactions == plain.transactions && document.bytes == sample.bytes)
    }
  }

  @Test(arguments: DocumentSample.allCases)
  func `A document that is cut anywhere gives an error, not a trap`(sample: DocumentSample) {
    let bytes = sample.bytes
    for end in LongTests.some(Array(bytes.indices), every: 7) {
      for cut in [Array(bytes[..<end]), Self.base64(Array(bytes[..<end]))] {
        do throws(ReceiptDecodingError) {
          // A JWS that is cut at its end has only a shorter signature.
          let document = try StoreDocument(decoding: cut)
          #expect(document.kind == sample.kind)
          #expect(document.transactions.map(\.transactionID) == sample.ids)
        } catch {
          #expect(!error.expected.isEmpty && !error.location.isEmpty)
        }
      }
    }
  }

  @Test func `Base64URL of a receipt is read as well`() throws {
    var receipt = ForgedAppReceipt(bundleID: "b")
    receipt.signature = Array(repeating: 0xFF, count: 60)
    let text = Base64URL.encode(Data(receipt.bytes()))
    #expect(text.contains("_"))
    #expect(try StoreDocument(decoding: text).wrappings == [.base64URL])
  }

  @Test func `A document states environment and bundle id, also from inner documents`() throws {
    let signed = try StoreDocument(decoding: DocumentSample.history.bytes)
    #expect(signed.environment == .sandbox && signed.bundleID == "b")
    let request = try StoreDocument(decoding: DocumentSample.request.bytes)
    #expect(request.environment == .sandbox && request.bundleID == "b")
    #expect(request.covers("2", in: .sandbox) && !request.covers("2", in: .production))
  }

  @Test func `An undecodable inner document is named, and the rest is decoded`() throws {
    let signed = jws(payload: #"{"transactionId":"7","productId":"p","purchaseDate":1}"#)
    let document = try StoreDocument(
      decoding: #"{"signedTransactions":["not a JWS","\#(signed)"],"unknown":1}"#)
    #expect(document.transactions.map(\.transactionID) == ["7"])
    #expect(document.undecodable.map(\.location) == ["start, signedTransactions[0]"])
  }

  @Test(arguments: [
    ("", "start"), (" \n\0", "start"), ("{}", "start"), ("[]", "byte 0"), ("{\"a\":1}", "start"),
    ("{\"status\":\"x\"}", "status"), ("7", "byte 0"), ("MII*", "byte 3"), ("MIIA", "byte"),
    ("{\"latest_receipt_info\":[{\"transaction_id\":\"1\"}]}", "latest_receipt_info[0].product_id"),
    ("\"e", "byte 2"), ("a.b.c", "header"), ("bplist00", "byte"), ("<plist", "byte"),
  ])
  func `Garbage gives an error with its place`(text: String, location: String) {
    let error = decodingFailure { _ = try StoreDocument(decoding: text) }
    #expect(error?.location.hasPrefix(location) == true, "\(error?.location ?? "no error")")
  }

  @Test func `An error in wrapped bytes says that its offset counts from the unwrapped bytes`() throws {
    let cut = Array(ForgedAppReceipt(bundleID: "b").bytes().prefix(100))
    let plain = try #require(decodingFailure { _ = try StoreDocument(decoding: cut) })
    let wrapped = try #require(decodingFailure { _ = try StoreDocument(decoding: Self.base64(cut)) })
    #expect(plain.offset != nil && wrapped.offset == nil)
    #expect(wrapped.location == plain.location + ", in the bytes inside of base64")
  }

  @Test func `The depth of wrappings and of inner documents is limited`() throws {
    var bytes = ForgedAppReceipt(bundleID: "b").bytes()
    for _ in 0...StoreDocument.maximumWrappings { bytes = Self.base64(bytes) }
    #expect(decodingFailure { _ = try StoreDocument(decoding: bytes) }?.reason == .tooDeep)
    var request = Data("{}".utf8)
    for _ in 0..<12 { request = VerifyReceiptRequest(receipt: request).json }
    let nested = decodingFailure {
      let document = try StoreDocument(decoding: request)
      #expect(document.undecodable.count == 1 && document.transactions.isEmpty)
    }
    #expect(nested == nil)
    // Inside of a document, no one looks into a request.
    let empty = Array(VerifyReceiptRequest(receipt: Data("{}".utf8)).json)
    #expect(try StoreDocument(decoding: empty, isInner: false).undecodable.count == 1)
    #expect(try StoreDocument(decoding: empty, isInner: true).undecodable.isEmpty)
  }

  @Test(arguments: [1_000_000, LongTests.areOn ? 50_000_000 : 1])
  func `megabytes of zeros are refused`(count: Int) {
    let zeros = [UInt8](repeating: 0, count: count)
    #expect(decodingFailure { _ = try StoreDocument(decoding: zeros) }?.reason == .missing)
  }

  @Test(.enabled(if: LongTests.areOn)) func `50 MB of base64 are refused`() {
    let digits = [UInt8](repeating: 0x30, count: 50_000_000)
    #expect(decodingFailure { _ = try StoreDocument(decoding: digits) }?.reason == .tooLarge)
  }

  @Test func `oversized input is refused unread`() {
    let tooMany = [UInt8](repeating: 0x41, count: StoreDocument.maximumByteCount + 1)
    #expect(decodingFailure { _ = try StoreDocument(decoding: tooMany) }?.reason == .tooLarge)
  }

  @Test func `Neither a description nor a dump shows a proof`() throws {
    let document = try StoreDocument(decoding: DocumentSample.signedTransaction.bytes)
    #expect("\(document)" == "signedTransaction, 1 transactions")
    var text = ""
    dump(document, to: &text)
    #expect(!text.contains("eyJ") && text.count < 100)
  }

  @Test func `A receipt and an answer give the same subscription status`() throws {
    var purchase = ForgedPurchase(transactionID: "2", originalTransactionID: "1", productID: "p")
    purchase.expiresDate = "2024-02-02T03:04:05Z"
    let bytes = ForgedAppReceipt(bundleID: "b", purchases: [purchase]).bytes()
    let facts = try StoreDocument(decoding: bytes).subscriptionFacts
    let end: Int64 = 1_706_843_045_000
    let before = SubscriptionStatus.all(in: facts, at: end - 1)
    #expect(before.map(\.state) == [.active] && before.map(\.entitledUntil) == [end])
    #expect(SubscriptionStatus.all(in: facts, at: end).map(\.state) == [.lapsed(nil)])
    let old = ForgedTransactionReceipt(bundleID: "b", transactionID: "2", productID: "p", expires: end)
    let oldFacts = try StoreDocument(decoding: old.bytes()).subscriptionFacts
    #expect(SubscriptionStatus.all(in: oldFacts, at: end - 1).map(\.entitledUntil) == [end])
  }
}
