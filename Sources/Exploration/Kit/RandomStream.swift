import PurchaseQueue
import PurchaseSync

/// The random numbers of one component of a simulation. The draws of one component never change those of another.
package struct RandomStream: Sendable {
  private var source: RandomSource
  /// How many numbers it has drawn.
  package private(set) var count = 0
  private let tap: DrawTap?

  /// The names are part of what a seed means: a renamed stream gives other runs.
  ///
  /// - Parameters:
  ///   - number: Distinguishes streams of one name.
  ///   - log: Records the draws.
  package init(seed: UInt64, _ name: StaticString, _ number: Int = 0, log: DrawLog? = nil) {
    var mixed = seed
    for byte in name.description.utf8 { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
    var scatter = RandomSource(seed: mixed &+ UInt64(number) &* 0x9E37_79B9)
    source = RandomSource(seed: scatter.next())
    tap = log?.tap(name, number)
  }

  private mutating func draw(_ bound: Int?) -> UInt64 {
    var bits = source.next()
    count &+= 1
    if let tap { tap.drew(&bits, count, bound) }
    return bits
  }

  /// 64 bits.
  package mutating func next() -> UInt64 { draw(nil) }

  /// A number from 0 up to `bound`, which is at least 1 and excluded.
  package mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: Self.reduced(draw(bound), below: bound))
  }

  static func reduced(_ bits: UInt64, below bound: Int) -> UInt64 {
    bits.multipliedFullWidth(by: UInt64(max(bound, 1))).high
  }

  /// Both ends included.
  package mutating func between(_ low: Int, _ high: Int) -> Int { low + below(high - low + 1) }

  /// True in `permille` of a thousand cases.
  package mutating func chance(_ permille: Int) -> Bool { permille > 0 && below(1_000) < permille }

  /// One of at least one element.
  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// A hash of all draws and events: the same run has the same hash.
package struct RunHash: Sendable, Hashable {
  /// The hash of everything added so far.
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 29
  }

  package mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
}
