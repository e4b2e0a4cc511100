/// 64 bytes that depend on a key and on every byte of a text: FNV-1a with one more mixing step.
///
/// **Not cryptography.** Every reader of this file can forge it. It distinguishes a model's own receipts from others.
enum KeyedChecksum {
  static func bytes(of text: String, key: UInt64) -> [UInt8] { bytes(of: text.utf8, key: key) }

  static func bytes(of content: some Sequence<UInt8>, key: UInt64) -> [UInt8] {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ key
    for byte in content {
      hash ^= UInt64(byte)
      hash &*= 0x0000_0100_0000_01B3
    }
    // As long as an ES256 signature, so that proofs have their real size.
    var generator = SplitMix64(seed: hash)
    var result: [UInt8] = []
    result.reserveCapacity(64)
    for _ in 0..<8 {
      let word = generator.next()
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        result.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return result
  }
}
