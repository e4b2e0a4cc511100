import AppStoreDocuments
import AppStoreReceipts
import Foundation
import TestSupport
import Testing

@Suite struct SubscriptionStatusTests {
  /// A period of the subscription "1", with small numbers as times.
  private func period(
    _ id: String, _ product: String = "p", from start: Int64?, to end: Int64, original: String = "1",
    change: (inout SubscriptionPeriod) -> Void = { _ in }
  ) -> SubscriptionPeriod {
    var period = SubscriptionPeriod(
      transactionID: id, originalTransactionID: original, productID: product, purchaseDate: start,
      expiresDate: end)
    change(&period)
    return period
  }

  private func status(
    _ periods: [SubscriptionPeriod], at now: Int64, renewal: (inout SubscriptionRenewal) -> Void = { _ in }
  ) throws -> SubscriptionStatus {
    var facts = SubscriptionFacts()
    for period in periods { facts.add(period) }
    var said = SubscriptionRenewal()
    renewal(&said)
    facts.add(said, originalTransactionID: "1")
    return try #require(SubscriptionStatus.all(in: facts, at: now).first)
  }

  @Test func `The customer is entitled until the last moment of a period`() throws {
    let periods = [period("1", from: 10, to: 20)]
    #expect(try status(periods, at: 19).entitledUntil == 20)
    #expect(try status(periods, at: 20).state == .lapsed(nil))
    #expect(try status(periods, at: .max).endedAt == 20)
    // A customer who has just paid has access even if the clock is behind.
    #expect(try status(periods, at: 9).isEntitled)
    #expect(try status(periods, at: .min).isEntitled)
    #expect(try status([period("1", from: nil, to: 20)], at: 0).isEntitled)
  }

  @Test func `A renewal charged ahead extends the end, and the product is the current period's`() throws {
    let periods = [period("1", "a", from: 10, to: 20), period("2", "b", from: 20, to: 30)]
    let now = try status(periods, at: 19)
    #expect(now.productID == "a" && now.entitledUntil == 30 && now.transactionID == "1")
    #expect(try status(periods, at: 20).productID == "b")
    // A period after a gap does not extend this one.
    let gap = [period("1", from: 10, to: 20), period("2", from: 25, to: 30)]
    #expect(try status(gap, at: 19).entitledUntil == 20)
    #expect(try status(gap, at: 25).entitledUntil == 30)
  }

  @Test func `Billing retry, the grace period and the reason count only after the end`() throws {
    let periods = [period("1", from: 10, to: 20)]
    func failed(_ now: Int64, grace: Int64?, retry: Bool?) throws -> SubscriptionStatus {
      try status(periods, at: now) {
        $0.gracePeriodExpiresDate = grace
        $0.isInBillingRetry = retry
        $0.expirationIntent = .billingError
        $0.autoRenewProductID = "q"
      }
    }
    #expect(try failed(19, grace: 26, retry: true).state == .active)
    let grace = try failed(25, grace: 26, retry: true)
    #expect(grace.state == .gracePeriod && grace.entitledUntil == 26 && grace.isChangePending)
    let retry = try failed(26, grace: 26, retry: true)
    #expect(retry.state == .billingRetry && retry.endedAt == 20 && retry.nextProductID == "q")
    let over = try failed(26, grace: 26, retry: false)
    #expect(over.state == .lapsed(.billingError) && over.nextProductID == nil && !over.isChangePending)
    #expect(try failed(20, grace: nil, retry: nil).state == .lapsed(.billingError))
  }

  @Test func `A refund ends its period, and a refund of an earlier period is listed`() throws {
    let refunded = [
      period("1", from: 10, to: 20) { $0.revocationDate = 15 }, period("2", from: 20, to: 30),
    ]
    #expect(try status(refunded, at: 14).entitledUntil == 15)
    #expect(try status(refunded, at: 14).revokedTransactionIDs.isEmpty)
    #expect(try status(refunded, at: 21).state == .active)
    #expect(try status(refunded, at: 21).revokedTransactionIDs == ["1"])
    let last = [period("1", from: 10, to: 20), period("2", from: 20, to: 30) { $0.revocationDate = 25 }]
    let after = try status(last, at: 25) { $0.gracePeriodExpiresDate = 99 }
    #expect(after.state == .refunded && after.endedAt == 25 && !after.isEntitled)
    // A refunded renewal that was charged ahead does not change the current period.
    let ahead = [period("1", from: 10, to: 20), period("2", from: 20, to: 30) { $0.revocationDate = 18 }]
    #expect(try status(ahead, at: 19).entitledUntil == 20)
    #expect(try status(ahead, at: 20).state == .refunded)
  }

