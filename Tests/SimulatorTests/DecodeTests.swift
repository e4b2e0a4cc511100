import CommandLineTools
import CommandTestSupport
import Foundation
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import purchase_simulator

/// `decode`, by the real binary.
@Suite struct DecodeTests {
  private func decode(_ input: [UInt8], _ arguments: [String]) throws -> CommandResult {
    try TemporaryDirectory.with("DecodeTests") { directory in
      let path = directory + "/document"
      try Data(input).write(to: URL(fileURLWithPath: path))
      return try CommandResult(of: ["decode", path] + arguments)
    }
  }

  private var receipt: [UInt8] {
    var purchase = ForgedPurchase(
      transactionID: "1000000", originalTransactionID: "999", productID: "com.example.gold")
    purchase.expiresDate = "2024-02-02T03:04:05Z"
    purchase.cancellationDate = ""
    return ForgedAppReceipt(bundleID: "com.example", purchases: [purchase]).bytes()
  }

  @Test func `The summary has a table of the transactions and of the subscriptions`() throws {
    let result = try decode(receipt, ["--at", "2024-02-01T00:00:00Z"])
    #expect(result.status == 0 && result.errors.isEmpty)
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    #expect(lines.contains("kind appReceipt") && lines.contains("environment Sandbox"))
    #expect(lines.contains("1000000 999 com.example.gold 1 2024-01-02T03:04:05Z 2024-02-02T03:04:05Z -"))
    #expect(lines.contains("999 com.example.gold active 2024-02-02T03:04:05Z - - -"))
    #expect(lines.contains("decoded, not verified"))
  }

  @Test func `JSON has every key, and null for absent values`() throws {
    let result = try decode(receipt, ["--json", "--at", "2025-01-01T00:00:00Z"])
    let decoded = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let object = try #require(decoded as? [String: Any])
    let keys = ["bundleID", "details", "environment", "kind", "subscriptions", "transactions", "undecodable"]
    #expect(object.keys.sorted() == keys + ["unknownMembers", "wrappings"])
    #expect(object["kind"] as? String == "appReceipt" && object["bundleID"] as? String == "com.example")
    let transaction = try #require((object["transactions"] as? [[String: Any]])?.first)
    #expect(transaction["transactionID"] as? String == "1000000" && transaction["quantity"] as? Int == 1)
    #expect(transaction["cancellationDate"] is NSNull)
    let subscription = try #require((object["subscriptions"] as? [[String: Any]])?.first)
    #expect(subscription["state"] as? String == "lapsed" && subscription["isEntitled"] as? Bool == false)
  }

  @Test func `A directory is named as such`() throws {
    try TemporaryDirectory.with("DecodeTests") { directory in
      let result = try CommandResult(of: ["decode", directory])
      #expect(result.status == 66 && result.errors.contains("is a directory; decode takes one file"))
    }
  }

  @Test func `What was left out, and what is unknown, stands below the rest`() throws {
    let input = #"{"status":0,"in_app":[],"receipt":{"in_app":[{"product_id":"p"}],"colour":1}}"#
    let lines = try decode(Array(input.utf8), []).output.split(separator: "\n").map(String.init)
    #expect(
      lines.suffix(3) == [
        "inside: not decodable at receipt.in_app[0].transaction_id: expected a value",
        "unknown, not read: receipt.colour", "misplaced, not read: in_app (the store writes it in receipt)",
      ])
  }

  @Test func `The share of a partial refund stands next to its date, and in the JSON`() throws {
    let payload =
      #"{"transactionId":"7","productId":"p","purchaseDate":1,"revocationDate":1767311000000,"revocationType":"REFUND_PRORATED","revocationPercentage":33333}"#
    let text = try decode(Array(payload.utf8), []).output
    #expect(text.contains("2026-01-01T23:43:20Z (33.333 % refunded)"))
    let json = try decode(Array(payload.utf8), ["--json"]).output
    #expect(json.contains(#""revocationPercentage":33333"#))
    #expect(json.contains(#""revocationType":"REFUND_PRORATED""#))
  }

  @Test func `A misplaced member is named with both places`() throws {
    let lines = try decode(Array(#"{"status":0,"unified_receipt":{},"receipt":{"status":0}}"#.utf8), [])
      .output
      .split(separator: "\n")
    let start = "misplaced, not read: "
    #expect(
      lines.suffix(2) == [
        "\(start)receipt.status (the store writes it at the top)",
        "\(start)unified_receipt at the top (the store writes it at the top of a notification of version 1)",
      ])
  }

  @Test(arguments: [
    (BrokenAppReceipt.half.bytes, "byte"), (Array(#"{"status":[]}"#.utf8), "status"), ([], "start"),
    (Array("hello, world".utf8), "byte 5"),
  ])
  func `A file that cannot be decoded is 65, with the place`(input: [UInt8], place: String) throws {
    let result = try decode(input, ["--json"])
    #expect(result.status == 65 && result.errors.contains("not decodable at \(place)"))
    let decoded = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let object = try #require(decoded as? [String: Any])
    let error = try #require(object["error"] as? [String: Any])
    #expect(object["kind"] is NSNull && (error["location"] as? String)?.hasPrefix(place) == true)
  }

  @Test func `A receipt in base64 is read from a pipe`() throws {
    let input = Data(receipt).base64EncodedData(options: [.lineLength76Characters])
    let result = try CommandResult(of: ["decode", "-"], input: input)
    #expect(result.status == 0 && result.output.contains(/wrapped in +base64/))
  }

  @Test func `Control characters of a document do not reach the terminal`() throws {
    let purchase = ForgedPurchase(transactionID: "1\u{1B}[31m", productID: "p\nq")
    let result = try decode(ForgedAppReceipt(bundleID: "b", purchases: [purchase]).bytes(), [])
    #expect(result.status == 0 && !result.output.contains("\u{1B}") && result.output.contains("1?[31m"))
  }

  @Test func `A missing file is 66`() throws {
    let result = try CommandResult(of: ["decode", "/nowhere/at/all"])
    #expect(result.status == 66 && result.errors.contains("/nowhere/at/all cannot be read"))
  }

  @Test(arguments: [
    [], ["a", "b"], ["--jsn", "a"], ["a", "--at"], ["a", "--at", "noon"],
  ])
  func `Wrong usage is reported`(arguments: [String]) {
    guard case .failure(let error) = DecodeOptions.parse(arguments) else {
      Issue.record("\(arguments) was taken")
      return
    }
    #expect(error.message.contains("decode") || error.message.contains("--at"))
  }
}
