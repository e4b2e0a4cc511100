import AppStoreDocuments
package import AppStoreReceipts
package import PurchaseQueue

/// An account's holding of one product at a moment.
package struct Entitlement: Sendable, Hashable, Encodable {
  package var productID: String
  /// The quantity: of consumables all that were paid and not reversed, of a subscription its seats. Who has paid keeps one.
  package var quantity: Int
  /// The known end, for subscriptions.
  package var expiresAt: Timestamp?
  package var environment: StoreEnvironment
  /// Whether it is free of charge: everything outside production is.
  package var sandbox: Bool

  package init(productID: String, quantity: Int, expiresAt: Timestamp? = nil, environment: StoreEnvironment) {
    self.productID = productID
    self.quantity = quantity
    self.expiresAt = expiresAt
    self.environment = environment
    sandbox = environment != .production
  }
}

extension BackendModel {
  /// The account's holdings: the ledger without reversed, replaced and ended purchases, ordered by product, charged
  /// before free.
  ///
  /// A doubled credit counts double.
  package func holdings(account: String, now: Timestamp) -> [Entitlement] {
    var once: [Product: Int] = [:]
    var chains: [ChainKey: [Credit]] = [:]
    for credit in credits(of: account) {
      guard credit.expiresAt != nil else {
        let product = Product(id: credit.productID, environment: credit.transaction.environment)
        let units = units(of: credit)
        if units != 0 { once[product, default: 0] += units }
        continue
      }
      let facts = purchase(credit.transaction)?.facts
      let isApart = facts.map { self.isApart($0) } ?? false
      let chain = ChainKey(
        environment: credit.transaction.environment,
        originalTransactionID: isApart
          ? credit.transaction.transactionID
          : facts?.originalTransactionID ?? credit.transaction.transactionID)
      chains[chain, default: []].append(credit)
    }
    let counted = once.map {
      Entitlement(productID: $0.key.id, quantity: $0.value, environment: $0.key.environment)
    }
    let subscribed = chains.compactMap { subscription($0.key, $0.value, of: account, now: now) }
    return (counted + subscribed).sorted {
      ($0.productID, $0.sandbox ? 1 : 0, $0.environment.rawValue, $0.expiresAt ?? Self.never)
        < ($1.productID, $1.sandbox ? 1 : 0, $1.environment.rawValue, $1.expiresAt ?? Self.never)
    }
  }

  /// The same, as counts of product ids.
  package func entitlements(account: String, now: Timestamp) -> [String: Int] {
    var result: [String: Int] = [:]
    for held in holdings(account: account, now: now) { result[held.productID, default: 0] += held.quantity }
    return result
  }

  private static var never: Timestamp { Timestamp(milliseconds: .max) }

  private struct Product: Hashable {
    var id: String
    var environment: StoreEnvironment
  }

  /// The holding of one subscription, from its end, refunds of any period, upgrades and the grace period (R3.8, R5.6).
  /// Nil if it has ended.
  private func subscription(
    _ chain: ChainKey, _ credits: [Credit], of account: String, now: Timestamp
  ) -> Entitlement? {
    var facts = SubscriptionFacts()
    for credit in credits { facts.add(period(credit, of: chain)) }
    // A period that was refunded before the backend learned of it was never credited, and belongs between the others.
    for row in periods(of: chain)
    where row.account == account && row.facts.isTakenBack
      && self.credits(for: row.transaction).isEmpty
    {
      facts.add(
        period(
          credit(for: row.facts, to: .account(account), order: nil, cause: .renewal, now: now), of: chain))
    }
    if let renewal = renewals[chain] {
      facts.add(renewal.renewal, originalTransactionID: chain.originalTransactionID)
    }
    guard let status = SubscriptionStatus.all(in: facts, at: now.milliseconds).first,
      let until = status.entitledUntil
    else { return nil }
    // The status knows each transaction once. A second credit of one is a fault, and is to be seen.
    let end = credits.first { $0.transaction.transactionID == status.transactionID }?.expiresAt
    var seen: Set<TransactionKey> = []
    let doubled = credits.filter { $0.expiresAt == end && !seen.insert($0.transaction).inserted }
    return Entitlement(
      productID: status.productID,
      quantity: max(1, max(1, status.seats) + doubled.reduce(0) { $0 + $1.quantity }),
      expiresAt: Timestamp(milliseconds: until), environment: chain.environment)
  }

  private func period(_ credit: Credit, of chain: ChainKey) -> SubscriptionPeriod {
    let known = purchase(credit.transaction)?.facts
    var period = SubscriptionPeriod(
      transactionID: credit.transaction.transactionID, originalTransactionID: chain.originalTransactionID,
      productID: credit.productID, purchaseDate: known?.purchaseDate ?? credit.purchasedAt?.milliseconds,
      expiresDate: known?.expiresDate ?? credit.expiresAt?.milliseconds ?? .min)
    period.isUpgraded = known?.isUpgraded ?? false
    period.ownership = known?.ownership
    period.quantity = credit.quantity
    period.revokedSeats = known?.revokedSeats
    period.isOneOfSeveral = known?.isOneOfSeveral ?? false
    if let reversal = reversal(of: credit.transaction) {
      period.revocationDate = known?.revocationDate ?? reversal.at.milliseconds
    }
    return period
  }
}
