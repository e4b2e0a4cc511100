/// The keys of the test certificates. **For the testing kit only**, never for a product: everyone can read them here.
enum TestKeys {
  static let root = es256("purchase-sync test root")
  static let intermediate = es256("purchase-sync test intermediate")
  static let transactions = es256("purchase-sync test transactions")
  /// Of a chain that only looks like the test root's.
  static let strangerRoot = es256("purchase-sync stranger root")
  static let strangerIntermediate = es256("purchase-sync stranger intermediate")
  static let stranger = es256("purchase-sync stranger")

  /// Signs app receipts.
  static let receipts = RSAKey(
    modulus: bytes(modulus), exponent: [1, 0, 1], primes: (bytes(firstPrime), bytes(secondPrime)),
    exponents: (bytes(firstExponent), bytes(secondExponent)), coefficient: bytes(coefficient))

  /// A key that follows from its name: the name's hash.
  static func es256(_ name: String) -> ES256Key {
    var digest = SHA256.digest(Array(name.utf8))
    while true {
      if let key = ES256Key(bytes: digest) { return key }
      // One hash in 2³² is no number of the curve.
      digest = SHA256.digest(digest)
    }
  }

  /// The bytes of hexadecimal digits.
  private static func bytes(_ digits: String) -> [UInt8] {
    let nibbles = digits.compactMap(\.hexDigitValue)
    let pairs = stride(from: 0, to: nibbles.count - 1, by: 2)
    return pairs.map { (place: Int) -> UInt8 in UInt8(nibbles[place] << 4 | nibbles[place + 1]) }
  }

  private static let modulus =
    "9430e4ea2d643db2b3a716c5bb7d67a0efc21d87d3019b74d64962d7fc8bb7fdbb124c8a1d3b19d8e0f91e19cb03ca19"
    + "af78396cc1c47a83048333ba6feff5e5965616f6ac050b5959978606bc1bdeaf36b545cfc407f3d5efc6239456aef909"
    + "b6bf1c7a47b126e0fa0cf0140e48ba9a510bf279e941252ed61388879028a72d0555f51011638fcd95a729fdbb5cf7c5"
    + "aec72c854019037259e91a1cd2fb340896ca3eeff1e07fa002d3180f136f77d19e727b0518eb043bff5ed1705f25a1a1"
    + "80e21d31601157f5f2fbdce6082d46d48df6598f6b08db9e04ca88533651eb8b91f7fbf745a49c49d233b3c6b04c9fe3"
    + "e569a2f52ad5687a6a1ea923dda5abd5"

  private static let firstPrime =
    "cb3a714ddc32f088f6753bb3d816a8ab3926d303f1ff8a03dea9304bb3beb63bee9d650037e48014dd7f5009298104c5"
    + "3bb16a8d44c222319daa0e8964523c2aeada9a1b0aaec48435f7a78a05c7c3e1408c0e7f42ac227a1dbfcff292ac72cb"
    + "fd5cadd257769d308f65ac4fb97afa3bde3ac7cb3578a715ce42468205af732b"

  private static let secondPrime =
    "baabdbe163a43373fa4ae791a96f3c05abba7161739bbf2a05d2ac493d11588bbe3f1845a0b192da29f32ea5704d6959"
    + "849364cacca7264f63adfde6fd29786032019249a6ee8a140448f4ab7aee711c681ea2e278ba2840e9e09079b152a827"
    + "365dcc1a23fee70ab57a38e36b230950e6108aa2440aaa5ec1c505e0a63bdcff"

  private static let firstExponent =
    "883b5910b477813e8ed7ef7993753d03ea7fd81c60f0c7f7e81eca3d34f4b6fc5dec2c7485032bc8d0e23328b125c7a8"
    + "df6702e248214b02af89fbcca5ef6a5deaa9377cc1207ea391f9bdd98c1e697469ec791b5dfa3df25656ea72d557bc6c"
    + "7a1ed2769a22ed244c3bffd241a7ea6e8f7e1fc85cc3d05d91b263c96d3e3b99"

  private static let secondExponent =
    "6c958f9fba0047d5cce0497797a196be8db8343fc5a9f1371690079bcaa40e67ab50b463bc27cf0e8c9c62a3e5818228"
    + "8a4fdaaf85002deebc42f790a7eeb990eb45b2bc9917e4c5e400342293ada3aa2c7eb5ad1b20de4d743e268c43339b90"
    + "c3b5280684adbfe3a0d0e9ca90059f63a99031b455f4064a7c588924b64dd82d"

  private static let coefficient =
    "0b53dfd7460d58b09c0fe3c2d5470401a53faa1f26efa551a302b1741778be04760bce821423739bd31574966adcf18d"
    + "d1b781c73455be220159415aff1749afeca8306d4945684dc98edd589660e59eb658b021842f4380f54a0e173cad0041"
    + "0bacb52681cae05262840c96c4a5d688895f1a9a6a08c318f8c8fd67e94b06aa"
}
