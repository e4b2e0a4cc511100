import AppStoreReceipts
import PurchaseQueue

/// The class of a transaction, as far as the store says.
///
/// | class | the store's signs; the first row that applies | fulfils an order | belongs to |
/// | --- | --- | --- | --- |
/// | `revocation` | a revocation date, and no unit is left: a refund of a part leaves the class, and one of the rest of a replaced plan's price is an `upgrade`, as is the switch to a bundle | the one that it fulfilled, or its token's | as before the revocation |
/// | `upgrade` | marked as upgraded, or revoked with the reason that a bundle took its place: another plan replaced this period | the one that it fulfilled, or its token's | as before the upgrade |
/// | `familyShare` | ownership: family shared | none | the account of its original |
/// | `assigned` | ownership: assigned | none: its token is its purchaser's | the device, until the backend says whose it is |
/// | `renewal` | reason: renewal; or later in a chain, with a period of its own and no reason | none | the account of its token's order, else of its original |
/// | `restore` | later in a chain, without a period of its own | none | as for `renewal` |
/// | `upgrade` | later in a chain, with a period of its own; reason: purchase. Another plan, the same one bought again after it lapsed, or more seats | its token's | as for `renewal` |
/// | `outOfApp` | an offer code, and no token: redeemed in the App Store | none | no account yet |
/// | `purchase` | none of these | its token's; if the original API has lost the token, one is proposed | the order's account |
///
/// The store does not mark a purchase that was promoted in the App Store. It is a `purchase` without a token. So is, maybe, a
/// subscription of a bundle, of which no source says whether it has the token of the payment: an order is proposed for it.
@nonexhaustive
public enum TransactionClass: String, Sendable, Hashable, Codable, CaseIterable {
  /// A customer bought: the first transaction of its chain.
  case purchase
  /// The store charged for one more period.
  case renewal
  /// An old purchase, delivered again under a new id.
  case restore
  /// A family member's purchase, shared with this store account.
  case familyShare
  /// A seat of a subscription that another person has paid.
  case assigned
  /// The customer bought again within a subscription, or such a purchase replaced this period.
  case upgrade
  /// The purchase was refunded in full, or is no longer shared.
  case revocation
  /// Bought without the app: an offer code, redeemed in the App Store.
  case outOfApp
}

/// One sign by which a transaction is classified.
package enum ClassSign: String, Sendable, Hashable, Codable, CaseIterable {
  /// The transaction has a revocation date, and nothing of it is left.
  case revocationDate
  /// The transaction is marked as upgraded.
  case markedUpgraded
  /// It was revoked because the customer switched to a bundle.
  case upgradedToBundle
  /// Its ownership is family shared.
  case sharedOwnership
  /// It is an assigned seat.
  case assignedSeat
  /// Its reason is a renewal.
  case reasonRenewal
  /// Its reason is a purchase.
  case reasonPurchase
  /// It has no reason, or an unknown one.
  case noReason
  /// It is not the first transaction of its chain.
  case laterInChain
  /// It is the first transaction of its chain.
  case firstOfChain
  /// It pays for a period.
  case ownPeriod
  /// It pays for no period.
  case noPeriod
  /// An offer code was redeemed, and there is no token.
  case offerCodeWithoutToken
}

/// A transaction's class and the signs for it. It depends on the transaction alone, not on earlier arrivals
/// or on facts of the device.
package struct Classification: Sendable, Hashable {
  /// The class now.
  package var transactionClass: TransactionClass
  /// The class before the transaction was revoked or upgraded. It is the same for every delivery of a
  /// transaction, whenever the store makes it. Whether the transaction can fulfil an order depends on nothing
  /// else.
  package var origin: TransactionClass
  /// The signs that led to the class.
  package var signs: [ClassSign]
  /// Whether the store's interface can have dropped an account token: the original API does, after a restart of the app.
  /// What StoreKit 2 signs has each token that was given to its sheet. Of the transactions for the subscriptions of a
  /// bundle, no source says that.
  private let canLackToken: Bool

  /// Classifies a transaction.
  package init(_ transaction: borrowing StoreTransaction) {
    (origin, signs) = Self.origin(of: transaction)
    canLackToken =
      transaction.proof.kind != ProofKind.signedTransaction.rawValue || transaction.bundle != nil
    if transaction.isTakenBack, !transaction.isRestOfReplacedPlan {
      transactionClass = .revocation
      signs.insert(.revocationDate, at: 0)
    } else if transaction.isUpgraded == true {
      transactionClass = .upgrade
      signs.insert(.markedUpgraded, at: 0)
    } else if transaction.isUpgradedToBundle {
      transactionClass = .upgrade
      signs.insert(.upgradedToBundle, at: 0)
    } else {
      transactionClass = origin
    }
  }

  private static func origin(of transaction: borrowing StoreTransaction) -> (TransactionClass, [ClassSign]) {
    if transaction.ownership == .familyShared { return (.familyShare, [.sharedOwnership]) }
    if transaction.ownership == .assigned { return (.assigned, [.assignedSeat]) }
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

  /// Whether a customer paid for this transaction, so that its account token names *its* order. A renewal
  /// carries the token of the purchase that it renews: if it arrived first, it would take the order from that
  /// purchase.
  var fulfilsTokenOrder: Bool { origin == .purchase || origin == .upgrade }

  /// Whether orders are proposed if there is no token. A signed transaction without one was not paid through the sheet of
  /// an order, unless that sheet has just returned it: the person tapped in the App Store or in a view of StoreKit. A
  /// revoked transaction needs no order, because the money was paid back, and it must not take the place of one that does.
  func isProposed(isFromSheet: Bool) -> Bool {
    transactionClass == .purchase && (canLackToken || isFromSheet)
  }

  /// Whether a token that names an order also names the owner, although the transaction does not fulfil that
  /// order. Not for what another person has paid: its token is that of the payer.
  var inheritsByToken: Bool { origin != .purchase && !isOfAnotherPayer }

  /// Whether another person has paid for it.
  var isOfAnotherPayer: Bool { origin == .familyShare || origin == .assigned }
}
