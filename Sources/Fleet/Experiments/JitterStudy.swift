/// The study of Amazon's architecture blog on backoff and jitter: clients that each change one row with optimistic
/// concurrency. A client reads the row's version, writes with it, and begins again after a backoff if another client was
/// quicker. Source: `aws-samples/aws-arch-backoff-simulator`, whose parameters these are: a message takes 10 ms with a
/// deviation of 2 ms, the backoff's base is 5 ms and its ceiling 2,000 ms.
package struct JitterStudy: Sendable {
  package enum Backoff: String, CaseIterable, Sendable {
    case none, exponential, equal, full, decorrelated

    /// The delay after a client's n-th failure, in milliseconds. `last` is the delay before.
    fileprivate func delay(_ failures: Int, last: inout Double, _ chance: inout Chance) -> Double {
      let step = min(JitterStudy.ceiling, JitterStudy.base * Double(UInt64(1) << min(UInt64(failures), 40)))
      switch self {
      case .none: return 0
      case .exponential: return step
      case .equal: return step / 2 + chance.between(0, step / 2)
      case .full: return chance.between(0, step)
      case .decorrelated:
        last = min(JitterStudy.ceiling, chance.between(JitterStudy.base, last * 3))
        return last
      }
    }
  }

  /// Averages over the runs.
  package struct Result: Sendable {
    /// How many writes were sent.
    package var calls: Double
    /// When the last client was done.
    package var milliseconds: Double
  }

  private static let base = 5.0
  private static let ceiling = 2_000.0

  package static func result(of backoff: Backoff, clients: Int, runs: Int, seed: UInt64) -> Result {
    var sum = Result(calls: 0, milliseconds: 0)
    for run in 0..<runs {
      var chance = Chance(seed: seed &+ UInt64(run) &* 0x9E37_79B9)
      let (calls, end) = one(backoff, clients, &chance)
      sum.calls += Double(calls)
      sum.milliseconds += end
    }
    return Result(calls: sum.calls / Double(runs), milliseconds: sum.milliseconds / Double(runs))
  }

  private enum Message { case read, readDone(Int), write(Int), writeDone(Bool) }

  private static func one(
    _ backoff: Backoff, _ clients: Int, _ chance: inout Chance
  ) -> (calls: Int, end: Double) {
    func way(_ chance: inout Chance) -> Double { abs(chance.normal(mean: 10, deviation: 2)) }
    var heap = TimeHeap<(client: Int, message: Message)>()
    var failures = [Int](repeating: 0, count: clients)
    var last = [Double](repeating: base, count: clients)
    for client in 0..<clients { heap.plan((client, .read), at: way(&chance)) }
    var (version, calls, now) = (0, 0, 0.0)
    while let (moment, (client, message)) = heap.next() {
      now = moment
      switch message {
      case .read: heap.plan((client, .readDone(version)), at: now + way(&chance))
      case .readDone(let seen): heap.plan((client, .write(seen)), at: now + way(&chance))
      case .write(let seen):
        calls += 1
        let isFirst = seen == version
        if isFirst { version += 1 }
        heap.plan((client, .writeDone(isFirst)), at: now + way(&chance))
      case .writeDone(true): break
      case .writeDone(false):
        failures[client] += 1
        let delay = backoff.delay(failures[client], last: &last[client], &chance)
        heap.plan((client, .read), at: now + way(&chance) + delay)
      }
    }
    return (calls, now)
  }
}
