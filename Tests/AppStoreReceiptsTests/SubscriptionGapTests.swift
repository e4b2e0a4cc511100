import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// A subscription that lapsed and was bought again: between its periods the customer has none.
@Suite struct SubscriptionGapTests {
  /// What ends the first period, from 10 to 20. The next one is from 50 to 60.
  enum End: CaseIterable {
    case expiry, refund, familyRevoke, plan, offer

    func change(_ period: inout SubscriptionPeriod) {
      switch self {
      case .expiry: break
      case .refund: (period.revocationDate, period.revocationType) = (15, .fullRefund)
      case .familyRevoke: (period.revocationDate, period.ownership) = (15, .familyShared)
      case .plan: period.productID = "other"
      case .offer: period.isTrial = true
      }
    }

    var state: SubscriptionStatus.State {
      switch self {
      case .expiry, .plan, .offer: .lapsed(nil)
      case .refund: .refunded
      case .familyRevoke: .revoked
      }
    }
  }

  private func period(_ id: String, from start: Int64, to end: Int64) -> SubscriptionPeriod {
    SubscriptionPeriod(
      transactionID: id, originalTransactionID: "1", productID: "p", purchaseDate: start, expiresDate: end)
  }

  private func status(
    _ periods: [SubscriptionPeriod], at now: Int64, renewal: SubscriptionRenewal = SubscriptionRenewal()
  ) throws -> SubscriptionStatus {
    var facts = SubscriptionFacts()
    // The store lists them in no order.
    for period in periods.reversed() { facts.add(period) }
    facts.add(renewal, originalTransactionID: "1")
    return try #require(SubscriptionStatus.all(in: facts, at: now).first)
  }

  @Test(arguments: End.allCases, [20, 35, 49] as [Int64])
  func `In a gap the latest period that has begun decides, and the next one gives nothing yet`(
    end: End, now: Int64
  ) throws {
    var first = period("1", from: 10, to: 20)
    end.change(&first)
    let gap = try status([first, period("2", from: 50, to: 60)], at: now)
    #expect(gap.state == end.state)
    #expect(!gap.isEntitled)
    #expect(gap.transactionID == "1")
    #expect(gap.endedAt == (end.state == .lapsed(nil) ? 20 : 15))
    #expect(gap.nextProductID == nil)
  }

  @Test func `Access begins with the next period, and before the first one nothing is known`() throws {
    let periods = [
      period("1", from: 10, to: 20), period("2", from: 50, to: 60), period("3", from: 60, to: 70),
    ]
    for (now, until) in [(0, 20), (10, 20), (19, 20), (20, nil), (49, nil), (50, 70), (69, 70), (70, nil)]
      as [(Int64, Int64?)]
    {
      #expect(try status(periods, at: now).entitledUntil == until, "at \(now)")
    }
  }

  @Test func `The store's statement is about the newest period, not about a gap before it`() throws {
    var renewal = SubscriptionRenewal()
    renewal.isInBillingRetry = true
    renewal.willAutoRenew = true
    renewal.expirationIntent = .billingError
    renewal.gracePeriodExpiresDate = 65
    let periods = [period("1", from: 10, to: 20), period("2", from: 50, to: 60)]
    let gap = try status(periods, at: 30, renewal: renewal)
    #expect(gap.state == .lapsed(nil))
    #expect(gap.willAutoRenew == nil)
    #expect(gap.expirationIntent == nil)
    #expect(try status(periods, at: 60, renewal: renewal).state == .gracePeriod)
    #expect(try status(periods, at: 65, renewal: renewal).state == .billingRetry)
  }

  @Test func `A grace period in a gap gives access until its end, or on into the recovered period`() throws {
    var renewal = SubscriptionRenewal()
    renewal.gracePeriodExpiresDate = 26
    let first = period("1", from: 10, to: 20)
    let late = [first, period("2", from: 50, to: 60)]
    #expect(try status(late, at: 25, renewal: renewal).state == .gracePeriod)
    #expect(try status(late, at: 25, renewal: renewal).entitledUntil == 26)
    #expect(try status(late, at: 26, renewal: renewal).state == .lapsed(nil))
    let recovered = [first, period("2", from: 24, to: 34)]
    #expect(try status(recovered, at: 22, renewal: renewal).entitledUntil == 34)
  }

  @Test func `An upgrade that is missing in the facts leaves a gap until the next period`() throws {
    var first = period("1", from: 10, to: 40)
    first.isUpgraded = true
    first.productID = "basic"
    first.revocationDate = 15
    let periods = [first, period("2", from: 50, to: 60)]
    #expect(try status(periods, at: 14).entitledUntil == 15)
    #expect(try !status(periods, at: 30).isEntitled)
  }

  @Test(
    arguments: [
      (nil, .assigned, .revoked), (RevocationType(rawValue: "LATER"), .assigned, .revoked),
      (RevocationType(rawValue: "LATER"), .familyShared, .revoked),
      (RevocationType(rawValue: "LATER"), .purchased, .refunded), (.fullRefund, .assigned, .refunded),
      (.familyRevoke, .purchased, .revoked),
    ] as [(RevocationType?, OwnershipType, SubscriptionStatus.State)])
  func `Who has not paid is refunded nothing, also by a type of revocation that is new`(
    type: RevocationType?, ownership: OwnershipType, state: SubscriptionStatus.State
  ) throws {
    var seat = period("1", from: 10, to: 20)
    (seat.revocationDate, seat.revocationType, seat.ownership) = (15, type, ownership)
    #expect(try status([seat], at: 16).state == state)
  }

  @Test func `A gap in the answer of the store is no access`() throws {
    let item = { (id: String, from: String, to: String) in
      #"{"transaction_id":"\#(id)","original_transaction_id":"1","product_id":"p","purchase_date_ms":"\#(from)","expires_date_ms":"\#(to)"}"#
    }
    let items = [item("1", "1704067200000", "1706745600000"), item("2", "1717200000000", "1719792000000")]
    for list in [items, items.reversed()] {
      let document = try StoreDocument(
        decoding: #"{"status":0,"latest_receipt_info":[\#(list.joined(separator: ","))]}"#)
      let status = SubscriptionStatus.all(in: document.subscriptionFacts, at: 1_709_251_200_000)
      #expect(status.map(\.state) == [.lapsed(nil)])
      #expect(status.map(\.endedAt) == [1_706_745_600_000])
    }
  }
}
