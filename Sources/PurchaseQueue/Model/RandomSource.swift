/// A small seeded generator (Steele, Lea and Flood, 2014: SplitMix64): the same seed gives the same delays.
///
/// For jitter, which has to spread and not to be secret. The driver draws the seed from the system.
package struct RandomSource: RandomNumberGenerator, Sendable, Hashable {
  private var state: UInt64

  /// Starts the sequence that belongs to the seed. Any seed will do, 0 as well.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits of the sequence.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
