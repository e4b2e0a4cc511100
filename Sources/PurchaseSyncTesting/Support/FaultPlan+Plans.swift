import LoopbackHTTP

extension FaultPlan {
  /// Nothing goes wrong.
  public static var none: FaultPlan { FaultPlan([]) }

  /// The first so many requests to paths with this beginning answer 503; nothing is committed.
  public static func outage(path: String, requests: Int) -> FaultPlan {
    FaultPlan([Rule(pathPrefix: path, count: requests, fault: .unavailable)])
  }

  /// The n-th request (1 is the first) to paths with this beginning is handled and committed, and its reply lost.
  public static func replyLost(path: String, occurrence: Int) -> FaultPlan {
    FaultPlan([Rule(pathPrefix: path, from: occurrence, fault: .dropAfterCommit)])
  }

  /// The n-th request (1 is the first) to paths with this beginning is lost before anything is committed.
  public static func requestLost(path: String, occurrence: Int) -> FaultPlan {
    FaultPlan([Rule(pathPrefix: path, from: occurrence, fault: .dropBeforeCommit)])
  }

  /// Both plans; where both strike the same request, the receiver's rules win.
  public func merging(_ other: FaultPlan) -> FaultPlan {
    FaultPlan(rules + other.rules, oddReplies: oddReplies + other.oddReplies)
  }

  /// A plan drawn from a seed: each of the first `requests` requests to each path is struck with the given chance.
  ///
  /// The same arguments give the same plan. Every fault ends, so that a client that retries gets through.
  /// `chance` is clamped to 0…1; stalls and delays are at most 50 ms.
  public static func random(seed: UInt64, paths: [String], requests: Int, chance: Double) -> FaultPlan {
    var generator = SplitMix64(seed: seed)
    var rules: [Rule] = []
    for path in paths {
      for occurrence in 1...max(1, requests) {
        // Drawn even when it strikes nothing: a changed chance then moves no other draw.
        let draw = Double.random(in: 0..<1, using: &generator)
        let fault = Fault.drawn(using: &generator)
        if draw < chance { rules.append(Rule(pathPrefix: path, from: occurrence, fault: fault)) }
      }
    }
    return FaultPlan(rules)
  }
}

extension Fault {
  /// 503 with a problem document, as a backend behind a load balancer gives it.
  static var unavailable: Fault {
    .respond(HTTPProblem(status: 503, type: "unavailable", title: "Planned outage").response)
  }

  fileprivate static func drawn(using generator: inout SplitMix64) -> Fault {
    let kind = Int.random(in: 0..<8, using: &generator)
    let amount = Int.random(in: 1...50, using: &generator)
    return switch kind {
    case 0: .dropBeforeCommit
    case 1: .dropAfterCommit
    case 2: .reset
    case 3: .truncate(bytes: amount)
    case 4: .delay(milliseconds: amount)
    case 5: .stall(milliseconds: amount)
    case 6: .garbage(Array("<html>portal \(amount)</html>".utf8))
    default: .unavailable
    }
  }
}