  @Test func `The end of family sharing is no refund`() throws {
    let shared = period("1", from: 10, to: 20) {
      $0.revocationDate = 15
      $0.ownership = .familyShared
    }
    #expect(try status([shared], at: 15).state == .revoked)
    let typed = period("1", from: 10, to: 20) {
      $0.revocationDate = 15
      $0.revocationType = .familyRevoke
    }
    #expect(try status([typed], at: 15).state == .revoked)
    let money = period("1", from: 10, to: 20) {
      $0.revocationDate = 15
      $0.revocationType = .proratedRefund
      $0.ownership = .familyShared
    }
    #expect(try status([money], at: 15).state == .refunded)
  }

  @Test func `An upgraded period ends when its successor begins`() throws {
    let periods = [
      period("1", "a", from: 10, to: 40) { $0.isUpgraded = true }, period("2", "b", from: 20, to: 30),
    ]
    #expect(try status(periods, at: 19).productID == "a")
    let upgraded = try status(periods, at: 20)
    #expect(upgraded.productID == "b" && upgraded.entitledUntil == 30)
    #expect(upgraded.latestChange == PlanChange(previousProductID: "a", date: 20, wasAtOnce: true))
    #expect(try status(periods, at: 30).state == .lapsed(nil))
    let alone = try status([periods[0]], at: 20)
    #expect(alone.state == .upgraded && !alone.isEntitled)
  }

  @Test func `A downgrade that is undone before the next period leaves no change`() throws {
    let status = try status([period("1", from: 10, to: 20)], at: 15) {
      $0.autoRenewProductID = "p"
      $0.willAutoRenew = true
    }
    #expect(status.nextProductID == "p" && !status.isChangePending && status.latestChange == nil)
    #expect(try self.status([period("1", from: 10, to: 20)], at: 15).nextProductID == nil)
    #expect(
      try self.status([period("1", from: 10, to: 20)], at: 15) { $0.willAutoRenew = true }.nextProductID
        == "p")
  }

  @Test func `The later statement counts, in any order of arrival`() {
    let refund = period("1", from: 10, to: 20) {
      $0.revocationDate = 15
      $0.asOf = 100
      $0.groupID = "g"
    }
    let reversed = period("1", from: 10, to: 20) { $0.asOf = 200 }
    for order in [[refund, reversed], [reversed, refund]] {
      var facts = SubscriptionFacts()
      for period in order { facts.add(period) }
      #expect(facts.periods.map(\.revocationDate) == [nil])
      #expect(facts.periods.map(\.groupID) == ["g"])
    }
    var facts = SubscriptionFacts()
    var (old, new) = (SubscriptionRenewal(), SubscriptionRenewal())
    (old.asOf, old.willAutoRenew, new.asOf, new.willAutoRenew) = (1, true, 2, false)
    facts.add(new, originalTransactionID: "1")
    facts.add(old, originalTransactionID: "1")
    #expect(facts.renewals["1"]?.willAutoRenew == false)
  }

  @Test func `A refund in either array of an answer counts`() throws {
    for (first, second) in [(#","cancellation_date_ms":"15""#, ""), ("", #","cancellation_date_ms":"15""#)] {
      func item(_ more: String) -> String {
        #"{"transaction_id":"1","product_id":"p","purchase_date_ms":"10","expires_date_ms":"20"\#(more)}"#
      }
      let response = try VerifyReceiptResponse(
        json: Data(
          #"{"status":0,"receipt":{"in_app":[\#(item(first))]},"latest_receipt_info":[\#(item(second))]}"#
            .utf8))
      let status = SubscriptionStatus.all(in: SubscriptionFacts(response), at: 16)
      #expect(status.map(\.state) == [.refunded])
    }
  }

  @Test func `The deciding subscription comes first in its group`() throws {
    var facts = SubscriptionFacts()
    for (id, end) in [("1", 30), ("2", 50), ("3", 5)] as [(String, Int64)] {
      facts.add(period(id, from: 1, to: end, original: id) { $0.groupID = "g" })
    }
    facts.add(period("4", from: 1, to: 9, original: "4"))
    let groups = SubscriptionStatus.groups(in: facts, at: 10)
    #expect(groups.map(\.groupID) == ["g", nil])
    #expect(groups[0].subscriptions.map(\.originalTransactionID) == ["2", "1", "3"])
    #expect(groups[0].isEntitled && !groups[1].isEntitled)
    #expect(groups[0].strongest?.originalTransactionID == "2")
  }

  @Test(.enabled(if: LongTests.areOn))
  func `A hundred thousand periods are computed fast`() throws {
    var facts = SubscriptionFacts()
    for index in 0..<100_000 {
      facts.add(period("\(index)", "p\(index % 3)", from: Int64(index) * 10, to: Int64(index) * 10 + 15))
    }
    let status = SubscriptionStatus.all(in: facts, at: 500_000)
    #expect(status.map(\.productID) == ["p2"])
  }
}
