import PurchaseSyncTesting

/// Random bytes, different for each entry: equal proofs would be stored once.
struct Payloads {
  private var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  mutating func next(_ count: Int = BenchPlan.payloadBytes) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    while bytes.count < count {
      var word = generator.next()
      for _ in 0..<8 {
        bytes.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  mutating func next(_ entries: Int, of count: Int) -> [[UInt8]] { (0..<entries).map { _ in next(count) } }
}
