/// SHA-1 (FIPS 180-4): only for the names of keys in certificates and in answers of OCSP, which are hashes of this kind
/// (RFC 5280, 4.2.1.2; RFC 6960, 4.2.1). For the testing kit only; nothing is signed with it.
enum SHA1 {
  private static let initial: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]

  /// 20 bytes.
  static func digest(_ message: [UInt8]) -> [UInt8] {
    SHABlocks.digest(
      message, from: initial, words: 80,
      next: { words in
        let count = words.count
        return SHABlocks.rotated(
          words[count - 3] ^ words[count - 8] ^ words[count - 14] ^ words[count - 16], 1)
      }, mix: mix)
  }

  private static func mix(_ words: [UInt32], into state: [UInt32]) -> [UInt32] {
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for (index, word) in words.enumerated() {
      let (mixed, constant): (UInt32, UInt32) =
        switch index {
        case ..<20: (b & c | ~b & d, 0x5A82_7999)
        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      let next = SHABlocks.rotated(a, 5) &+ mixed &+ e &+ constant &+ word
      (e, d, c, b, a) = (d, c, SHABlocks.rotated(b, 30), a, next)
    }
    return [a, b, c, d, e]
  }
}
