import AppStoreReceipts

/// What a transaction is, as far as the store says.
///
/// | class | the store's signs, the first that applies | fulfils an order | belongs to |
/// | --- | --- | --- | --- |
/// | `revocation` | a revocation date | the one that it fulfilled, or its token's | as before the revocation |
/// | `upgrade` | marked as upgraded: another plan replaced this period | the one that it fulfilled, or its token's | as before the upgrade |
/// | `familyShare` | ownership: family shared | none | the account of its original |
/// | `renewal` | reason: renewal; or later in a chain, with a period of its own and no reason | none | the account of its token's order, else of its original |
/// | `restore` | later in a chain, without a period of its own | none | the same |
/// | `upgrade` | later in a chain, with a period of its own; reason: purchase. Another plan, or the same one bought again after it lapsed | its token's | the same |
/// | `outOfApp` | an offer code, and no token: redeemed in the App Store | none | nobody yet |
/// | `purchase` | none of these | its token's; without a token one is proposed | the order's account |
///
/// A purchase that was promoted in the App Store bears no sign of it: it is a `purchase` without a token, and without
/// an order that was open when it was paid.
@nonexhaustive
public enum TransactionClass: String, Sendable, Hashable, Codable, CaseIterable {
  /// Somebody bought: the first transaction of its chain.
  case purchase
  /// The store charged for one more period.
  case renewal
  /// A purchase of long ago, handed over again under a new id.
  case restore
  /// Somebody else's purchase, shared with this store account.
  case familyShare
  /// The customer bought again within a subscription, or this is the period that such a purchase replaced.
  case upgrade
  /// Refunded, or no longer shared.
  case revocation
  /// Bought where the app was not asked: an offer code, redeemed in the App Store.
  case outOfApp
}

/// One sign by which a transaction was classified.
@nonexhaustive
public enum ClassSign: String, Sendable, Hashable, Codable, CaseIterable {
  /// It has a revocation date.
  case revocationDate
  /// It is marked as upgraded.
  case markedUpgraded
  /// Its ownership is family shared.
  case sharedOwnership
  /// Its reason is a renewal.
  case reasonRenewal
  /// Its reason is a purchase.
  case reasonPurchase
  /// It has no reason, or one that is not known.
  case noReason
  /// It is not the first of its chain.
  case laterInChain
  /// It is the first of its chain.
  case firstOfChain
  /// It pays for a period.
  case ownPeriod
  /// It pays for no period.
  case noPeriod
  /// An offer code was redeemed, and there is no token.
  case offerCodeWithoutToken
}

/// A transaction's class, and by which signs. A function of the transaction alone: neither what arrived before nor what
/// the device knows changes it.
public struct Classification: Sendable, Hashable {
  /// What it is now.
  public var transactionClass: TransactionClass
  /// What it was before it was revoked or upgraded. The same for every delivery of a transaction, whenever the store
  /// makes it: whether it can fulfil an order depends on nothing else.
  public var origin: TransactionClass
  /// Why.
  public var signs: [ClassSign]

  /// Classifies a transaction.
  public init(_ transaction: borrowing StoreTransaction) {
    (origin, signs) = Self.origin(of: transaction)
    if transaction.revokedAt != nil {
      transactionClass = .revocation
      signs.insert(.revocationDate, at: 0)
    } else if transaction.isUpgraded == true {
      transactionClass = .upgrade
      signs.insert(.markedUpgraded, at: 0)
    } else {
      transactionClass = origin
    }
  }

  private static func origin(of transaction: borrowing StoreTransaction) -> (TransactionClass, [ClassSign]) {
    if transaction.ownership == .familyShared { return (.familyShare, [.sharedOwnership]) }
    if transaction.reason == .renewal { return (.renewal, [.reasonRenewal]) }
    if transaction.transactionID != transaction.originalTransactionID {
      let hasPeriod = transaction.expiresAt != nil || transaction.productKind == .autoRenewable
      guard hasPeriod else { return (.restore, [.laterInChain, .noPeriod]) }
      guard transaction.reason == .purchase else {
        return (.renewal, [.laterInChain, .ownPeriod, .noReason])
      }
      return (.upgrade, [.laterInChain, .ownPeriod, .reasonPurchase])
    }
    if transaction.offerType == .code, transaction.accountToken == nil {
      return (.outOfApp, [.firstOfChain, .offerCodeWithoutToken])
    }
    return (.purchase, [.firstOfChain])
  }

  /// Whether a customer paid for it in this chain, so that an account token on it names *its* order. A renewal
  /// carries the token of the purchase that it renews: it would take the order from it, if it arrived first.
  var fulfilsTokenOrder: Bool { origin == .purchase || origin == .upgrade }

  /// Whether orders are proposed for it if it has no token. What was revoked got its money back: it needs none, and
  /// must not stand in the way of one that does.
  var isProposed: Bool { transactionClass == .purchase }

  /// Whether a token that names an order also names the owner, although the order is not to be fulfilled by it. Not
  /// that of a family member: the token would be that of whoever paid.
  var inheritsByToken: Bool { origin != .familyShare && origin != .purchase }
}
