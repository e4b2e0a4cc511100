import PurchaseQueue
import PurchaseSync

/// What the simulated app notes for the measurement of its promptness: from now on other purchases can be delivered than
/// before, since an account signed in, or the network is back. A line of standard output, which the parent reads
/// (`DeliveryWatch`).
struct DeliveryChange: Equatable {
  private static let mark = "can-deliver-from"

  /// By the clock of the run.
  let moment: Timestamp

  init(at moment: Timestamp) { self.moment = moment }

  var line: String { "\(Self.mark) \(moment.milliseconds)" }

  /// Nil for any other line.
  init?(line: String) {
    let words = line.split(separator: " ")
    guard words.count == 2, words[0] == Self.mark, let moment = Int64(words[1]) else { return nil }
    self.moment = Timestamp(milliseconds: moment)
  }
}

extension SystemDependencies {
  /// The system's own, by the clock of a run. Time limits are real.
  static func of(_ clock: FastClock) -> SystemDependencies {
    var system = live
    let (begin, start) = (ContinuousClock.now, clock.now())
    system.uptime = { begin.advanced(by: .milliseconds(clock.now().milliseconds(since: start))) }
    system.sleep = { try await clock.sleep(milliseconds: $0) }
    return system
  }
}
