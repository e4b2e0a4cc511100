import CommandLineTools
import Fleet

/// `fleet --advise`: the numbers for a fleet of this size.
struct FleetAdvisor {
  let options: FleetOptions

  func execute() -> Int32 {
    let advice = FleetAdvice(options.scenario)
    if options.json {
      Terminal.json(advice)
    } else {
      Self.lines(advice).forEach(Terminal.line)
    }
    return ExitCode.ok
  }

  static func lines(_ advice: FleetAdvice) -> [String] {
    let run =
      "the run with it: peak \(FleetTable.decimal(advice.peakOverCapacity)) C, "
      + "\(FleetTable.decimal(advice.amplification)) requests per purchase, 99 % after "
      + FleetTable.time(advice.secondsTo99)
    var lines = [
      "\(Counted.text(advice.devices, "device")), \(advice.capacity) requests/s",
      "",
      "RetryPolicy.ceiling = .seconds(\(advice.ceiling))",
      "  by the rule at least 5N/4C = \(advice.ceilingByRule) s; \(run)",
    ]
    if let capacity = advice.capacityForCalm {
      lines.append(
        "  that is not calm, because of those who bought in the last hour: about \(capacity) requests/s would do"
      )
    }
    lines += [
      "RetryPolicy.budgetPerWindow = \(advice.budget)",
      "  twice the attempts of the first hour of an outage, and the reserve for people",
      "Retry-After: " + (advice.retryAfter.map { "\($0)" } ?? "none"),
    ]
    lines += advice.newServed.map { served in
      "  after a push message to everyone, with \(served.retryAfter.map { "\($0) s" } ?? "none"): "
        + "\(FleetTable.decimal(served.withinMinute * 100, 1)) % of new purchases within a minute"
    }
    return lines + [""] + recipe(advice)
  }

  private static func recipe(_ advice: FleetAdvice) -> [String] {
    let field = advice.retryAfter.map { ", with Retry-After: \($0)" } ?? ""
    return [
      "A backend that is overloaded",
      "  1. counts what it has begun, and refuses above \(advice.capacity) requests/s before it reads a body",
      "  2. refuses with 503\(field); never with 4xx, which is another answer, and never by letting time out",
      "  3. serves first what was bought in the last minute (purchasedAt): these people wait",
      "  4. does not repeat work: a claim that it has decided gets its stored verdict",
    ]
  }
}
