import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// A year that is paid monthly: twelve payments to which the customer has agreed.
@Suite struct CommitmentTests {
  private static let day: Int64 = 86_400_000
  private static let begin = Sample.now

  private static var club: StoreProduct {
    var product = StoreProduct(
      subscription: "club", groupID: "club", period: .milliseconds(30 * day), price: 4_000)
    product.commitment = 3
    return product
  }

  private static func store(_ environment: StoreEnvironment = .production) -> StoreModel {
    StoreModel(products: [club], forge: Sample.forge, environment: environment)
  }

  private static func at(_ days: Int64) -> Timestamp { begin.adding(milliseconds: days * day) }

  private func signed(_ record: StoreTransactionRecord, _ store: StoreModel) throws -> SignedTransaction {
    try SignedTransaction(jws: store.signedTransaction(for: record.transactionID, now: Self.at(0)))
  }

  @Test func `each payment of a commitment says its number, and all say its end and price`() throws {
    var store = Self.store()
    _ = try store.buy("club", as: "a", token: nil, at: Self.at(0))
    store.advance(to: Self.at(100))
    let periods = try store.charges.map { try signed($0, store) }
    #expect(periods.map(\.billingPlanType) == [.monthly, .monthly, .monthly, .monthly])
    #expect(periods.map { $0.commitment?.billingPeriod } == [1, 2, 3, 1])
    #expect(periods.map { $0.commitment?.billingPeriods } == [3, 3, 3, 3])
    #expect(
      periods.map { $0.commitment?.expiresDate } == [90, 90, 90, 180].map { Self.at($0).milliseconds })
    #expect(periods.map { $0.commitment?.price } == [12_000, 12_000, 12_000, 12_000])
    #expect(periods.map(\.price) == [4_000, 4_000, 4_000, 4_000])
  }

  @Test(arguments: [1, 31, 61])
  func `a cancellation within a commitment ends the subscription after its last payment`(day: Int64) throws {
    var store = Self.store()
    let paid = try store.buy("club", as: "a", token: nil, at: Self.at(0))
    #expect(try store.setRenewal(on: false, transactionID: paid.transactionID, now: Self.at(day)))
    store.advance(to: Self.at(89))
    #expect(store.charges.count == 3)
    #expect(store.subscription(of: paid.transactionID)?.state == .active)
    store.advance(to: Self.at(400))
    #expect(store.charges.count == 3)
    #expect(store.subscription(of: paid.transactionID)?.phase == .expired(.cancelled))
  }

  @Test func `a renewal info says what is certain apart from what follows the commitment`() throws {
    var store = Self.store()
    let paid = try store.buy("club", as: "a", token: nil, at: Self.at(0))
    _ = try store.setRenewal(on: false, transactionID: paid.transactionID, now: Self.at(1))
    let renewal = try #require(store.renewal(of: paid.transactionID))
    let jws = NotificationForge(receipts: store.forge).signedRenewalInfo(renewal, signedAt: Self.at(1))
    let info = try SignedRenewalInfo(jws: jws)
    #expect(info.autoRenewStatus == .on)
    #expect(info.renewalBillingPlanType == .monthly)
    #expect(info.commitment?.autoRenewStatus == .off)
    #expect(info.commitment?.renewalDate == Self.at(90).milliseconds)
    #expect(info.commitment?.renewalPrice == 12_000)
    #expect(info.commitment?.autoRenewProductID == "club")
  }

  @Test func `a failed payment of a commitment is retried, and the next one has the next number`() throws {
    var store = Self.store()
    let paid = try store.buy("club", as: "a", token: nil, at: Self.at(0))
    store.setBilling(works: false, storeAccount: "a", now: Self.at(10))
    store.advance(to: Self.at(35))
    #expect(store.subscription(of: paid.transactionID)?.state == .billingRetry)
    // Within a commitment the customer cannot end the attempts.
    _ = try store.setRenewal(on: false, transactionID: paid.transactionID, now: Self.at(36))
    #expect(store.subscription(of: paid.transactionID)?.state == .billingRetry)
    store.setBilling(works: true, storeAccount: "a", now: Self.at(40))
    #expect(store.charges.map(\.commitment?.payment) == [1, 2])
    store.advance(to: Self.at(75))
    #expect(store.charges.map(\.commitment?.payment) == [1, 2, 3])
  }

  @Test func `a higher price that is declined within a commitment changes none of its payments`() throws {
    var store = Self.store()
    let paid = try store.buy("club", as: "a", token: nil, at: Self.at(0))
    try store.raisePrice(product: "club", to: 5_000, needsConsent: true, now: Self.at(1))
    _ = try store.answerPriceIncrease(transactionID: paid.transactionID, consents: false, now: Self.at(2))
    store.advance(to: Self.at(200))
    #expect(store.charges.map(\.price) == [4_000, 4_000, 4_000])
    #expect(store.subscription(of: paid.transactionID)?.phase == .expired(.priceIncreaseDeclined))
  }

  @Test(arguments: [(nil, nil), (0, 1), (-5, 1), (12, 12), (Int.max, 1_200)] as [(Int?, Int?)])
  func `a product keeps its commitment as JSON, within bounds`(said: Int?, kept: Int?) throws {
    var product = Self.club
    product.commitment = said
    let read = try JSONDecoder().decode(StoreProduct.self, from: JSONEncoder().encode(product))
    #expect(read.commitment == kept)
  }
}
