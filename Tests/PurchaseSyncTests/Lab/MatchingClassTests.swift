import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct MatchingClassTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var name: String
    var transaction: StoreTransaction
    var transactionClass: TransactionClass
    var origin: TransactionClass?
    var signs: [ClassSign]
    var testDescription: String { name }
  }

  static let examples = [
    Example(name: "first", transaction: payment(), transactionClass: .purchase, signs: [.firstOfChain]),
    Example(
      name: "first period", transaction: payment { $0.expiresAt = midday }, transactionClass: .purchase,
      signs: [.firstOfChain]),
    Example(
      name: "renewal by its reason", transaction: laterPeriod(reason: .renewal), transactionClass: .renewal,
      signs: [.reasonRenewal]),
    Example(
      name: "renewal of an app receipt, which has no reasons", transaction: laterPeriod(),
      transactionClass: .renewal,
      signs: [.laterInChain, .ownPeriod, .noReason]),
    Example(
      name: "a reason of later years", transaction: laterPeriod(reason: TransactionReason(rawValue: "GIFT")),
      transactionClass: .renewal, signs: [.laterInChain, .ownPeriod, .noReason]),
    Example(
      name: "auto-renewable without an end",
      transaction: payment("200", original: "100") { $0.productKind = .autoRenewable },
      transactionClass: .renewal, signs: [.laterInChain, .ownPeriod, .noReason]),
    Example(
      name: "restore", transaction: payment("200", original: "100"), transactionClass: .restore,
      signs: [.laterInChain, .noPeriod]),
    Example(
      name: "restore says that it was bought",
      transaction: payment("200", original: "100") { $0.reason = .purchase }, transactionClass: .restore,
      signs: [.laterInChain, .noPeriod]),
    Example(
      name: "another plan, or resubscribed", transaction: laterPeriod(reason: .purchase),
      transactionClass: .upgrade, signs: [.laterInChain, .ownPeriod, .reasonPurchase]),
    Example(
      name: "replaced by another plan", transaction: payment { $0.isUpgraded = true },
      transactionClass: .upgrade, origin: .purchase, signs: [.markedUpgraded, .firstOfChain]),
    Example(
      name: "replaced by a bundle",
      transaction: payment {
        ($0.expiresAt, $0.revokedAt, $0.revocationReason) = (midday, midday, .upgradedToBundle)
      },
      transactionClass: .upgrade, origin: .purchase, signs: [.upgradedToBundle, .firstOfChain]),
    Example(
      name: "shared", transaction: payment { $0.ownership = .familyShared }, transactionClass: .familyShare,
      signs: [.sharedOwnership]),
    Example(
      name: "renewal of what is shared",
      transaction: {
        var shared = laterPeriod(reason: .renewal)
        shared.ownership = .familyShared
        return shared
      }(), transactionClass: .familyShare, signs: [.sharedOwnership]),
    Example(
      name: "a seat", transaction: payment { $0.ownership = .assigned }, transactionClass: .assigned,
      signs: [.assignedSeat]),
    Example(
      name: "renewal of a seat, with its purchaser's token",
      transaction: {
        var seat = laterPeriod(token: orderToken(1), reason: .renewal)
        seat.ownership = .assigned
        return seat
      }(), transactionClass: .assigned, signs: [.assignedSeat]),
    Example(
      name: "a seat that was taken back",
      transaction: payment {
        $0.ownership = .assigned
        $0.revokedAt = midday
      }, transactionClass: .revocation, origin: .assigned, signs: [.revocationDate, .assignedSeat]),
    Example(
      name: "refunded", transaction: payment { $0.revokedAt = midday }, transactionClass: .revocation,
      origin: .purchase, signs: [.revocationDate, .firstOfChain]),
    Example(
      name: "no longer shared",
      transaction: payment {
        $0.ownership = .familyShared
        $0.revokedAt = midday
      }, transactionClass: .revocation, origin: .familyShare, signs: [.revocationDate, .sharedOwnership]),
    Example(
      name: "upgraded and refunded",
      transaction: payment {
        $0.isUpgraded = true
        $0.revokedAt = midday
      }, transactionClass: .revocation, origin: .purchase, signs: [.revocationDate, .firstOfChain]),
    Example(
      name: "offer code", transaction: payment { $0.offerType = .code }, transactionClass: .outOfApp,
      signs: [.firstOfChain, .offerCodeWithoutToken]),
    Example(
      name: "offer code in an order's payment",
      transaction: payment(token: orderToken(1)) { $0.offerType = .code }, transactionClass: .purchase,
      signs: [.firstOfChain]),
    Example(
      name: "introductory offer", transaction: payment { $0.offerType = .introductory },
      transactionClass: .purchase, signs: [.firstOfChain]),
  ]

  @Test(arguments: examples)
  func `a transaction has the expected class and signs`(example: Example) {
    let found = Classification(example.transaction)
    #expect(found.transactionClass == example.transactionClass)
    #expect(found.origin == example.origin ?? example.transactionClass)
    #expect(found.signs == example.signs)
  }

  @Test func `there is an example of each class and each sign`() {
    #expect(Set(Self.examples.map(\.transactionClass)) == Set(TransactionClass.allCases))
    #expect(Set(Self.examples.flatMap(\.signs)) == Set(ClassSign.allCases))
  }

  @Test func `marks that the store adds later do not change the origin`() {
    for example in Self.examples {
      var later = example.transaction
      later.revokedAt = midday
      #expect(Classification(later).origin == Classification(example.transaction).origin, "\(example.name)")
    }
  }
}
