package import PurchaseSyncTesting

/// Short names for parts that many scenarios have.
extension Scenario {
  package static let gems = "gems.100"
  package static let coins = "coins.500"
  package static let alice = "alice"
  package static let day: Int64 = 86_400_000

  package static let buyGems = AppStep.buy(product: gems, account: alice)
  package static let buyCoins = AppStep.buy(product: coins, account: alice)
}

extension Scenario.Launch {
  /// Opened, and used until nothing is left to do.
  package static let opened = Self()

  /// Alice buys gems, and the app is killed.
  package static func purchase(killed: Crash?, before: [EnvironmentStep] = [], reinstalled: Bool = false)
    -> Self
  {
    Self(before: before, does: [Scenario.buyGems], killed: killed, reinstalled: reinstalled)
  }
}

extension EnvironmentStep {
  /// One kind of fault; `count` nil: from now on.
  package static func fault(
    _ fault: FaultPlan.Word, at path: String = Scenario.uploads, from: Int? = nil, count: Int? = 1,
    status: Int? = nil, retryAfter: Int? = nil, body: String? = nil, bodyContains: String? = nil
  ) -> EnvironmentStep {
    .faults([
      .init(
        path: path, bodyContains: bodyContains, from: from, count: count, fault: fault, status: status,
        retryAfter: retryAfter, body: body)
    ])
  }

  package static func faults(_ rules: [FaultPlan.Rule]) -> EnvironmentStep {
    .faults(FaultPlan(rules))
  }

  /// The backend answers 503 to so many uploads; nil: to all.
  package static func outage(_ count: Int? = nil) -> EnvironmentStep {
    .fault(.respond, count: count, status: 503)
  }

  /// No request reaches the backend; the store can be reached.
  package static let offline = fault(.dropBeforeCommit, at: "/v1", count: nil)
  package static let noFaults = EnvironmentStep.faults([])

  package static func days(_ days: Int64) -> EnvironmentStep { .wait(milliseconds: days * Scenario.day) }
}
