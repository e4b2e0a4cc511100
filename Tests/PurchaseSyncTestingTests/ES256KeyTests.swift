import Testing

@testable import PurchaseSyncTesting

/// The published vectors of RFC 6979, A.2.5: P-256 with SHA-256.
struct ES256KeyTests {
  private let secret = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"
  private let publicPoint =
    "04" + "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
    + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"

  @Test func `a public key is the published one`() throws {
    let key = try #require(ES256Key(bytes: Self.bytes(secret)))
    #expect(key.publicKey.bytes == Self.bytes(publicPoint))
    #expect(ES256PublicKey(bytes: Self.bytes(publicPoint)) == key.publicKey)
  }

  @Test(arguments: [
    (
      "sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
      "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    ),
    (
      "test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
      "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
    ),
  ])
  func `a signature is the published one`(message: String, r: String, s: String) throws {
    let key = try #require(ES256Key(bytes: Self.bytes(secret)))
    let signature = key.signature(of: Array(message.utf8))
    #expect(signature == Self.bytes(r + s))
    #expect(key.publicKey.isSignature(signature, of: Array(message.utf8)))
    #expect(!key.publicKey.isSignature(signature, of: Array((message + " ").utf8)))
  }

  @Test(arguments: [0, 31, 32, 63])
  func `a changed byte of a signature is refused`(place: Int) throws {
    let key = try #require(ES256Key(bytes: Self.bytes(secret)))
    var signature = key.signature(of: [1, 2, 3])
    signature[place] ^= 1
    #expect(!key.publicKey.isSignature(signature, of: [1, 2, 3]))
  }

  @Test func `a key that is no number of the curve, or a point off the curve, is refused`() {
    #expect(ES256Key(bytes: [UInt8](repeating: 0, count: 32)) == nil)
    #expect(ES256Key(bytes: [UInt8](repeating: 0xFF, count: 32)) == nil)
    #expect(ES256Key(bytes: [1]) == nil)
    var point = Self.bytes(publicPoint)
    point[64] ^= 1
    #expect(ES256PublicKey(bytes: point) == nil)
  }

  static func bytes(_ digits: String) -> [UInt8] {
    let digits = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
