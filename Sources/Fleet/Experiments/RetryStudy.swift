/// Two essays of Marc Brooker, of 2022: "Fixing retries with token buckets and circuit breakers", and "What is backoff
/// for?". A caller tries up to three times more; what counts is how many requests the backend gets for each call.
package struct RetryStudy: Sendable {
  package enum Rule: Sendable {
    /// A retry after each failure.
    case tries
    /// Each client has a bucket of tokens: a retry takes one, a success brings a tenth of one, and ten fit.
    case bucket
  }

  private static let mostRetries = 3
  private static let share = 0.1
  private static let size = 10.0

  /// Requests for each call, of a backend that fails this part of the requests.
  ///
  /// - Parameter startsFull: Each bucket is full before the failure begins, as after a quiet day.
  package static func load(
    _ rule: Rule, clients: Int, calls: Int, failing: Double, startsFull: Bool, seed: UInt64
  ) -> Double {
    var chance = Chance(seed: seed)
    var tokens = [Double](repeating: startsFull ? size : 0, count: clients)
    var sent = 0
    for call in 0..<calls {
      let client = call % clients
      sent += 1
      var retries = 0
      while chance.fraction() < failing {
        guard retries < mostRetries, rule == .tries || tokens[client] >= 1 else {
          retries = -1
          break
        }
        if rule == .bucket { tokens[client] -= 1 }
        retries += 1
        sent += 1
      }
      if retries >= 0, rule == .bucket { tokens[client] = min(size, tokens[client] + share) }
    }
    return Double(sent) / Double(calls)
  }

  /// Requests for each call of an open system: its callers do not wait for each other. All requests fail until the outage
  /// ends, and the calls come within that time.
  ///
  /// - Parameters:
  ///   - backsOff: Full jitter of base 1 s, doubled each time; else a retry is sent at once.
  ///   - outage: In seconds.
  package static func load(backsOff: Bool, outage: Double, calls: Int, seed: UInt64) -> Double {
    var chance = Chance(seed: seed)
    var sent = 0
    for _ in 0..<calls {
      var now = chance.between(0, outage)
      sent += 1
      for failure in 0..<mostRetries where now < outage {
        if backsOff { now += chance.between(0, Double(1 << failure)) }
        sent += 1
      }
    }
    return Double(sent) / Double(calls)
  }
}
