import AppStoreDocuments
import AppStoreReceipts
import Foundation
import TestSupport
import Testing

/// Bad input for every JSON decoder: the result is a typed error with its place, or a value, never a trap.
@Suite struct HostileJSONTests {
  /// A decoder and a small document for it.
  enum Decoder: String, CaseIterable {
    case response, oldResponse, request, notificationV1, notificationV2, transaction, renewalInfo
    case appTransaction, header, message, value

    private static let item =
      #"{"transaction_id":"2","product_id":"é","quantity":"1","purchase_date_ms":"1","expires_date":"2","x":[1]}"#
    private static let signed =
      #"{"transactionId":"1","productId":"p","purchaseDate":1.5,"isUpgraded":true,"x":{"y":[null,"\n"]}}"#

    /// The JSON part of the document: for a JWS, its payload.
    var sample: String {
      switch self {
      case .response, .message, .value:
        #"{"status":0,"receipt":{"in_app":[\#(Self.item)]},"pending_renewal_info":[{"auto_renew_status":"1"}]}"#
      case .oldResponse:
        #"{"status":21006,"receipt":\#(Self.item),"latest_expired_receipt_info":\#(Self.item)}"#
      case .request: #"{"receipt-data":"\u0041\/","password":"p","exclude-old-transactions":true}"#
      case .notificationV1:
        #"{"notification_type":"CANCEL","unified_receipt":{"latest_receipt_info":\#(Self.item),"status":"OK"}}"#
      case .notificationV2:
        #"{"notificationType":"TEST","data":{"status":1,"signedTransactionInfo":"e30.e30."},"signedDate":1}"#
      case .transaction: Self.signed
      case .renewalInfo: #"{"autoRenewStatus":1,"eligibleWinBackOfferIds":["a"],"commitmentInfo":{}}"#
      case .appTransaction: #"{"receiptType":"Xcode","originalPurchaseDate":-62135769600000}"#
      case .header: #"{"alg":"ES256","x5c":["MA==","MA=="]}"#
      }
    }

    func decode(_ json: Data) throws {
      switch self {
      case .response, .oldResponse: _ = try SubscriptionFacts(VerifyReceiptResponse(json: json))
      case .request: _ = try VerifyReceiptRequest(json: json)
      case .notificationV1: _ = try SubscriptionFacts(ServerNotificationV1(json: json))
      case .notificationV2: _ = try ServerNotificationV2(payload: json)
      case .transaction: _ = try SignedTransaction(payload: json)
      case .renewalInfo: _ = try SignedRenewalInfo(payload: json)
      case .appTransaction: _ = try SignedAppTransaction(payload: json)
      case .header: _ = try JWSHeader(json: json)
      case .message: _ = try StoreMessage(json: json)
      case .value: _ = try JSONValue(json: json)
      }
    }

    func failure(_ text: String) -> ReceiptDecodingError? { failure(Data(text.utf8)) }

    func failure(_ json: Data) -> ReceiptDecodingError? { decodingFailure { try decode(json) } }

    /// The sample with one more member.
    func with(_ member: String) -> String { "{\(member)," + sample.dropFirst() }
  }

  @Test(arguments: Decoder.allCases)
  func `A document cut off after any byte is refused with the place`(decoder: Decoder) {
    let bytes = Data(decoder.sample.utf8)
    #expect(decoder.failure(bytes) == nil)
    for count in 0..<bytes.count {
      let error = decoder.failure(bytes.prefix(count))
      // Half of a character is no UTF-8, whatever follows.
      #expect(error?.reason == .truncated || error?.expected == "UTF-8", "\(count) of \(bytes.count)")
      #expect(error?.location.contains("byte ") == true)
      #expect(error?.offset.map { $0 <= count } ?? true)
    }
  }

  @Test(arguments: LongTests.some(Decoder.allCases, every: 3))
  func `Input with any byte changed decodes or is refused`(decoder: Decoder) {
    let bytes = Data(decoder.sample.utf8)
    for index in bytes.indices {
      for value: UInt8 in [0x00, 0x22, 0x2D, 0x39, 0x5B, 0x5C, 0x7B, 0xFF] {
        var changed = bytes
        changed[index] = value
        // Both results are right. The helper records an error of another type.
        let error = decoder.failure(changed)
        #expect(error.map { !$0.location.isEmpty && !$0.expected.isEmpty } ?? true)
      }
    }
  }

