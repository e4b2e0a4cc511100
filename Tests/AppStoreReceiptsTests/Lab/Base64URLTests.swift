import AppStoreReceipts
import Foundation
import Testing

@Suite struct Base64URLTests {
  /// RFC 4648 section 10, without padding, and bytes that need this alphabet's own two characters.
  private static let vectors: [(bytes: [UInt8], text: String)] = [
    ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
    (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy"),
    ([0xfb, 0xff, 0xfe], "-__-"), ([0xff], "_w"), ([0, 0, 0], "AAAA"),
  ]

  @Test(arguments: vectors)
  func `A known text decodes and encodes to its bytes`(bytes: [UInt8], text: String) {
    #expect(Base64URL.decode(text) == Data(bytes))
    #expect(Base64URL.encode(Data(bytes)) == text)
  }

  @Test func `Data of every length survives a round trip`() {
    for count in 0..<200 {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ count) })
      let text = Base64URL.encode(data)
      #expect(Base64URL.decode(text) == data)
      #expect(Base64URL.decode(text.dropLast(0)) == data)
      #expect(!text.contains { "+/=".contains($0) })
    }
  }

  @Test(arguments: ["Zg==", "Zm8=", "+/+/", "-_+/", "=", "====", "Zg=a"])
  func `The padding and the alphabet of plain base64 are refused`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test(arguments: [
    "Z", "Zm9vY", "Zm 9v", "Zm9v\n", "\r\nZm9v", "Zm9v.", "Zm9é", "Zm9v\0", "Zm9-\u{301}", "ＺｍＺｍ", "💶",
    "Zm,v",
  ])
  func `An impossible length or a foreign character is refused`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}
