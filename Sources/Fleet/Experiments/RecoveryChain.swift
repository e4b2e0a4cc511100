import Foundation

/// How long a backend takes to recover from an overload, predicted by a Markov chain (HotOS 2025, "Analyzing Metastable
/// Failures") and measured by a simulation of each caller.
///
/// New calls come at random. A caller that fails waits for a random time and tries again, for ever. While `n` callers wait,
/// the backend gets `arrivals + n * retries` requests a second; beyond its capacity it answers fewer the more it gets, as
/// the backend of the fleet does. The chain's state is `n`.
package struct RecoveryChain: Sendable {
  /// Requests a second that are new.
  package var arrivals: Double
  /// Requests a second that the backend can answer.
  package var capacity: Double
  /// How often each waiting caller tries, a second.
  package var retries: Double
  /// Callers that wait at the beginning.
  package var waiting: Int

  package init(arrivals: Double, capacity: Double, retries: Double, waiting: Int) {
    (self.arrivals, self.capacity) = (arrivals, capacity)
    (self.retries, self.waiting) = (retries, waiting)
  }

  /// It has recovered when so few callers wait: a twentieth.
  private var few: Int { waiting / 20 }

  /// The part of the requests that succeed.
  private func success(_ waiting: Int) -> Double {
    let offered = arrivals + Double(waiting) * retries
    return offered <= capacity ? 1 : max(0.1, capacity / offered) * capacity / offered
  }

  /// In seconds: the sum of the mean times from each number of callers to one less, by the recursion of a birth and death
  /// process. It counts no run in which a tenth more wait than at the beginning: such a backend does not recover.
  package var predicted: Double {
    var (sum, below) = (0.0, 0.0)
    for state in stride(from: waiting + waiting / 10, to: few, by: -1) {
      let good = success(state)
      let (up, down) = (arrivals * (1 - good), Double(state) * retries * good)
      below = (1 + up * below) / down
      if state <= waiting { sum += below }
    }
    return sum
  }

  /// The mean of the runs, in seconds.
  package func simulated(runs: Int, seed: UInt64) -> Double {
    var sum = 0.0
    for run in 0..<runs {
      var chance = Chance(seed: seed &+ UInt64(run) &* 0x9E37_79B9)
      sum += simulated(&chance)
    }
    return sum / Double(runs)
  }

  private enum Event { case call, retry }

  private func simulated(_ chance: inout Chance) -> Double {
    var heap = TimeHeap<Event>()
    var (count, now) = (waiting, 0.0)
    heap.plan(.call, at: chance.exponential(mean: 1 / arrivals))
    for _ in 0..<waiting { heap.plan(.retry, at: chance.exponential(mean: 1 / retries)) }
    while count > few, let (moment, event) = heap.next() {
      now = moment
      let fails = chance.fraction() >= success(count)
      switch event {
      case .call:
        heap.plan(.call, at: now + chance.exponential(mean: 1 / arrivals))
        if fails { count += 1 }
      case .retry: if !fails { count -= 1 }
      }
      if fails { heap.plan(.retry, at: now + chance.exponential(mean: 1 / retries)) }
    }
    return now
  }
}
