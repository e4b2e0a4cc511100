public import Foundation
import PurchaseQueue

/// A small seeded generator: the same seed gives the same numbers everywhere.
///
/// For tests and simulations only; it is predictable by design.
public struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
  private var source: RandomSource

  /// Starts the sequence that belongs to the seed. Any seed will do, 0 as well.
  public init(seed: UInt64) { source = RandomSource(seed: seed) }

  /// The next 64 bits of the sequence.
  public mutating func next() -> UInt64 { source.next() }

  /// A UUID of version 4 made from the next 128 bits, so that a run can be repeated.
  public mutating func nextUUID() -> UUID {
    let high = next()
    let low = next()
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
    }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6) & 0x0F | 0x40, byte(high, 7), byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2),
        byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
}
