import AppStoreReceipts
import PurchaseSyncTesting
import TestSupport
import Testing

@Suite struct HostileTransactionReceiptTests {
  private static let receipt = ForgedTransactionReceipt(
    bundleID: "com.example.app", transactionID: "1000", productID: "yearly\"é", expires: 1_448_346_881_000)

  private func failure(_ text: String) -> ReceiptDecodingError? {
    decodingFailure { _ = try TransactionReceipt(decoding: Array(text.utf8)) }
  }

  /// The error of an inner list, in base64 inside an outer one.
  private func innerFailure(_ text: String) -> ReceiptDecodingError? {
    failure("{purchase-info=\"\(ForgedTransactionReceipt.base64(Array(text.utf8)))\"}")
  }

  @Test(arguments: ForgedTransactionReceipt.Form.allCases)
  func `A receipt cut off after any byte is refused`(form: ForgedTransactionReceipt.Form) throws {
    var bytes = Self.receipt.bytes(form)
    // Trailing white space may be cut off.
    while bytes.last == 0x0A { bytes.removeLast() }
    _ = try TransactionReceipt(decoding: bytes)
    for count in 0..<bytes.count {
      let error = decodingFailure { _ = try TransactionReceipt(decoding: Array(bytes[..<count])) }
      #expect(error != nil, "\(count) of \(bytes.count)")
      #expect(error?.offset.map { $0 <= count } ?? true)
    }
  }

  @Test(arguments: ForgedTransactionReceipt.Form.allCases)
  func `A receipt with any byte of either list changed decodes or is refused`(
    form: ForgedTransactionReceipt.Form
  ) {
    let receipt = ForgedTransactionReceipt(
      purchaseInfo: [.init("transaction-id", "1é"), .init("quantity", "2"), .init("a", "\"&")],
      outer: [.init("signature", "AQID")])
    let outer = receipt.bytes(form)
    let inner = ForgedTransactionReceipt.list(receipt.purchaseInfo, form)
    for value: UInt8 in [0x00, 0x22, 0x3C, 0x5C, 0xDF] {
      for index in outer.indices {
        var changed = outer
        changed[index] = value
        // Both results are right. The helper records an error of another type.
        _ = decodingFailure { _ = try TransactionReceipt(decoding: changed) }
      }
      for index in inner.indices {
        var changed = inner
        changed[index] = value
        let text = "{purchase-info=\"\(ForgedTransactionReceipt.base64(changed))\"}"
        _ = failure(text)
      }
    }
  }

  @Test(arguments: [
    ("", "a property list: bplist, < or {"), ("()", "a property list: bplist, < or {"), ("{", "a key"),
    ("{a", "="), ("{a=", "a value"), ("{a=b c=d}", ";"), ("{\"a", "the end of a string"),
    ("{a=\"\\", "the end of a string"), ("{a=<0>}", "an even number of digits"),
    ("{a=<0g>}", "data in hexadecimal"), ("{a=<00", ">"), ("{a=((((}", "the end of a list or dictionary"),
    ("{/*", "*/"), ("{a=\"\\200\"}", "an octal escape of ASCII"), ("{a=\"\\U12\"}", "\\Uhhhh"),
    ("{a=\"\\Ud83d\"}", "a character"), ("{a=\"\\000\"}", "text without NUL"),
    ("{a=\"\0\"}", "text without NUL"),
    ("{} x", "nothing after the property list"), ("<plist>", "<dict>"), ("<a>", "<plist>"),
    ("<plist><dict>", "<key> or </dict>"), ("<plist><dict><key>a", "</"),
    ("<plist><dict><key>a</key>", "a value"), ("<plist><dict></dict>", "</plist>"),
    ("<plist><dict><key>&x;</key>", "an entity of XML"),
    ("<plist><dict><key>&#xD800;</key>", "an entity of XML"),
    ("<plist><dict><key>&", "</"),
    ("<!DOCTYPE a [<!ENTITY b \"c\">]><plist>", "a document type without declarations"),
    ("<plist><dict><key>a</key><data>A</data></dict></plist>", "base64"),
    ("<plist><dict><key>a</key><array><b></dict></plist>", "</array>"),
    ("<plist><dict/></plist><a>", "nothing after </plist>"), ("bplist00", "a trailer of 32 bytes"),
    ("{}", "purchase-info"), ("{purchase-info=()}", "base64"), ("{purchase-info=\"=\"}", "base64"),
  ])
  func `A damaged outer list is refused with the expected value`(text: String, expected: String) {
    let error = failure(text)
    #expect(error?.expected == expected)
    #expect(error?.location.hasPrefix("byte ") == true || error?.location.contains("purchase-info") == true)
  }

