import Testing

@testable import PurchaseSyncTesting

/// Published vectors, and one that OpenSSL made. Those of ECDSA are in `ES256KeyTests`.
struct SigningVectorTests {
  private static let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

  /// FIPS 180-4's examples, and the empty message.
  @Test(arguments: [
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (long, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  ])
  func `a hash is the published one`(message: String, digest: String) {
    #expect(SHA256.digest(Array(message.utf8)) == ES256KeyTests.bytes(digest))
  }

  @Test(arguments: [
    ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (long, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
  ])
  func `the name of a key is the published SHA-1`(message: String, digest: String) {
    #expect(SHA1.digest(Array(message.utf8)) == ES256KeyTests.bytes(digest))
  }

  /// A message of a whole block and its neighbours, for the padding: hashes by sha256sum.
  @Test(arguments: [
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
  ])
  func `a hash of a message that fills its block is the known one`(count: Int, digest: String) {
    #expect(
      SHA256.digest([UInt8](repeating: UInt8(ascii: "a"), count: count)) == ES256KeyTests.bytes(digest))
  }

  /// RFC 4231, cases 1, 2 and 6: a short key, a shorter one, and one that is longer than a block.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `a message's code is the published one`(key: [UInt8], message: String, code: String) {
    #expect(
      SHA256.authentication(of: Array(message.utf8), key: key) == ES256KeyTests.bytes(code))
  }

  /// `openssl dgst -sha256 -sign` with the key of the test receipts.
  @Test func `an RSA signature is that of OpenSSL`() {
    let made = [
      "115eb93ff57903548a57229c8e33a350d9b52cc6df02e7421064b73425cf6066d4365ff84b0e90e2d3cb3c765b357b76",
      "140e7b4d9031dba38c876432c78e9185fb0a2a69105bbe0f4caf2cc9696970e8d5b3228176f87a18d216a85c589a41c8",
      "caf80f4acc2e73f7a2ccf1e6903b33dbcb427d4cf5e5d80fea87ed8b2306af9b7870fda2941c76569c9b5e1c91ec58bc",
      "05c408dd88a539847e801ffc6511f70f03d36386fd29c6dff05f6b50ff19a8047ac616376a6f19d6ddbae5b6ba64c798",
      "8efb05f9bdd2070577f4aa6e7355d5ee32c77e1b424d0f3fa41ce514c44190d95f16473cb1fa2a3ba12db0025be1292a",
      "1203539b61647598f86e6132982be2bc",
    ]
    let signature = TestKeys.receipts.signature(of: Array("purchase-sync".utf8))
    #expect(signature == ES256KeyTests.bytes(made.joined()))
  }

  @Test func `arithmetic modulo a number is right where it borrows or carries`() {
    // The largest modulus of 128 bits that is odd, and small numbers around its ends.
    let modulus = LargeModulus(LargeNumber(words: [.max, .max]))
    let less = LargeNumber(words: [.max - 1, .max])
    let (zero, one) = (LargeNumber(words: [0, 0]), LargeNumber(words: [1, 0]))
    #expect(modulus.difference(zero, one) == less)
    #expect(modulus.difference(one, less) == LargeNumber(words: [2, 0]))
    #expect(modulus.product(less, less) == one)
    #expect(modulus.reduced(LargeNumber(words: [.max, .max])) == zero)
    // 2²⁵⁶ − 1 is a multiple of it.
    #expect(modulus.reduced(LargeNumber(words: [.max, .max, .max, .max])) == zero)
    #expect(modulus.power(less, LargeNumber(words: [3])) == less)
    let square = LargeNumber(words: [.max, .max]).multiplied(by: LargeNumber(words: [.max, .max]))
    #expect(square == LargeNumber(words: [1, 0, .max - 1, .max]))
  }
}
