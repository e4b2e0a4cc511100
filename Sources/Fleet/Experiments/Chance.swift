import Foundation
import PurchaseQueue

/// Random numbers of the distributions that the experiments need.
struct Chance {
  private var source: RandomSource

  init(seed: UInt64) { source = RandomSource(seed: seed) }

  /// In 0..<1, a multiple of 2⁻⁵³.
  mutating func fraction() -> Double { Double(source.next() >> 11) * 0x1p-53 }

  mutating func between(_ low: Double, _ high: Double) -> Double { low + (high - low) * fraction() }

  /// A waiting time with this mean.
  mutating func exponential(mean: Double) -> Double { -mean * log(1 - fraction()) }

  /// By the method of Box and Muller.
  mutating func normal(mean: Double, deviation: Double) -> Double {
    let radius = (-2 * log(1 - fraction())).squareRoot()
    return mean + deviation * radius * cos(2 * .pi * fraction())
  }
}
