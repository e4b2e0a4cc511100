import FaultInjection
import Foundation

/// What an exploration found, as text and as JSON.
struct ExploreReport {
  let options: ExploreOptions
  let sum: ExplorationSum
  let seconds: Double

  /// Runs of fewer seeds say nothing about rare paths.
  private var isLarge: Bool { options.profile == .swarm && sum.seeds >= 1_000 }

  var rarelyExercised: [Invariant] {
    guard isLarge else { return [] }
    return Invariant.allCases.filter { sum.exercised[$0.rawValue] < $0.minimum }
  }

  var missedMarks: [Mark] {
    guard isLarge else { return [] }
    // The vault of a disk in memory keeps orders only.
    return Mark.allCases.filter {
      sum.marks[$0.rawValue] == 0 && !($0 == .vaultRestored && options.storage == .memory)
    }
  }

  var isGood: Bool { sum.failures == 0 && rarelyExercised.isEmpty && missedMarks.isEmpty }

  private func rate(_ count: Int) -> Int { Int(Double(count) / max(seconds, 0.001)) }

  var lines: [String] {
    let purchases = sum.figures.purchases
    let rates = "\(rate(sum.seeds)) worlds/s, \(rate(purchases)) purchases/s, \(rate(sum.events)) events/s"
    var lines: [String] = [
      "\(sum.seeds) worlds of profile \(options.profile.rawValue) on \(options.storage.rawValue), "
        + "\(purchases) purchases, \(sum.events) events in \(rounded(seconds)) s: " + rates,
      "",
    ]
    lines += TextTable.lines(
      [["invariant", "", "exercised"]]
        + Invariant.allCases.map {
          [String($0.rawValue), $0.sentence, String(sum.exercised.isEmpty ? 0 : sum.exercised[$0.rawValue])]
        })
    lines += ["", "elsewhere: " + Invariant.elsewhere.joined(separator: "; "), ""]
    lines.append(
      "marks: "
        + Mark.allCases.map { "\($0) \(sum.marks.isEmpty ? 0 : sum.marks[$0.rawValue])" }.joined(
          separator: ", "))
    lines += [
      "", "time to delivery (up to): " + deliveries, "attempts: " + counts(sum.figures.attempts, from: 1),
    ]
    lines.append("queue length when one more came: " + counts(sum.figures.lengths, from: 0))
    for invariant in rarelyExercised {
      lines.append("invariant \(invariant.rawValue) was exercised too rarely")
    }
    for mark in missedMarks { lines.append("mark \(mark) was not hit") }
    for failure in sum.broken.sorted(by: { $0.seed < $1.seed }).prefix(20) {
      lines.append("seed \(failure.seed): \(failure.violation.invariant.rawValue), \(failure.violation.what)")
    }
    lines.append(sum.failures == 0 ? "no invariant was broken" : "\(sum.failures) worlds broke an invariant")
    return lines
  }

  private var deliveries: String {
    sum.figures.deliveries.enumerated().filter { $0.element > 0 }
      .map { "\(1 << $0.offset) s \($0.element)" }.joined(separator: ", ")
  }

  private func counts(_ all: [Int], from first: Int) -> String {
    all.enumerated().filter { $0.element > 0 }.map { "\($0.offset + first): \($0.element)" }
      .joined(separator: ", ")
  }

  private func rounded(_ value: Double) -> String { String(Double(Int(value * 10)) / 10) }

  func json() throws -> String {
    var document: [String: Any] = [
      "seeds": sum.seeds, "purchases": sum.figures.purchases, "events": sum.events, "seconds": seconds,
      "failures": sum.failures, "profile": options.profile.rawValue, "storage": options.storage.rawValue,
      "secondsToDelivery": sum.figures.deliveries, "attempts": sum.figures.attempts,
      "queueLengths": sum.figures.lengths, "good": isGood,
    ]
    document["exercised"] = Dictionary(
      uniqueKeysWithValues: Invariant.allCases.map {
        (String($0.rawValue), sum.exercised.isEmpty ? 0 : sum.exercised[$0.rawValue])
      })
    document["marks"] = Dictionary(
      uniqueKeysWithValues: Mark.allCases.map { ("\($0)", sum.marks.isEmpty ? 0 : sum.marks[$0.rawValue]) })
    if let failure = sum.failure {
      document["failingSeed"] = failure.seed
      document["brokenInvariant"] = failure.violation.invariant.rawValue
    }
    let data = try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys])
    return String(decoding: data, as: UTF8.self)
  }
}
