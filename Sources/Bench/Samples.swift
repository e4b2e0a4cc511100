/// How long each operation of a run took.
struct Samples: Equatable, Sendable {
  var nanoseconds: [Int64] = []

  /// Runs `body` so many times and measures each.
  static func measure(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Samples {
    let clock = ContinuousClock()
    var samples = Samples()
    samples.nanoseconds.reserveCapacity(count)
    var last = clock.now
    for index in 0..<count {
      try body(index)
      let now = clock.now
      samples.nanoseconds.append((now - last).wholeNanoseconds)
      last = now
    }
    return samples
  }

  var seconds: Double { Double(nanoseconds.reduce(0, +)) / 1e9 }

  func perSecond() throws(BenchError) -> Double {
    guard seconds > 0 else { throw .noSamples("operations per second") }
    return Double(nanoseconds.count) / seconds
  }

  /// By nearest rank: the smallest measured time such that `percent` of all times are at most that.
  func percentile(_ percent: Double) throws(BenchError) -> Double {
    guard !nanoseconds.isEmpty else { throw .noSamples("percentile") }
    let sorted = nanoseconds.sorted()
    let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
    return Double(sorted[min(max(rank, 1), sorted.count) - 1])
  }
}

extension Duration {
  /// Nanoseconds, rounded down.
  var wholeNanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

/// Statistics over repetitions.
enum Statistics {
  /// The middle value, or the mean of the two middle values.
  static func median(_ values: [Double]) throws(BenchError) -> Double {
    guard !values.isEmpty else { throw .noSamples("median") }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  /// Ratios of pairs that are neighbours in time: a disturbance of both halves cancels out.
  static func ratios(_ values: [Double], to others: [Double]) throws(BenchError) -> [Double] {
    guard !values.isEmpty, values.count == others.count, others.allSatisfy({ $0 > 0 }) else {
      throw .noSamples("ratio")
    }
    return zip(values, others).map { $0 / $1 }
  }
}
