import PurchaseSyncTesting

/// What `conformance --list` says of a check.
package struct ConformanceRule: Sendable, Encodable {
  package let check: String
  package let group: ConformanceGroup
  package let rule: String
  /// Where the rule stands.
  package let place: String

  package init(_ check: ConformanceCheck) {
    (self.check, group) = (check.name, check.group)
    (rule, place) = (check.promise, check.source.description)
  }
}

/// A rule that no check asks for, because it cannot be seen from outside.
package struct UncheckedRule: Sendable, Encodable {
  package let rule: String
  package let place: String
  /// Why it cannot be seen.
  package let reason: String

  private init(_ rule: String, _ section: String, _ reason: String) {
    (self.rule, self.reason) = (rule, reason)
    place = ConformanceSource.yourBackend(section).description
  }

  package static let all: [UncheckedRule] = [
    UncheckedRule(
      "a decision is made on what was written, and on no replica that is behind", "What is easily missed",
      "no request makes a replica fall behind"),
    UncheckedRule(
      "one transaction id in two environments is two purchases", "Overview",
      "the store of a run is in one environment"),
    UncheckedRule(
      "rows of transaction ids are kept for good", "Overview", "a run is shorter than any time to delete them"
    ),
    UncheckedRule(
      "a verdict is told after its commit", "Overview",
      "a killed process shows it, with --restart; the loss of power does not"),
    UncheckedRule(
      "another ledgerEpoch after a backup was restored", "ledgerEpoch", "no request restores a backup"),
    UncheckedRule(
      "keys and numbers of orders are kept as long as the order", "Idempotency, and how long",
      "a day is longer than a run"),
    UncheckedRule(
      "of a device's secret only a hash is kept", "The HTTP protocol", "no answer shows what is kept"),
    UncheckedRule(
      "no decision depends on Purchase-Sync-Client", "The HTTP protocol", "there is no end of names to try"),
    UncheckedRule(
      "an answer to a nonce is signed", "The HTTP protocol",
      "the key is known to the app and the backend alone"),
    UncheckedRule(
      "load that is too much is refused early, with a Retry-After of its own", "After an outage",
      "a check is no load, and all phones together are"),
    UncheckedRule(
      "UNCLAIM_SEATS ends the access of the members that it names", "If a subscription has seats",
      "the claims are the backend's own, and no request lists them"),
    UncheckedRule(
      "a seat's requestIdentifier is saved before the seat is claimed", "If a subscription has seats",
      "no request makes a backend claim a seat"),
    UncheckedRule(
      "what a parent's withdrawal deletes of the person", "If a parent withdraws the consent",
      "it is the law's, and no answer shows it"),
    UncheckedRule(
      "a report of consumption has the numbers that the store takes", "If a part is refunded",
      "whether there is a report is the backend's decision"),
    UncheckedRule(
      "a transaction is finished at the store after its grant is durable", "Finish at the store",
      "a backend need not finish, and only a loss between the two shows the order"),
    UncheckedRule(
      "an order that was not paid in time has expired", "The HTTP protocol",
      "the backend chooses the time, which may be days"),
  ]
}

/// The document of `conformance --list --json`.
package struct ConformanceRuleList: Sendable, Encodable {
  package let checks: [ConformanceRule]
  package let unchecked: [UncheckedRule]

  package init(checks: [ConformanceRule], unchecked: [UncheckedRule]) {
    (self.checks, self.unchecked) = (checks, unchecked)
  }
}
