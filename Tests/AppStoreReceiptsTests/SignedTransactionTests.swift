import AppStoreReceipts
import Foundation
import Testing

@Suite struct SignedTransactionTests {
  @Test func `A transaction with every field is read`() throws {
    let transaction = try SignedTransaction(
      jws: jws(
        payload: """
          {"transactionId":"2000000123456789","originalTransactionId":"2000000123456700",
           "bundleId":"com.example.app","productId":"com.example.coins","quantity":3,
           "purchaseDate":1700000000123,"expiresDate":1702592000456,"revocationDate":1701000000789,
           "appAccountToken":"9F2B6D1E-0C4A-4B7E-8D55-1B2C3D4E5F60","environment":"Sandbox",
           "type":"Consumable","unknownLater":{"deep":[1,2,null]}}
          """))
    #expect(transaction.transactionID == "2000000123456789")
    #expect(transaction.originalTransactionID == "2000000123456700")
    #expect(transaction.bundleID == "com.example.app")
    #expect(transaction.productID == "com.example.coins")
    #expect(transaction.quantity == 3)
    #expect(transaction.purchaseDate == 1_700_000_000_123)
    #expect(transaction.expiresDate == 1_702_592_000_456)
    #expect(transaction.revocationDate == 1_701_000_000_789)
    #expect(transaction.appAccountToken == "9F2B6D1E-0C4A-4B7E-8D55-1B2C3D4E5F60")
    #expect(transaction.environment == .sandbox)
  }

  @Test(arguments: [
    #"{"transactionId":"7","productId":"p","purchaseDate":1}"#,
    #"""
    {"transactionId":"7","productId":"p","purchaseDate":1,"originalTransactionId":null,"bundleId":null,
     "quantity":null,"expiresDate":null,"revocationDate":null,"appAccountToken":null,"environment":null}
    """#,
  ])
  func `An absent field and null have the same default`(payload: String) throws {
    let transaction = try SignedTransaction(jws: jws(payload: payload))
    #expect(transaction.originalTransactionID == "7")
    #expect(transaction.bundleID == nil)
    #expect(transaction.quantity == 1)
    #expect(transaction.expiresDate == nil)
    #expect(transaction.revocationDate == nil)
    #expect(transaction.appAccountToken == nil)
    #expect(transaction.environment == .production)
  }

  @Test(
    arguments: [
      ("1700000000123.456", 1_700_000_000_123), ("1700000000123.999", 1_700_000_000_123),
      ("1.7e12", 1_700_000_000_000), ("0", 0), ("-0.5", 0), ("0.999", 0),
      // 1 January of the year 1, and the year 9999.
      ("-62135596800000", -62_135_596_800_000), ("-62135596800000.75", -62_135_596_800_000),
      ("253402300799999", 253_402_300_799_999),
    ] as [(String, Int64)])
  func `A date keeps its milliseconds and loses the fraction`(number: String, expected: Int64) throws {
    let transaction = try decode(date: number)
    #expect(transaction.purchaseDate == expected)
    #expect(transaction.expiresDate == expected)
    #expect(transaction.revocationDate == expected)
  }

  @Test(arguments: ["1e300", "-1e300", "9223372036854775808", "1e19", "-1e19"])
  func `A date beyond 64 bits is refused and named, and does not trap`(number: String) throws {
    let error = decodingFailure { _ = try decode(date: number) }
    #expect(error?.location == "payload.purchaseDate")
    #expect(error?.expected == "milliseconds since 1970 within 64 bits")
  }

  @Test(arguments: ["1e999", #""1700000000123""#, "true", "{}", String(repeating: "9", count: 100_000)])
  func `A date that is not a number of milliseconds is refused`(number: String) {
    #expect(decodingFailure { _ = try decode(date: number) }?.location == "payload.purchaseDate")
  }

  @Test(arguments: ["NaN", "Infinity"])
  func `A date that is not JSON is refused`(number: String) {
    #expect(decodingFailure { _ = try decode(date: number) }?.location.hasPrefix("payload, byte ") == true)
  }

  @Test(arguments: [
    "0", "9007199254740993", "18446744073709551616", "340282366920938463463374607431768211457", "ab-c", "",
  ])
  func `An id is text and keeps every digit`(id: String) throws {
    let transaction = try SignedTransaction(
      jws: jws(payload: #"{"transactionId":"\#(id)","productId":"p","purchaseDate":1}"#))
    #expect(transaction.transactionID == id)
    #expect(transaction.originalTransactionID == id)
  }

  @Test(arguments: ["Production", "Sandbox", "Xcode", "LocalTesting", "Moon"])
  func `An environment keeps its name, known or not`(name: String) throws {
    let payload = #"{"transactionId":"1","productId":"p","purchaseDate":1,"environment":"\#(name)"}"#
    let environment = try SignedTransaction(jws: jws(payload: payload)).environment
    #expect(environment.rawValue == name)
    #expect(environment.reusesTransactionIDs == ["Xcode", "LocalTesting"].contains(name))
    let coded = try JSONEncoder().encode([environment])
    #expect(String(decoding: coded, as: UTF8.self) == #"["\#(name)"]"#)
  }

  @Test(arguments: [
    "", "not JSON", "[]", "null", "42", "{}", #"{"transactionId":"1"}"#,
    #"{"transactionId":"1","productId":"p"}"#, #"{"productId":"p","purchaseDate":1}"#,
    #"{"transactionId":1,"productId":"p","purchaseDate":1}"#,
    #"{"transactionId":null,"productId":"p","purchaseDate":1}"#,
    #"{"transactionId":"1","productId":"p","purchaseDate":1,"quantity":1e300}"#,
    #"{"transactionId":"1","productId":"p","purchaseDate":1,"quantity":1.5}"#,
    #"{"transactionId":"1","productId":"p","purchaseDate":1"#, "\u{0}", String(repeating: "[", count: 10_000),
  ])
  func `A payload of another kind is refused`(payload: String) {
    let error = decodingFailure { _ = try SignedTransaction(jws: jws(payload: payload)) }
    #expect(error?.location.hasPrefix("payload") == true)
  }

  @Test func `A payload that is not UTF-8 is refused`() {
    let bytes = Data([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])
    let error = decodingFailure { _ = try SignedTransaction(jws: "e30.\(Base64URL.encode(bytes)).e30") }
    #expect(error == ReceiptDecodingError(expected: "UTF-8", location: "payload, byte 2"))
  }

  @Test(arguments: [
    "SECRETPROOF", "SECRETPROOF.SECRETPROOF", "SECRETPROOF.SECRETPROOF.SECRETPROOF!", "SECRETPROOF!.e30.e30",
    "e30.SECRETPROOF.e30", jws(payload: "SECRETPROOF"), jws(payload: #"{"SECRETPROOF":1}"#),
    jws(payload: #"{"transactionId":"SECRETPROOF","productId":[],"purchaseDate":1}"#),
  ])
  func `The text of an error never contains the input`(text: String) throws {
    let error = try #require(decodingFailure { _ = try SignedTransaction(jws: text) })
    for description in ["\(error)", String(reflecting: error), error.expected, error.location] {
      #expect(!description.contains("SECRET"))
      #expect(!description.contains(base64URL("SECRETPROOF")))
    }
  }

  private func decode(date: String) throws -> SignedTransaction {
    try SignedTransaction(
      jws: jws(
        payload: """
          {"transactionId":"1","productId":"p","purchaseDate":\(date),"expiresDate":\(date),
           "revocationDate":\(date)}
          """))
  }
}
