/// A figure of a published experiment, next to ours.
package struct PublishedFigure: Sendable, Encodable, Equatable {
  package var experiment: String
  package var name: String
  /// As published; in words where that gives no number.
  package var published: String
  package var ours: String
  /// Whether ours agrees: the ranking, or the number within the bounds that the experiment states.
  package var agrees: Bool
}

/// The published experiments that `fleet --experiments` repeats.
package enum PublishedExperiment {
  /// `runs` is the number of runs of the jitter study; the others need one.
  package static func all(runs: Int = 100, seed: UInt64 = 1) -> [PublishedFigure] {
    jitter(runs: runs, seed: seed) + retries(seed: seed) + backoff() + metastable() + recovery(seed: seed)
  }

  package static func jitter(runs: Int, seed: UInt64) -> [PublishedFigure] {
    let ours = Dictionary(
      uniqueKeysWithValues: JitterStudy.Rule.allCases.map {
        ($0, JitterStudy.run($0, clients: 100, runs: runs, seed: seed))
      })
    return JitterStudy.Rule.allCases.compactMap { rule in
      guard let theirs = JitterStudy.published[rule], let own = ours[rule] else { return nil }
      let isNear =
        abs(own.calls / theirs.calls - 1) < 0.1 && abs(own.milliseconds / theirs.milliseconds - 1) < 0.1
      return PublishedFigure(
        experiment: "jitter study, 100 clients", name: rule.rawValue,
        published: calls(theirs), ours: calls(own),
        agrees: isNear && rank(rule, ours) == rank(rule, JitterStudy.published))
    }
  }

  private static func calls(_ outcome: JitterStudy.Outcome) -> String {
    "\(Int(outcome.calls.rounded())) calls, \(Int(outcome.milliseconds.rounded())) ms"
  }

  /// The places by calls and by time.
  private static func rank(
    _ rule: JitterStudy.Rule, _ outcomes: [JitterStudy.Rule: JitterStudy.Outcome]
  ) -> [Int] {
    guard let own = outcomes[rule] else { return [] }
    return [
      outcomes.values.count { $0.calls < own.calls },
      outcomes.values.count { $0.milliseconds < own.milliseconds },
    ]
  }

  package static func retries(seed: UInt64) -> [PublishedFigure] {
    func figure(
      _ name: String, _ published: String, _ rule: RetryLoad.Rule, failing: Double, clients: Int,
      in bounds: ClosedRange<Double>
    ) -> PublishedFigure {
      let load = RetryLoad.perCall(rule, failing: failing, clients: clients, calls: 100_000, seed: seed)
      return PublishedFigure(
        experiment: "retries per call", name: name, published: published, ours: decimal(load),
        agrees: bounds.contains(load))
    }
    return [
      figure("3 retries, all fail", "4", .threeRetries, failing: 1, clients: 1, in: 3.99...4),
      figure(
        "token bucket, 5 % fail", "as 3 retries, 1.05", .tokenBucket, failing: 0.05, clients: 1,
        in: 1.04...1.06),
      figure(
        "token bucket, half fail", "1 and about 0.1", .tokenBucket, failing: 0.5, clients: 1, in: 1.02...1.12),
      figure(
        "token bucket, half fail, 33,000 clients", "as 3 retries, 1.88", .tokenBucket, failing: 0.5,
        clients: 33_000, in: 1.8...1.9),
    ]
  }

  package static func backoff() -> [PublishedFigure] {
    func load(_ isOpen: Bool, _ backsOff: Bool) -> Double {
      BackoffLoad.offered(isOpen: isOpen, backsOff: backsOff, arriving: 2)
    }
    let (openWithout, openWith) = (load(true, false), load(true, true))
    let (closedWithout, closedWith) = (load(false, false), load(false, true))
    return [
      PublishedFigure(
        experiment: "backoff, twice the capacity arrives", name: "open: clients come anyway",
        published: "no lower load", ours: "\(decimal(openWithout)) C without, \(decimal(openWith)) C with",
        agrees: abs(openWith / openWithout - 1) < 0.02),
      PublishedFigure(
        experiment: "backoff, twice the capacity arrives", name: "closed: clients wait for their answer",
        published: "lower load", ours: "\(decimal(closedWithout)) C without, \(decimal(closedWith)) C with",
        agrees: closedWith < 0.8 * closedWithout),
    ]
  }

  package static func metastable() -> [PublishedFigure] {
    MetastableStudy.Amplifier.allCases.flatMap { amplifier in
      MetastableStudy.Trigger.allCases.map { trigger in
        let found = MetastableStudy.hysteresis(trigger, amplifier)
        return PublishedFigure(
          experiment: "metastable failures", name: "\(trigger.rawValue), \(amplifier.rawValue)",
          published: "recovers below the load at which it failed",
          ours: "fails alone at \(decimal(found.failsAlone)) C, after the trigger from "
            + "\(decimal(found.failsAfterTrigger)) C; recovers at \(decimal(found.recoversAt)) C",
          agrees: found.recoversAt < found.failsAfterTrigger && found.failsAfterTrigger < found.failsAlone)
      }
    }
  }

  package static func recovery(seed: UInt64) -> [PublishedFigure] {
    [(capacity: 200, ceiling: 300), (capacity: 200, ceiling: 600), (capacity: 400, ceiling: 300)].map {
      let (predicted, simulated) = recovery(capacity: $0.capacity, ceiling: $0.ceiling, seed: seed)
      let error = Double(predicted) / Double(max(simulated, 1)) - 1
      return PublishedFigure(
        experiment: "recovery time by a Markov chain",
        name: "100,000 devices, \($0.capacity)/s, ceiling \($0.ceiling) s", published: "within 10 %",
        ours: "99 % in \(predicted) s, simulated \(simulated) s (\(decimal(error * 100)) %)",
        agrees: abs(error) <= 0.1)
    }
  }

  /// Seconds until 99 % of 100,000 devices with full jitter are served: as predicted, and as simulated.
  package static func recovery(capacity: Int, ceiling: Int, seed: UInt64) -> (predicted: Int, simulated: Int)
  {
    var scenario = FleetScenario()
    (scenario.devices, scenario.capacity, scenario.seed) = (100_000, capacity, seed)
    (scenario.outage, scenario.horizon) = (3_600, 4 * 3_600)
    (scenario.clocks, scenario.foreground, scenario.purchasesPerDay) = (.aligned, .none, 0)
    var simulation = FleetSimulation(BackoffPolicy(.full, ceiling: Int64(ceiling) * 1_000), scenario)
    let simulated = simulation.run().result("", wallSeconds: 0).secondsTo99
    var chain = RecoveryChain(devices: scenario.devices, ceiling: ceiling, capacity: capacity)
    let limit = scenario.horizon - scenario.outage
    return (chain.seconds(until: 0.99, limit: limit) ?? limit, simulated ?? limit)
  }

  private static func decimal(_ number: Double) -> String {
    guard number.isFinite else { return "more than 1.5" }
    let hundredths = Int((abs(number) * 100).rounded())
    let cents = hundredths % 100
    return (number < 0 && hundredths > 0 ? "-" : "") + "\(hundredths / 100)." + (cents < 10 ? "0" : "")
      + "\(cents)"
  }
}