  @Test(arguments: Decoder.allCases)
  func `10,000 levels are refused at the place where they become too deep`(decoder: Decoder) {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let deep = String(repeating: open, count: 10_000) + "1" + String(repeating: close, count: 10_000)
      #expect(decoder.failure(decoder.with("\"unknown\":\(deep)"))?.reason == .tooDeep)
      #expect(decoder.failure(deep)?.reason == .tooDeep)
    }
  }

  @Test(arguments: Decoder.allCases)
  func `50 MB of zeros, and a megabyte of them, are refused`(decoder: Decoder) {
    #expect(decoder.failure(Data(count: 50_000_000))?.reason == .tooLarge)
    #expect(decoder.failure(Data(count: 1_000_000))?.reason == .malformed)
  }

  @Test func `A JWS of more than 16 MiB is refused`() {
    let text = "e30.e30." + String(repeating: "A", count: CompactJWS.maximumByteCount)
    #expect(decodingFailure { _ = try CompactJWS(text) }?.reason == .tooLarge)
    #expect(decodingFailure { _ = try SignedTransaction(jws: text) }?.reason == .tooLarge)
  }

  @Test(arguments: LongTests.some(Decoder.allCases, every: 10))
  func `Values that would take many times the input's bytes are refused before they are allocated`(
    decoder: Decoder
  ) {
    // The allowance lets small texts pass, whatever is in them; these have 400 KB and more.
    let count = 200_000
    for (open, item, close) in [
      ("[", "0,", "0]"), ("[", #"{"a":0},"#, "0]"), ("[", "[],", "0]"), ("[", "\"\",", "0]"),
    ] {
      let many = open + String(repeating: item, count: count) + close
      let error = decoder.failure(decoder.with("\"unknown\":\(many)"))
      // A request does not keep unknown fields.
      #expect(error?.reason == (decoder == .request ? nil : .tooLarge), "\(item)")
    }
    let members = (0..<count).map { "\"m\($0)\":0" }.joined(separator: ",")
    #expect(decoder.failure(decoder.with(members))?.reason == .tooLarge)
  }

  @Test(.enabled(if: LongTests.areOn))
  func `Many tiny entries are refused, many entries of the store are not`() throws {
    let small = String(repeating: #"{"transaction_id":"1","product_id":"p"},"#, count: 100_000)
    let full = String(
      repeating: #"{"transaction_id":"1000000123456789","product_id":"com.example.monthly","#
        + #""purchase_date":"2019-08-21 08:49:19 Etc/GMT","purchase_date_ms":"1566377359000","#
        + #""original_purchase_date":"2019-08-21 08:49:19 Etc/GMT","quantity":"1","is_trial_period":"false"},"#,
      count: 5_000)
    let last = #"{"transaction_id":"1","product_id":"p"}"#
    func answer(_ items: String) -> String { #"{"latest_receipt_info":[\#(items)\#(last)]}"# }
    let error = Decoder.response.failure(answer(small))
    #expect(error?.reason == .tooLarge && error?.location == "latest_receipt_info")
    let response = try VerifyReceiptResponse(json: Data(answer(full).utf8))
    #expect(response.latestTransactions.count == 5_001)
  }

  @Test(arguments: Decoder.allCases)
  func `Of equal names the last counts, even if one is written with escapes`(decoder: Decoder) throws {
    for name in ["\"status\"", #""st\u0061tus""#] {
      let response = try VerifyReceiptResponse(json: Data(#"{"status":[],\#(name):21007}"#.utf8))
      #expect(response.status == .sandboxReceipt && response.unknownFields.isEmpty)
    }
    #expect(decoder.failure(decoder.with("\"twice\":[],\"twice\":1")) == nil)
  }

  @Test(arguments: Decoder.allCases)
  func `An escaped NUL in a string is kept, and bytes that are not UTF-8 are refused`(decoder: Decoder) {
    #expect(decoder.failure(decoder.with(#""a\u0000b":"\u0000""#)) == nil)
    #expect(decoder.failure(decoder.with("\"a\":\"\0\""))?.reason == .malformed)
    var bytes = Data(decoder.with("\"a\":\"?\"").utf8)
    bytes[6] = 0xC3
    #expect(decoder.failure(bytes)?.expected == "UTF-8")
  }

  @Test(arguments: Decoder.allCases)
  func `Unknown numbers of any size are kept unchanged`(decoder: Decoder) throws {
    let number = String(repeating: "9", count: 400)
    #expect(decoder.failure(decoder.with("\"a\":\(number),\"b\":-1e999,\"c\":1e-999")) == nil)
    let transaction = try SignedTransaction(payload: Data(Decoder.transaction.with("\"a\":\(number)").utf8))
    #expect(transaction.unknownFields["a"] == .number(number))
  }

  @Test func `Known numbers out of range are errors with their field`() {
    for (member, location) in [
      (#""status":1e999"#, "status"), (#""status":9223372036854775808"#, "status"),
      (#""status":9007199254740993.0"#, "status"), (#""status":1.5"#, "status"),
      (#""auto_renew_status":-1e19"#, "auto_renew_status"),
      (#""expiration_intent":"99999999999999999999""#, "expiration_intent"),
      (#""receipt":{"in_app":[],"download_id":18446744073709551616}"#, "receipt.download_id"),
      (#""receipt":{"in_app":[],"request_date_ms":1e300}"#, "receipt.request_date_ms"),
    ] {
      let error = decodingFailure { _ = try VerifyReceiptResponse(json: Data("{\(member)}".utf8)) }
      #expect(error?.location == location && error?.reason == .malformed)
    }
  }

  @Test func `A number with a fraction of zeros or an exponent is read as a whole number`() throws {
    let response = try VerifyReceiptResponse(
      json: Data(#"{"status":2.1007e4,"receipt":{"in_app":[],"download_id":5.0,"adam_id":-0.0}}"#.utf8))
    guard case .app(let receipt) = response.receipt else {
      Issue.record("no app receipt")
      return
    }
    #expect(response.status == .sandboxReceipt && receipt.downloadID == 5 && receipt.appID == 0)
  }

  @Test func `Empty dates, objects and texts count as absent`() throws {
    let item =
      #"{"transaction_id":"1","product_id":"p","expires_date_ms":"","cancellation_date":"","quantity":""}"#
    let response = try VerifyReceiptResponse(
      json: Data(
        #"{"environment":"","latest_receipt_info":[\#(item)],"latest_expired_receipt_info":{},"latest_receipt":""}"#
          .utf8))
    #expect(response.environment == nil && response.latestReceipt == nil)
    #expect(response.latestExpiredTransactions.isEmpty)
    let transaction = try #require(response.latestTransactions.first)
    #expect(
      transaction.expiresDate == nil && transaction.cancellationDate == nil && transaction.quantity == 1)
    #expect(transaction.unknownFields.isEmpty)
  }

  @Test func `Transactions with equal ids are all listed`() throws {
    let item = #"{"transaction_id":"1","product_id":"p","expires_date_ms":"5"}"#
    let response = try VerifyReceiptResponse(
      json: Data(#"{"receipt":{"in_app":[\#(item),\#(item)]},"latest_receipt_info":[\#(item)]}"#.utf8))
    #expect(response.transactions.map(\.transactionID) == ["1", "1", "1"])
    #expect(SubscriptionFacts(response).periods.count == 1)
  }

  @Test(.enabled(if: LongTests.areOn))
  func `Many renewals without an original id among many periods are matched fast`() throws {
    let filler =
      #""is_trial_period":"false","is_in_intro_offer_period":"false","purchase_date":"2019-08-21 08:49:19 Etc/GMT""#
    let items = (0..<5_000).map {
      #"{"transaction_id":"\#($0)","product_id":"p\#($0)","expires_date_ms":"5",\#(filler)}"#
    }
    let renewals = (0..<5_000).map {
      #"{"product_id":"p\#($0)","auto_renew_status":"1","expiration_intent":"1","is_in_billing_retry_period":"1"}"#
    }
    let response = try VerifyReceiptResponse(
      json: Data(
        #"{"latest_receipt_info":[\#(items.joined(separator: ","))],"pending_renewal_info":[\#(renewals.joined(separator: ","))]}"#
          .utf8))
    #expect(SubscriptionFacts(response).renewals.count == 5_000)
  }
}
