import PurchaseSyncTesting

/// One rule of the wire protocol, and the requests that test it.
package struct ConformanceCheck: Sendable {
  /// Unique among all checks.
  package let name: String
  /// The rule in one sentence.
  package let promise: String
  /// Where the rule stands.
  package let source: ConformanceSource
  /// What it needs apart from the backend.
  package let needs: Set<ConformanceNeed>
  package private(set) var group = ConformanceGroup.orders
  /// Throws `ConformanceFailure` if the backend breaks the rule.
  package let run: @Sendable (ConformanceLab) async throws -> Void

  init(
    _ name: String, _ promise: String, _ source: ConformanceSource, needs: Set<ConformanceNeed> = [.store],
    _ run: @escaping @Sendable (ConformanceLab) async throws -> Void
  ) {
    (self.name, self.promise, self.source, self.needs, self.run) = (name, promise, source, needs, run)
  }

  /// All checks, by group. Each check makes its own orders and purchases, so any of them can run alone.
  package static let all: [ConformanceCheck] = ConformanceGroup.allCases.flatMap { group in
    checks(of: group).map { check in
      var check = check
      check.group = group
      return check
    }
  }

  private static func checks(of group: ConformanceGroup) -> [ConformanceCheck] {
    let lists: [[ConformanceCheck]] =
      switch group {
      case .orders: [orders, orderKeys, orderLives, orderLists, orderStates, registrations, orderTexts]
      case .uploads: [uploads, claims, ids, oddProofs, receiptRecords]
      case .ownership:
        [sharing, owners, claimedOrders, candidates, ownerRows, chainOwners, devices, adoptions]
      case .refunds: [refunds, refundedParts, statements]
      case .subscriptions: [subscriptions, periods, bundles, bundleOwners, seats, periodChanges, graces]
      case .notifications: [notifications, notices, consent]
      case .restart: [restarts]
      case .statuses: [statuses]
      case .forms: [answers, texts, badClaims]
      case .concurrency: [concurrency, races, paymentRaces]
      case .security: [refusals, forgeries, defects, oldProofs, strangers]
      }
    return lists.flatMap(\.self)
  }
}

/// A broken rule, or a request without the answer that a check is about: what the check expected.
package struct ConformanceFailure: Error {
  package let expected: String
  /// The status of a backend that was busy for too long; nil for any other failure.
  package private(set) var busyStatus: Int?
  /// The request that failed, if others were sent at the same time.
  package var exchange: ConformanceLab.Exchange?

  init(_ expected: String) { self.expected = expected }

  /// The backend was too busy to say anything about the rule.
  ///
  /// - Parameter seconds: Its last `Retry-After`; nil without one.
  static func busy(_ status: Int, retryAfter seconds: Int?, longestWait: Int) -> ConformanceFailure {
    let asked = seconds.map { "a Retry-After of \($0) s" } ?? "no Retry-After in seconds"
    var failure = ConformanceFailure(
      "an answer within \(longestWait) s: the last one is \(status) with \(asked), so the rule was not checked"
    )
    failure.busyStatus = status
    return failure
  }
}

/// Throws a `ConformanceFailure` with this text, which the report shows, unless the condition holds.
func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
  if !holds { throw ConformanceFailure(what()) }
}
