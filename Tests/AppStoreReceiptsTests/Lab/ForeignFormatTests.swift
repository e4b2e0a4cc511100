import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// What people hand over in place of a document: the error says what it is.
@Suite struct ForeignFormatTests {
  @Test(arguments: [
    ("e30.e30", "2 parts"), ("e30.e30.e30.e30", "4 parts"), ("[{}]", "a JSON array"),
    (" 17 ", "a JSON number"),
    ("null", "a JSON number, true, false or null"),
    ("-----BEGIN PKCS7-----\nMII\n-----END PKCS7-----", "PEM"),
    ("<!DOCTYPE html><html></html>", "an HTML page"), ("<html><body>", "an HTML page"),
    ("{'status': 0}", "single quotes"), ("{status: 0}", "a name without quotes"),
    ("3082" + String(repeating: "a0", count: 40), "hexadecimal digits"),
    ("Hello. World!", "text that is none"),
  ])
  func `The error says what was found`(text: String, found: String) {
    let error = decodingFailure { _ = try StoreDocument(decoding: text) }
    #expect(error?.found?.hasPrefix(found) == true, "\(error.map { "\($0)" } ?? "no error")")
  }

  @Test func `UTF-16, zeros and compressed files are named`() {
    for (bytes, found) in [
      ([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "UTF-16"), ([0x7B, 0, 0x7D, 0], "UTF-16"),
      ([0, 0x7B, 0, 0x7D], "UTF-16"),
      ([0x1F, 0x8B, 8, 0], "a gzip file"), ([UInt8](repeating: 0, count: 600_000), "600000 bytes of zeros"),
    ] as [([UInt8], String)] {
      let error = decodingFailure { _ = try StoreDocument(decoding: bytes) }
      #expect(error?.found?.hasPrefix(found) == true, "\(error.map { "\($0)" } ?? "no error")")
    }
  }

  @Test func `A JWS with line breaks is read, and its bytes are without them`() throws {
    let plain = DocumentSample.signedTransaction.bytes
    var broken: [UInt8] = [0x0A]
    for (index, octet) in plain.enumerated() { broken += index % 64 == 63 ? [octet, 0x0D, 0x0A] : [octet] }
    let document = try StoreDocument(decoding: broken)
    #expect(document.kind == .signedTransaction && document.bytes == plain)
  }

  @Test func `A JSON array with an error names its place`() {
    #expect(decodingFailure { _ = try StoreDocument(decoding: "[1,]") }?.location == "byte 3")
  }

  /// Each member of each sample is dropped, and given each other type: the result is a document or an error
  /// with a place, and no transaction appears that was not there.
  @Test(arguments: DocumentSample.allCases)
  func `A changed document decodes or is refused, and never invents a transaction`(sample: DocumentSample)
    throws
  {
    guard let value = try? JSONValue(json: Data(sample.bytes)), value.object != nil else { return }
    let others: [JSONValue?] = [nil, .null, true, 5, .number("1.5"), "", "x", [], [:], [["a": 1]]]
    for path in Self.paths(of: value) {
      for other in others {
        guard let changed = Self.changed(value, path[...], other) else { continue }
        let text = changed.text
        _ = decodingFailure {
          let document = try StoreDocument(decoding: text)
          let ids = Set(document.transactions.map(\.transactionID))
          #expect(ids.isSubset(of: ["", "1", "2", "5", "x", "1.5"]), "\(path) \(text)")
          for error in document.undecodable { #expect(!error.location.isEmpty && !error.expected.isEmpty) }
        }
      }
    }
  }

  private static func paths(of value: JSONValue) -> [[String]] {
    if let members = value.object {
      return members.flatMap { name, inner in [[name]] + paths(of: inner).map { [name] + $0 } }
    }
    return (value.array ?? []).enumerated().flatMap { index, inner in
      [["\(index)"]] + paths(of: inner).map { ["\(index)"] + $0 }
    }
  }

  private static func changed(_ value: JSONValue, _ path: ArraySlice<String>, _ other: JSONValue?)
    -> JSONValue?
  {
    guard let first = path.first else { return other }
    if var members = value.object {
      members[first] = members[first].flatMap { changed($0, path.dropFirst(), other) }
      return .object(members)
    }
    guard var items = value.array, let index = Int(first), items.indices.contains(index) else { return value }
    if let inner = changed(items[index], path.dropFirst(), other) {
      items[index] = inner
    } else {
      items.remove(at: index)
    }
    return .array(items)
  }
}
