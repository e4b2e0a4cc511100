import PurchaseSyncTesting

/// Short ways to say what the stories are made of.
extension Scenario {
  static let gems = "gems.100"
  static let coins = "coins.500"
  static let alice = "alice"
  static let day: Int64 = 86_400_000

  static let buyGems = AppStep.buy(product: gems, account: alice)
  static let buyCoins = AppStep.buy(product: coins, account: alice)
}

extension Scenario.Launch {
  /// Opened, and used until nothing is left to do.
  static let opened = Self()

  /// Alice buys gems, and the app is killed.
  static func purchase(killed: Crash?, before: [WorldStep] = [], reinstalled: Bool = false) -> Self {
    Self(before: before, does: [Scenario.buyGems], killed: killed, reinstalled: reinstalled)
  }
}

extension WorldStep {
  /// One kind of fault; `count` nil: from now on.
  static func fault(
    _ fault: String, at path: String = Scenario.uploads, from: Int? = nil, count: Int? = 1,
    status: Int? = nil, retryAfter: Int? = nil, body: String? = nil, bodyContains: String? = nil
  ) -> WorldStep {
    .faults([
      .init(
        path: path, bodyContains: bodyContains, from: from, count: count, fault: fault, status: status,
        retryAfter: retryAfter, body: body)
    ])
  }

  static func faults(_ rules: [FaultPlanDocument.Rule]) -> WorldStep {
    .faults(FaultPlanDocument(rules: rules))
  }

  /// The backend answers 503 to so many uploads; nil: to all.
  static func outage(_ count: Int? = nil) -> WorldStep { .fault("respond", count: count, status: 503) }

  /// No request reaches the backend; the store can be reached.
  static let offline = fault("dropBeforeCommit", at: "/v1", count: nil)
  static let noFaults = WorldStep.faults([])

  static func days(_ days: Int64) -> WorldStep { .wait(milliseconds: days * Scenario.day) }
}
