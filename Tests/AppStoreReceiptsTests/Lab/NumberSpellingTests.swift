import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// Every spelling of a number, where an id, an amount, a share or a price is expected.
@Suite struct NumberSpellingTests {
  private static let damaged = [
    "1.0000002181476e15", "1.0e15", "1E15", "1e300", "1.5", "7.0", "-1", "-1.5", "-18446744073709551616",
  ]

  /// An item of a list with one id; the others are right.
  private static func item(_ name: String, _ id: String) -> String {
    let others = ["transaction_id", "original_transaction_id", "product_id"].filter { $0 != name }
    return "{" + (others.map { "\"\($0)\":\"\($0)\"" } + ["\"\(name)\":\(id)"]).joined(separator: ",") + "}"
  }

  private static let names = [
    "transaction_id", "original_transaction_id", "product_id", "web_order_line_item_id",
    "subscription_group_identifier", "app_account_token",
  ]

  @Test(arguments: names, damaged)
  func `A number that is no whole number is no id, and is named`(name: String, id: String) throws {
    let item = Self.item(name, id)
    for (text, place) in [
      (#"{"status":0,"latest_receipt_info":[\#(item)]}"#, "latest_receipt_info[0]"),
      (#"{"status":0,"receipt":{"in_app":[\#(item)]}}"#, "receipt.in_app[0]"),
      (#"{"notification_type":"CANCEL","latest_receipt_info":\#(item)}"#, "latest_receipt_info"),
    ] {
      let document = try StoreDocument(decoding: text)
      #expect(document.transactions.isEmpty)
      #expect(document.undecodable.map(\.location) == ["\(place).\(name)"])
      #expect(document.undecodable.map(\.found) == ["a number with a sign, a fraction or an exponent"])
    }
    let strict = decodingFailure { _ = try ReceiptTransaction(JSONValue(json: item)) }
    #expect(strict?.location == name)
  }

  @Test(arguments: [
    ("7", "7"), ("0", "0"), ("9007199254740993", "9007199254740993"),
    ("18446744073709551617", "18446744073709551617"), (#""7""#, "7"), (#""00""#, "00"),
    (#""1.0e15""#, "1.0e15"),
    (#""\u0037""#, "7"),
  ])
  func `A whole number and a text are ids with every digit`(id: String, read: String) throws {
    let transaction = try ReceiptTransaction(JSONValue(json: Self.item("transaction_id", id)))
    #expect(transaction.transactionID == read)
  }

  @Test(arguments: ["true", "[]", "{}", "[7]"])
  func `Another value is no id`(id: String) {
    let error = decodingFailure {
      _ = try ReceiptTransaction(JSONValue(json: Self.item("transaction_id", id)))
    }
    #expect(error?.location == "transaction_id")
  }

  @Test(arguments: [("-1", "-1"), ("1.5", "1.5"), ("1e300", "1e300")])
  func `A wrong quantity is named, and the transaction is not shown as one unit`(json: String, text: String)
    throws
  {
    let item = #"{"transaction_id":"7","product_id":"p","quantity":"#
    for quantity in [json, "\"\(text)\""] {
      let document = try StoreDocument(
        decoding: #"{"status":0,"latest_receipt_info":[\#(item)\#(quantity)}]}"#)
      #expect(document.transactions.isEmpty)
      #expect(document.undecodable.map(\.location) == ["latest_receipt_info[0].quantity"])
    }
    let payload = #"{"transactionId":"7","productId":"p","purchaseDate":1,"quantity":\#(json)}"#
    #expect(decodingFailure { _ = try SignedTransaction(jws: jws(payload: payload)) } != nil)
  }

  /// A field that decides nothing about the purchase, and an unreadable value.
  private static let descriptive = [
    ("price", "1234.5"), ("price", "1e300"), ("price", "\"free\""), ("currency", "5"), ("storefront", "[]"),
    ("offerType", "1.5"), ("offerIdentifier", "{}"), ("appTransactionId", "7"), ("commitmentInfo", "[]"),
    ("commitmentInfo", #"{"commitmentPrice":0.5}"#), ("revocationReason", "\"x\""),
    ("originalPurchaseDate", "\"?\""),
  ]

  @Test(arguments: descriptive)
  func `A field that decides nothing is named if it is unreadable, and the purchase is read`(
    name: String, value: String
  ) throws {
    let payload =
      #"{"transactionId":"7","productId":"p","purchaseDate":1,"revocationDate":5,"\#(name)":\#(value)}"#
    let signed = jws(payload: payload)
    let documents = [
      signed, payload, #"{"signedTransactions":["\#(signed)"]}"#,
      #"{"signedPayload":"\#(jws(payload: #"{"notificationType":"REFUND","data":{"signedTransactionInfo":"\#(signed)"}}"#))"}"#,
    ]
    for text in documents {
      let document = try StoreDocument(decoding: text)
      #expect(document.transactions.map(\.transactionID) == ["7"])
      #expect(document.transactions.map(\.cancellationDate) == [5])
      #expect(document.undecodable.count == 1)
      #expect(document.undecodable.first?.location.contains(name) == true)
    }
    let strict = try SignedTransaction(jws: signed)
    #expect(strict.revocationDate == 5)
    if !value.hasPrefix("{\"") { #expect(strict.unknownFields[name] == (try JSONValue(json: value))) }
  }

  @Test(arguments: [
    ("revocationDate", "\"?\""), ("expiresDate", "1e300"), ("quantity", "1.5"), ("isUpgraded", "\"maybe\""),
    ("inAppOwnershipType", "[]"), ("environment", "{}"), ("revocationPercentage", "-1"),
    ("revocationPercentage", "100001"), ("revocationPercentage", "0.5"), ("appAccountToken", "7"),
  ])
  func `A field that decides about the purchase refuses it, alone and inside`(name: String, value: String)
    throws
  {
    let payload = #"{"transactionId":"7","productId":"p","purchaseDate":1,"\#(name)":\#(value)}"#
    for text in [jws(payload: payload), payload, #"{"signedTransactions":["\#(jws(payload: payload))"]}"#] {
      let document = try StoreDocument(decoding: text)
      #expect(document.transactions.isEmpty)
      #expect(document.undecodable.count == 1)
      #expect(document.undecodable.first?.location.contains(name) == true)
    }
    #expect(decodingFailure { _ = try SignedTransaction(jws: jws(payload: payload)) } != nil)
  }

  @Test func `An unreadable offer says nothing about a free trial`() throws {
    let payload =
      #"{"transactionId":"7","productId":"p","purchaseDate":1,"expiresDate":9,"price":0,"offerType":[]}"#
    let facts = SubscriptionFacts(transactions: [try SignedTransaction(jws: jws(payload: payload))])
    #expect(facts.periods.map(\.isTrial) == [nil])
  }

  @Test func `A renewal price that is no whole number leaves the renewal readable`() throws {
    let payload = #"{"originalTransactionId":"7","autoRenewStatus":0,"renewalPrice":9.5}"#
    let renewal = try SignedRenewalInfo(jws: jws(payload: payload))
    #expect(renewal.willAutoRenew == false)
    #expect(renewal.renewalPrice == nil)
    #expect(renewal.unknownFields == ["renewalPrice": .number("9.5")])
  }
}
