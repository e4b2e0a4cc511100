import AppStoreReceipts
import Foundation
import Testing

@Suite struct CompactJWSTests {
  @Test func `A JWS is split into three parts`() throws {
    let token = try CompactJWS("eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.-__-")
    #expect(token.header == Data(#"{"alg":"ES256"}"#.utf8))
    #expect(token.payload == Data(#"{"a":1}"#.utf8))
    #expect(token.signature == Data([0xfb, 0xff, 0xfe]))
  }

  @Test(arguments: [("", 1), ("e30", 1), ("e30.e30", 2), ("e30.e30.e30.e30", 4), ("...", 4), (".e30", 2)])
  func `A text with more or fewer than three parts is refused`(text: String, count: Int) {
    let error = decodingFailure { _ = try CompactJWS(text) }
    #expect(error?.expected == "three parts separated by dots, not \(count)")
    #expect(error?.location == "start")
  }

  @Test(arguments: [
    ("e3$0.e30.e30", "header"), ("e30.e3 0.e30", "payload"), ("e30.e30.e3+", "signature"),
    ("e30=.e30.e30", "header"), ("e30.e30.e30\n", "signature"), (" e30.e30.e30", "header"),
    ("e.e30.e30", "header"), ("e30.é30.e30", "payload"),
  ])
  func `A part that is not base64url is named`(text: String, part: String) {
    let error = decodingFailure { _ = try CompactJWS(text) }
    #expect(error?.expected == "base64url")
    #expect(error?.location == part)
  }

  @Test func `A text of a megabyte, all dots or one part, is refused`() {
    #expect(decodingFailure { _ = try CompactJWS(String(repeating: ".", count: 1 << 20)) } != nil)
    #expect(decodingFailure { _ = try CompactJWS(String(repeating: "A", count: 1 << 20)) } != nil)
  }

  @Test func `A random mutation decodes or is refused, and never traps`() {
    let good = Array(jws(payload: #"{"transactionId":"1","productId":"p","purchaseDate":1}"#).utf8)
    var state: UInt64 = 42
    func next() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33)
    }
    for _ in 0..<2_000 {
      var bytes = good
      for _ in 0...(next() % 4) {
        switch next() % 3 {
        case 0: bytes[next() % bytes.count] = UInt8(truncatingIfNeeded: next())
        case 1: bytes.remove(at: next() % bytes.count)
        default: bytes.insert(UInt8(truncatingIfNeeded: next()), at: next() % bytes.count)
        }
      }
      // Both results are right. The helper records an error of another type.
      _ = decodingFailure { _ = try SignedTransaction(jws: String(decoding: bytes, as: UTF8.self)) }
    }
  }
}
