import Foundation

/// Experiments that others have published, made again with this module's own code: what they found, and what is found
/// here. `fleet --experiments` prints them.
package struct PublishedExperiments: Sendable {
  /// One comparison.
  package struct Row: Sendable, Codable {
    /// The study, and who published it.
    package var study: String
    /// What was measured.
    package var what: String
    package var theirs: String
    package var ours: String
    /// Whether it is what they found: within a tenth of a number, or the same order, or the same kind of result.
    package var agrees: Bool
  }

  package let rows: [Row]

  /// - Parameter runs: Of the studies that need an average.
  package init(runs: Int, seed: UInt64) {
    rows =
      Self.jitter(runs, seed) + Self.retries(seed) + Self.metastable()
      + Self.recovery(max(4, runs / 10), seed)
  }

  package var agrees: Bool { rows.allSatisfy(\.agrees) }

  private static func isNear(_ left: Double, _ right: Double) -> Bool { abs(left - right) <= 0.1 * right }

  private static func text(_ number: Double, digits: Int = 0) -> String {
    String(format: "%.\(digits)f", number)
  }

  // MARK: Jitter

  /// Calls and milliseconds of 100 clients: their program, run again with another random generator.
  private static let published: [(backoff: JitterStudy.Backoff, calls: Double, milliseconds: Double)] = [
    (.full, 794, 4_886), (.equal, 812, 6_839), (.decorrelated, 1_016, 4_691), (.exponential, 1_871, 63_924),
    (.none, 2_420, 2_014),
  ]

  private static func jitter(_ runs: Int, _ seed: UInt64) -> [Row] {
    let study = "backoff and jitter, Amazon's architecture blog"
    let results = published.map {
      (theirs: $0, ours: JitterStudy.result(of: $0.backoff, clients: 100, runs: runs, seed: seed))
    }
    let rows = results.map { theirs, ours in
      Row(
        study: study, what: "\(theirs.backoff.rawValue): calls, time of 100 clients",
        theirs: "\(text(theirs.calls)), \(text(theirs.milliseconds)) ms",
        ours: "\(text(ours.calls)), \(text(ours.milliseconds)) ms",
        agrees: isNear(ours.calls, theirs.calls) && isNear(ours.milliseconds, theirs.milliseconds))
    }
    let ranking = results.sorted { $0.ours.calls < $1.ours.calls }.map(\.theirs.backoff)
    return rows + [
      Row(
        study: study, what: "the order by calls", theirs: words(published.map(\.backoff)),
        ours: words(ranking),
        agrees: ranking == published.map(\.backoff))
    ]
  }

  private static func words(_ backoffs: [JitterStudy.Backoff]) -> String {
    backoffs.map(\.rawValue).joined(separator: ", ")
  }

  // MARK: Retries

  private static func retries(_ seed: UInt64) -> [Row] {
    let study = "retries and buckets, Marc Brooker"
    func load(_ rule: RetryStudy.Rule, _ clients: Int, _ failing: Double) -> Double {
      RetryStudy.load(
        rule, clients: clients, calls: 100_000, failing: failing, startsFull: true, seed: seed)
    }
    let (all, bucket) = (load(.tries, 10, 1), load(.bucket, 10, 0.2))
    let (small, few) = (load(.bucket, 50_000, 1), load(.bucket, 10, 1))
    let backoff = "backoff, Marc Brooker"
    func open(_ backsOff: Bool, _ outage: Double) -> Double {
      RetryStudy.load(backsOff: backsOff, outage: outage, calls: 100_000, seed: seed)
    }
    let (long, longAtOnce, short, shortAtOnce) = (
      open(true, 600), open(false, 600), open(true, 2), open(false, 2)
    )
    return [
      Row(
        study: study, what: "three retries, all fail: requests for each call", theirs: "1 + 3",
        ours: text(all, digits: 2), agrees: isNear(all, 4)),
      Row(
        study: study, what: "a bucket of a tenth, a fifth fails: retries for each call", theirs: "about 0.1",
        ours: text(bucket - 1, digits: 2), agrees: abs(bucket - 1.1) < 0.05),
      Row(
        study: study, what: "all fail, buckets of 50,000 small clients, of 10 large ones",
        theirs: "as three retries, none", ours: "\(text(small, digits: 2)), \(text(few, digits: 2))",
        agrees: isNear(small, 4) && isNear(few, 1)),
      Row(
        study: backoff, what: "an outage of 10 min, backoff and none: requests for each call",
        theirs: "no less work", ours: "\(text(long, digits: 2)), \(text(longAtOnce, digits: 2))",
        agrees: isNear(long, longAtOnce)),
      Row(
        study: backoff, what: "an outage of 2 s, backoff and none: requests for each call",
        theirs: "less work", ours: "\(text(short, digits: 2)), \(text(shortAtOnce, digits: 2))",
        agrees: short < 0.9 * shortAtOnce),
    ]
  }

  // MARK: Metastable failures

  private static func metastable() -> [Row] {
    MetastableStudy.results().map { result in
      Row(
        study: "metastable failures, OSDI 2022",
        what: "\(result.trigger.words), \(result.amplifier.words): good without a trigger up to this load, "
          + "recovers from one up to, ends the failure at",
        theirs: "hysteresis",
        ours: [result.stableBelow, result.recoversBelow, result.endsAt].map { text($0, digits: 2) }
          .joined(separator: ", "),
        agrees: result.recoversBelow < result.stableBelow - 0.1 && result.endsAt < result.stableBelow - 0.1)
    }
  }

  // MARK: Recovery

  /// Overloads of different depth: new calls fill a quarter of the capacity up to three quarters.
  package static let chains = [
    RecoveryChain(arrivals: 5, capacity: 20, retries: 0.02, waiting: 2_000),
    RecoveryChain(arrivals: 3, capacity: 20, retries: 0.01, waiting: 5_000),
    RecoveryChain(arrivals: 10, capacity: 20, retries: 0.01, waiting: 2_000),
    RecoveryChain(arrivals: 15, capacity: 20, retries: 0.002, waiting: 2_000),
  ]

  private static func recovery(_ runs: Int, _ seed: UInt64) -> [Row] {
    chains.map { chain in
      let (theirs, ours) = (chain.predicted, chain.simulated(runs: runs, seed: seed))
      return Row(
        study: "recovery by a Markov chain, HotOS 2025",
        what:
          "\(chain.waiting) callers wait, \(text(chain.arrivals)) new ones/s, capacity \(text(chain.capacity))/s",
        theirs: text(theirs) + " s (the chain)", ours: text(ours) + " s", agrees: isNear(ours, theirs))
    }
  }
}

extension MetastableStudy.Trigger {
  fileprivate var words: String {
    switch self {
    case .spike: "three times the calls"
    case .capacityLoss: "a tenth of the capacity"
    }
  }
}

extension MetastableStudy.Amplifier {
  fileprivate var words: String {
    switch self {
    case .retries: "retries"
    case .coldCache: "a cold cache"
    }
  }
}
