import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseSyncTesting
import Testing

/// What an HTTP client, a command line, a log viewer, a database and a debugger make of a document: the error says what it is.
@Suite struct ForeignTextTests {
  /// A receipt whose base64 contains `+`.
  private static let receipt: [UInt8] = {
    var forged = ForgedAppReceipt(bundleID: "b")
    forged.signature = Array(repeating: 0xFB, count: 60)
    return forged.bytes()
  }()
  private static let base64 = Data(receipt).base64EncodedString()
  private static let list = Array("{\"purchase-info\"=\"e30=\";}".utf8)

  private static func hex(_ bytes: [UInt8], separator: String = "", every count: Int = 4) -> String {
    bytes.enumerated().map { index, octet in
      let digits = String(octet, radix: 16)
      return (index > 0 && index % count == 0 ? separator : "") + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  private func found(_ text: String) -> String {
    decodingFailure { _ = try StoreDocument(decoding: text) }?.found ?? "nothing"
  }

  @Test(arguments: [
    receipt, list, Array(base64.utf8), Array("{\"status\":21007}".utf8), Array("<plist><dict/></plist>".utf8),
    Array(jws(payload: "{}").utf8), Array("[{\"status\":0}]".utf8), Array("bplist00----".utf8),
    // A short SEQUENCE.
    [0x30, 0x5E, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7],
  ])
  func `Hexadecimal digits are recognised in each spelling`(bytes: [UInt8]) {
    let plain = Self.hex(bytes)
    for text in [
      plain, plain.uppercased(), "0x" + plain, "\\x" + plain, "x'" + plain + "'",
      "<" + Self.hex(bytes, separator: " ") + ">", Self.hex(bytes, separator: "\n", every: 30),
      Self.hex(bytes, separator: ":", every: 1),
    ] {
      #expect(found(text).contains("hexadecimal") || found(text).contains("database"), "\(text.prefix(20))")
    }
  }

  @Test func `Base64 in which a form has decoded + to spaces says so`() throws {
    #expect(Self.base64.contains("+"))
    let lost = Self.base64.replacing("+", with: " ")
    let lines = Data(Self.receipt).base64EncodedString(options: .lineLength76Characters)
      .replacing("+", with: " ")
    for text in [lost, lines, "\n" + lost + "\n"] {
      let error = try #require(decodingFailure { _ = try StoreDocument(decoding: text) })
      #expect(error.found?.contains("spaces in place of +") == true)
      #expect(error.offset.map { Array(text.utf8)[$0] } == 0x20)
    }
    let request = try StoreDocument(decoding: #"{"receipt-data":"\#(lost)"}"#)
    #expect(request.undecodable.first?.found?.contains("spaces in place of +") == true)
    #expect(request.undecodable.first?.location.hasSuffix("receipt-data") == true)
  }

  @Test func `Spaces in place of line breaks are read, and other damage is not blamed on them`() throws {
    let lines = Data(Self.receipt).base64EncodedString(options: .lineLength64Characters)
    let shell = lines.replacing("\r\n", with: " ").replacing("\n", with: " ")
    #expect(try StoreDocument(decoding: shell).kind == .appReceipt)
    let cut = String(shell.prefix(200))
    #expect(!found(cut).contains("+"))
  }

  @Test(arguments: [
    ("receipt-data=\(base64)", "a field of a form"),
    ("data:application/octet-stream;base64,\(base64)", "a data URL"),
    (base64.replacing("+", with: "%2B"), "percent-encoded"), ("%7B%22status%22%3A0%7D", "percent-encoded"),
    ("HTTP/1.1 200 OK\r\n\r\n{\"status\":0}", "an answer of HTTP"),
    ("POST /verifyReceipt HTTP/1.1\r\n\r\n{}", "a request of HTTP"),
    ("{\\\"status\\\":0}", "JSON with escaped"), ("{&quot;status&quot;:0}", "JSON with entities"),
    ("&lt;plist&gt;", "XML with entities"), ("{length = 5, bytes = 0x3082 }", "the description of Data"),
    ("{\"type\":\"Buffer\",\"data\":[48,130]}", "a Buffer"), ("[48, 130, 1]", "a JSON array of numbers"),
    ("Optional(\"\(base64)\")", "a printed Optional"), ("b'\(base64)'", "bytes as Python"),
    ("'\(base64)'", "text in single quotes"), ("[object Object]", "an object as JavaScript"),
    ("00000000: 7b22 7374  {\"st", "a dump in hexadecimal"), ("0000000 227b 7473", "a dump in hexadecimal"),
    ("\(base64.prefix(80))...", "text that a log viewer has cut"),
    ("\(base64.prefix(80))…", "text that a log viewer"),
    ("\(base64)&password=x", "entities of HTML, or several"), ("TUlJCg==TUlJ", "base64 that goes on"),
    ("{\"status\":0}\n{\"status\":0}", "another document"), ("MIIB\\nMIIB", "escapes of a string"),
    ("nil", "the word nil"), ("(null)", "the word (null)"), ("undefined", "the word undefined"),
    ("{\"errorCode\":4040010}", "an error of the App Store Server API"),
    ("{\"data\":\"MII\"}", "an object without"),
  ])
  func `A frame or an encoding around a document is named`(text: String, words: String) {
    #expect(found(text).hasPrefix(words), "\(found(text))")
  }

  @Test func `A binary document may end in any bytes`() throws {
    // Bytes after the receipt are ignored.
    #expect(try StoreDocument(decoding: Self.receipt + Array("...".utf8)).kind == .appReceipt)
  }

  @Test(arguments: [
    "receipt-data=\(base64)&password=TOPSECRET", "HTTP/1.1 200 TOPSECRET", "'TOPSECRET'", "TOPSECRET...",
  ])
  func `No message shows a part of the text`(text: String) throws {
    let error = try #require(decodingFailure { _ = try StoreDocument(decoding: text) })
    #expect(!"\(error)".contains("TOPSECRET"))
    #expect(!"\(error)".contains(Self.base64.prefix(20)))
  }
}
