import AppStoreDocuments
import AppStoreReceipts
import Foundation
import TestSupport
import Testing

/// Small documents that are valid JSON are never too large for the memory that may be used.
@Suite struct SmallDocumentTests {
  /// The densest texts of about this many bytes: each value takes the most memory for its bytes.
  private static func dense(_ count: Int) -> [String] {
    let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
    return ["{}", "[]", "0", #"{"":0}"#, #"{"a":{}}"#, "[0]", deep, "\"\""].map { item in
      let items = String(repeating: item + ",", count: count / (item.utf8.count + 1) - 1) + item
      return #"{"status":0,"x":["# + items + "]}"
    }
  }

  @Test(arguments: [1_000, 15_000, LongTests.areOn ? 140_000 : 40_000])
  func `Small valid JSON is never refused for its memory`(count: Int) throws {
    for text in Self.dense(count) {
      #expect(decodingFailure { _ = try StoreDocument(decoding: text) } == nil, "\(text.prefix(40))")
      #expect(decodingFailure { _ = try JSONValue(json: Data(text.utf8)) } == nil, "\(text.prefix(40))")
    }
  }

  @Test func `320 KB of the smallest objects are read`() {
    let text =
      #"{"status":0,"x":["# + Array(repeating: #"{"a":1}"#, count: 40_000).joined(separator: ",") + "]}"
    #expect(decodingFailure { _ = try StoreDocument(decoding: text) } == nil)
    #expect(decodingFailure { _ = try JSONValue(json: Data(text.utf8)) } == nil)
  }

  @Test func `140 KB of the smallest transactions are read`() throws {
    let item = #"{"transaction_id":"1","product_id":"p"}"#
    let items = Array(repeating: item, count: 3_500).joined(separator: ",")
    let response = try VerifyReceiptResponse(
      json: Data(#"{"status":0,"latest_receipt_info":[\#(items)]}"#.utf8))
    #expect(response.latestTransactions.count == 3_500)
  }
}
