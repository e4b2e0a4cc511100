/// How long a fleet needs to recover, by a Markov chain: a device's state is the number of seconds until its next attempt.
/// It counts down; at 0 it is served with the backend's probability at that moment, or draws a new number. The chance
/// depends on how many are at 0, so the chain is followed in its mean, as HotOS 2025 proposes for metastable systems.
package struct RecoveryChain: Sendable {
  /// The devices that attempt in so many seconds.
  private var waiting: [Double]
  private let capacity: Double

  /// A fleet with full jitter that has been at its ceiling for long.
  package init(devices: Int, ceiling: Int, capacity: Int) {
    self.capacity = Double(capacity)
    let width = Double(ceiling)
    let all = (0..<ceiling).map { 1 - (Double($0) + 0.5) / width }
    let sum = all.reduce(0, +)
    waiting = all.map { $0 / sum * Double(devices) }
  }

  /// Seconds until that part of the fleet is served; nil if it takes longer than `limit`.
  package mutating func seconds(until part: Double, limit: Int) -> Int? {
    let all = waiting.reduce(0, +)
    var left = all
    for second in 0..<limit {
      let offered = waiting.removeFirst()
      waiting.append(0)
      let served = FleetBackend.goodput(offered: offered, capacity: capacity)
      let failed = (offered - served) / Double(waiting.count)
      if failed > 0 { for index in waiting.indices { waiting[index] += failed } }
      left -= served
      if all - left >= part * all { return second }
    }
    return nil
  }
}
