import PurchaseQueue

/// The load that retries make while a part of all requests fails: M. Brooker, "Fixing retries with token buckets and
/// circuit breakers" (2022).
package enum RetryLoad {
  package enum Rule: String, Sendable, CaseIterable {
    case none
    case threeRetries
    /// A success puts a tenth of a token into a bucket of ten; a retry, of which a call has at most three, takes one.
    case tokenBucket
  }

  static let mostRetries = 3
  static let room = 10.0
  static let deposit = 0.1

  /// Requests per call. The calls are spread over the clients.
  package static func perCall(
    _ rule: Rule, failing: Double, clients: Int, calls: Int, seed: UInt64
  ) -> Double {
    var random = RandomSource(seed: seed)
    var tokens = Array(repeating: room, count: clients)
    var requests = 0
    for call in 0..<calls {
      let client = call % clients
      for attempt in 0...mostRetries {
        if attempt > 0 {
          if rule == .none { break }
          if rule == .tokenBucket {
            guard tokens[client] >= 1 else { break }
            tokens[client] -= 1
          }
        }
        requests += 1
        guard random.unit() < failing else {
          tokens[client] = min(room, tokens[client] + deposit)
          break
        }
      }
    }
    return Double(requests) / Double(calls)
  }
}

/// Whether backoff lowers the load: M. Brooker, "What is Backoff For?" (2022). In an open system clients do not know of
/// each other and come at their own rate; in a closed one a client begins its next call when the last one has ended.
package enum BackoffLoad {
  /// The mean load of the last tenth of the run over the capacity, where all calls arrive at `arriving` times the
  /// capacity (open), or come from `arriving` times as many clients as the capacity can serve at once (closed).
  package static func offered(isOpen: Bool, backsOff: Bool, arriving: Double) -> Double {
    let capacity = 1_000.0
    let seconds = 2_000
    // What arrives at each second, by the attempt's number.
    var due = Array(repeating: [0.0, 0, 0, 0], count: seconds + 512)
    if !isOpen { due[0][0] = capacity * arriving }
    var tail = 0.0
    for second in 0..<seconds {
      if isOpen { due[second][0] += capacity * arriving }
      let load = due[second].reduce(0, +)
      let success = load > capacity ? capacity / load : 1
      if second >= seconds - seconds / 10 { tail += load / capacity / Double(seconds / 10) }
      for attempt in 0..<4 {
        let failed = due[second][attempt] * (1 - success)
        let over = due[second][attempt] * success + (attempt == 3 ? failed : 0)
        if !isOpen { due[second + 1][0] += over }
        guard attempt < 3 else { continue }
        due[second + (backsOff ? 8 << attempt : 1)][attempt + 1] += failed
      }
    }
    return tail
  }
}
