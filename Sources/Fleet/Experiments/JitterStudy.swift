import PurchaseQueue

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The simulation of M. Brooker's "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015; its program is
/// aws-arch-backoff-simulator): clients that each write one row once, with optimistic concurrency. A client reads the
/// version, writes with it, and after a refusal waits and begins again.
package struct JitterStudy: Sendable {
  package enum Rule: String, Sendable, CaseIterable {
    case full, equal, decorrelated, exponential, none
  }

  /// What all clients needed together: the mean of the runs.
  package struct Outcome: Sendable, Equatable {
    package var calls: Double
    package var milliseconds: Double
  }

  package static let base = 5.0
  package static let ceiling = 2_000.0
  /// The network's delay in milliseconds, a normal distribution without its sign.
  static let delay = 10.0
  static let deviation = 2.0

  /// What the published program gave for 100 clients, in 20 runs.
  package static let published: [Rule: Outcome] = [
    .none: Outcome(calls: 2_420, milliseconds: 2_014),
    .exponential: Outcome(calls: 1_871, milliseconds: 63_924),
    .equal: Outcome(calls: 812, milliseconds: 6_839),
    .full: Outcome(calls: 794, milliseconds: 4_886),
    .decorrelated: Outcome(calls: 1_016, milliseconds: 4_691),
  ]

  package static func run(_ rule: Rule, clients: Int, runs: Int, seed: UInt64) -> Outcome {
    var random = RandomSource(seed: seed)
    var sum = Outcome(calls: 0, milliseconds: 0)
    for _ in 0..<runs {
      let one = race(rule, clients: clients, using: &random)
      sum.calls += one.calls / Double(runs)
      sum.milliseconds += one.milliseconds / Double(runs)
    }
    return sum
  }

  private struct Client {
    enum Step { case reads, knows, writes, hears(Bool) }
    /// The next thing that happens to it, and when.
    var step = Step.reads
    var at: Double
    var version = 0
    var attempts = 0
    var sleep = JitterStudy.base
  }

  private static func race(_ rule: Rule, clients: Int, using random: inout RandomSource) -> Outcome {
    var all = (0..<clients).map { _ in Client(at: net(&random)) }
    var (version, calls, now) = (0, 0, 0.0)
    while let index = all.indices.min(by: { all[$0].at < all[$1].at }) {
      now = all[index].at
      switch all[index].step {
      case .reads:
        all[index].version = version
        all[index].step = .knows
      case .knows: all[index].step = .writes
      case .writes:
        calls += 1
        let isWritten = all[index].version == version
        if isWritten { version += 1 }
        all[index].step = .hears(isWritten)
      case .hears(true):
        all.swapAt(index, all.count - 1)
        all.removeLast()
        continue
      case .hears(false):
        all[index].attempts += 1
        all[index].step = .reads
        all[index].at += backoff(rule, &all[index], &random)
      }
      all[index].at += net(&random)
    }
    return Outcome(calls: Double(calls), milliseconds: now)
  }

  private static func backoff(_ rule: Rule, _ client: inout Client, _ random: inout RandomSource) -> Double {
    let widest = min(ceiling, base * pow(2, Double(client.attempts)))
    switch rule {
    case .none: return 0
    case .exponential: return widest
    case .equal: return widest / 2 + random.unit() * widest / 2
    case .full: return random.unit() * widest
    case .decorrelated:
      client.sleep = min(ceiling, base + random.unit() * (client.sleep * 3 - base))
      return client.sleep
    }
  }

  private static func net(_ random: inout RandomSource) -> Double {
    // Box and Muller.
    let normal = (-2 * log(1 - random.unit())).squareRoot() * cos(2 * .pi * random.unit())
    return abs(delay + deviation * normal)
  }
}
