import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

@Suite struct JSONValueTests {
  @Test(
    arguments: [
      ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-0", 0), ("\t-12\r\n", -12),
      ("9223372036854775807", 9_223_372_036_854_775_807), ("-9223372036854775808", .integer(.min)),
      ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775808", .number("9223372036854775808")),
      ("1697679936049.7297", .number("1697679936049.7297")), ("1e3", .number("1e3")),
      ("-0.5E-7", .number("-0.5E-7")), ("1e999", .number("1e999")), ("\"\"", ""), ("[]", []), ("{}", [:]),
      (#"[1,"a",[null]]"#, [1, "a", [.null]]), (#"{"a":{"b":[]},"c":true}"#, ["a": ["b": []], "c": true]),
      (#"{"a":1,"a":2}"#, ["a": 2]), ("\u{FEFF}1", 1), (#"{"":""}"#, ["": ""]),
    ] as [(String, JSONValue)])
  func `A text is read exactly`(text: String, value: JSONValue) throws {
    #expect(try JSONValue(json: text) == value)
    #expect(try JSONValue(json: Data(text.utf8)) == value)
    #expect(try JSONValue(json: value.text) == value)
  }

  @Test(arguments: [
    (#""a\/b""#, "a/b"), (#""\"\\\b\f\n\r\t""#, "\"\\\u{8}\u{c}\n\r\t"), (#""\u00e9\u20AC""#, "é€"),
    (#""\ud83d\ude00""#, "😀"), (#""\u0000x""#, "\0x"), (#""é😀""#, "é😀"), ("\"\u{7f}\"", "\u{7f}"),
    (#""x\u0041y\u0042""#, "xAyB"),
  ])
  func `Escapes are decoded to their characters`(text: String, string: String) throws {
    #expect(try JSONValue(json: text) == .string(string))
    #expect(try JSONValue(json: JSONValue.string(string).text) == .string(string))
  }

  @Test(arguments: [
    "", " ", "nul", "True", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "'a'", "\"a",
    "\"a\nb\"", "\"\u{0}\"", #""\x""#, #""\u12""#, #""\ud83d""#, #""\ude00""#, #""\ud83d\u0041""#,
    #""\ud83dx""#, "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "{1:2}", #"{"a"}"#, #"{"a":}"#,
    #"{"a":1,}"#, #"{"a" 1}"#, #"{a:1}"#, "1 2", "[]]", "{}}", "// x\n1", "\u{0}", "nullx", "--1", "\"\\",
    "\"\\u",
  ])
  func `Text that is not JSON is refused with the offset`(text: String) {
    let error = decodingFailure { _ = try JSONValue(json: text) }
    #expect(error?.location.hasPrefix("byte ") == true)
  }

  @Test(
    arguments: [
      ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0xC3], 1), ([0x80], 0),
      ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
      ([0x22, 0xE0, 0x9F, 0xBF, 0x22], 1), ([0x22, 0xF0, 0x8F, 0xBF, 0xBF, 0x22], 1), ([0xF5, 0, 0, 0], 0),
      ([0x22, 0x61, 0xE2, 0x82, 0x22], 2), ([0xFF, 0xFE, 0x31, 0x00], 0),
    ] as [([UInt8], Int)])
  func `Text that is not UTF-8 is refused at its first invalid byte`(bytes: [UInt8], offset: Int) {
    let error = decodingFailure { _ = try JSONValue(json: Data(bytes)) }
    #expect(error == ReceiptDecodingError(expected: "UTF-8", location: "byte \(offset)", offset: offset))
  }

  @Test func `Every character in UTF-8 is read`() throws {
    for first in stride(from: UInt32(0x20), to: 0x110000, by: 97) {
      guard let scalar = Unicode.Scalar(first), scalar != "\"", scalar != "\\" else { continue }
      #expect(try JSONValue(json: "\"\(Character(scalar))\"").string == String(Character(scalar)))
    }
  }

  @Test func `64 levels are read, one more is refused`() throws {
    func nested(_ count: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
    }
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      _ = try JSONValue(json: nested(JSONValue.maximumDepth, open, close))
      let error = decodingFailure {
        _ = try JSONValue(json: nested(JSONValue.maximumDepth + 1, open, close))
      }
      #expect(error?.expected == "at most 64 levels of nesting")
    }
  }

  @Test(arguments: ["[", #"{"a":"#, "[{\"a\":", "-", "\"", "1", " ", "\\u0000"])
  func `A megabyte of one repeated text does not overflow the stack`(unit: String) {
    let text = String(repeating: unit, count: (1 << 20) / unit.utf8.count)
    // Both results are right. The helper records an error of another type.
    _ = decodingFailure { _ = try JSONValue(json: text) }
    _ = decodingFailure { _ = try VerifyReceiptResponse(json: Data(#"{"status":\#(text)}"#.utf8)) }
  }

  @Test func `An impossible number is written as null`() {
    #expect(JSONValue.array([.number("1,2"), .number(""), .number("1e5")]).text == "[null,null,1e5]")
  }

  @Test func `Equal values have equal texts`() {
    let value: JSONValue = ["b": [1, true, .null], "a": "x/\"\u{1}"]
    #expect(value.text == #"{"a":"x/\"\u0001","b":[1,true,null]}"#)
    #expect(value["b"]?.array?.count == 3)
    #expect(value.object?.count == 2)
    #expect(value["c"] == nil && value.array == nil && value.string == nil && value["b"]?["x"] == nil)
  }
}