  @Test(arguments: [
    ("{}", "transaction-id in purchase-info"), ("{transaction-id=\"\"}", "transaction-id in purchase-info"),
    ("{transaction-id=(1)}", "transaction-id in purchase-info"),
    ("{transaction-id=1;quantity=x}", "quantity in purchase-info"),
    ("{transaction-id=1;quantity=9223372036854775808}", "quantity in purchase-info"),
    ("{transaction-id=1;purchase-date-ms=1.5}", "purchase-date-ms in purchase-info"),
    ("{transaction-id=1;expires-date=soon}", "expires-date in purchase-info"),
    (
      "{transaction-id=1;purchase-date=\"2015-11-17 20:34:41 America/Los_Angeles\"}",
      "purchase-date in purchase-info"
    ),
    ("{transaction-id", "byte 15 of purchase-info"),
  ])
  func `A damaged inner list is refused with its key or place`(text: String, location: String) {
    let error = innerFailure(text)
    #expect(error?.location == location)
    #expect(error?.offset == nil)
  }

  @Test func `Text that is not UTF-8 is refused`() {
    let bytes = Array("{a=\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
    let error = decodingFailure { _ = try TransactionReceipt(decoding: bytes) }
    #expect(error?.expected == "UTF-8" && error?.offset == 4)
  }

  @Test(.enabled(if: LongTests.areOn))
  func `10,000 levels are skipped, and a megabyte of brackets is refused`() throws {
    let info = ForgedTransactionReceipt.base64(Array("{transaction-id=1}".utf8))
    func nested(_ open: String, _ close: String) -> String {
      String(repeating: open, count: 10_000) + String(repeating: close, count: 10_000)
    }
    let text = "{purchase-info=\"\(info)\";a=\(nested("(", ")"))}"
    #expect(try TransactionReceipt(decoding: Array(text.utf8)).unknownOuterFields.map(\.key) == ["a"])
    let xml =
      "<plist><dict><key>purchase-info</key><data>\(info)</data><key>a</key>"
      + nested("<array>", "</array>") + "</dict></plist>"
    #expect(try TransactionReceipt(decoding: Array(xml.utf8)).unknownOuterFields.map(\.key) == ["a"])
    #expect(failure("{a=" + String(repeating: "(", count: 1_000_000))?.reason == .truncated)
    #expect(
      failure("<plist><dict><key>a</key>" + String(repeating: "<array>", count: 140_000))?.reason
        == .truncated)
    #expect(failure(String(repeating: "<!---->", count: 140_000)) != nil)
  }

  @Test func `50 MB of zeros, too many fields and repeated strings are refused`() {
    let zeros = Array(repeating: UInt8(0), count: 50_000_000)
    #expect(decodingFailure { _ = try TransactionReceipt(decoding: zeros) }?.reason == .tooLarge)
    let largest = Array(zeros[..<TransactionReceipt.maximumByteCount])
    #expect(decodingFailure { _ = try TransactionReceipt(decoding: largest) }?.reason == .malformed)
    for form in ForgedTransactionReceipt.Form.allCases {
      let many = ForgedTransactionReceipt.list((0..<257).map { .init("k\($0)", "") }, form)
      #expect(decodingFailure { _ = try TransactionReceipt(decoding: many) }?.reason == .tooLarge)
    }
    let repeated = repeatingList(value: 1_000, count: 200)
    #expect(decodingFailure { _ = try TransactionReceipt(decoding: repeated) }?.reason == .tooLarge)
  }

  /// A binary list whose values are all references to one long string.
  private func repeatingList(value length: Int, count: Int) -> [UInt8] {
    var fields = (0..<count).map { ForgedTransactionReceipt.Field("k\($0)", "") }
    fields[0].text = String(repeating: "a", count: length)
    var bytes = ForgedTransactionReceipt.list(fields, .binary)
    // Header 8, marker and count 6, references of two bytes: first the keys, then the values.
    let values = 14 + 2 * count
    for index in 1..<count {
      bytes[values + 2 * index] = bytes[values]
      bytes[values + 2 * index + 1] = bytes[values + 1]
    }
    return bytes
  }

  @Test func `Binary lists with wrong numbers are refused`() {
    let good = Self.receipt.bytes(.binary)
    let trailer = good.count - 32
    for offset in [6, 7] + Array(8..<32) {
      for value: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
        var bytes = good
        bytes[trailer + offset] = value
        // The low bytes may be right by chance. The helper records an error of another type.
        _ = decodingFailure { _ = try TransactionReceipt(decoding: bytes) }
      }
    }
    var cyclic = good
    for index in 14..<40 { cyclic[index] = 0 }
    #expect(decodingFailure { _ = try TransactionReceipt(decoding: cyclic) } != nil)
  }
}
