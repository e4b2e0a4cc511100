import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// The three stages of a subscription receipt (R1.2), and the changes of plan (R5.6), from the samples.
@Suite struct SubscriptionLifeTests {
  private let original = "1000000557452125"

  private func only(_ facts: SubscriptionFacts, at now: Int64) throws -> SubscriptionStatus {
    let all = SubscriptionStatus.all(in: facts, at: now)
    #expect(all.count == 1)
    return try #require(all.first)
  }

  /// The lapsed sample before its lapse: status 0 and no expiration fields.
  private func justPaid() throws -> VerifyReceiptResponse {
    var members = try #require(JSONValue(json: Fixture.lapsedTransactionReceipt.data).object)
    members["latest_receipt_info"] = members["latest_expired_receipt_info"]
    members["latest_expired_receipt_info"] = nil
    members["is_in_billing_retry_period"] = nil
    members["status"] = 0
    return try VerifyReceiptResponse(.object(members))
  }

  @Test func `A receipt is paid, lapses, and is renewed after the lapse`() throws {
    let expiry: Int64 = 1_566_377_359_000
    let paid = try justPaid()
    #expect(paid.action == .ok)
    var facts = SubscriptionFacts(paid)
    let first = try only(facts, at: expiry - 1)
    #expect(first.state == .active && first.isEntitled && first.entitledUntil == expiry)
    #expect(first.originalTransactionID == original && first.productID == "mango_star_vip10")
    #expect(first.willAutoRenew == true && first.nextProductID == "mango_star_vip10")
    #expect(first.isTrial == false && first.isInIntroductoryOffer == false && first.endedAt == nil)

    let lapsed = try Fixture.lapsedTransactionReceipt.response
    #expect(lapsed.action == .lapsed)
    facts.merge(SubscriptionFacts(lapsed))
    let second = try only(facts, at: expiry)
    #expect(second.state == .billingRetry && !second.isEntitled && second.endedAt == expiry)
    #expect(second.nextProductID == "mango_star_vip10")

    let renewed = try Fixture.activeTransactionReceipt.response
    #expect(renewed.action == .ok)
    facts.merge(SubscriptionFacts(renewed))
    // The new period began 17 minutes after the end of the old one. The gap stays.
    let third = try only(facts, at: 1_566_378_403_000)
    #expect(third.state == .active && third.entitledUntil == 1_566_378_703_000)
    #expect(third.originalTransactionID == original && third.latestChange == nil)
    #expect(try only(facts, at: 1_566_378_703_000).state == .lapsed(nil))
  }

  @Test func `A change at the end of the period is pending first, then takes effect`() throws {
    var facts = try SubscriptionFacts(Fixture.changePending.response)
    let pending = try only(facts, at: 1_585_194_199_999)
    #expect(pending.state == .active && pending.productID == "xxx_2" && pending.nextProductID == "xxx_3")
    #expect(pending.isChangePending && pending.entitledUntil == 1_585_194_200_000)

    facts.merge(try SubscriptionFacts(Fixture.changeEffective.response))
    let effective = try only(facts, at: 1_585_194_200_000)
    #expect(
      effective.productID == "xxx_3" && effective.nextProductID == "xxx_3" && !effective.isChangePending)
    #expect(effective.entitledUntil == 1_585_197_800_000)
    #expect(
      effective.latestChange
        == PlanChange(previousProductID: "xxx_2", date: 1_585_194_200_000, wasAtOnce: false))
    // The new answer alone gives the same entitlement.
    let alone = try SubscriptionFacts(Fixture.changeEffective.response)
    #expect(try only(alone, at: 1_585_197_799_999).isEntitled)
    #expect(try only(alone, at: 1_585_197_800_000).state == .lapsed(nil))
  }

  @Test func `An immediate change ends the previous period`() throws {
    var facts = try SubscriptionFacts(Fixture.changeEffective.response)
    #expect(try only(facts, at: 1_585_195_703_000).entitledUntil == 1_585_197_800_000)
    facts.merge(try SubscriptionFacts(Fixture.changeAtOnce.response))
    let status = try only(facts, at: 1_585_195_703_000)
    #expect(status.state == .active && status.productID == "xxx_2" && !status.isChangePending)
    // The latest entry decides, even if the previous one would have lasted longer.
    #expect(status.entitledUntil == 1_585_196_603_000)
    #expect(
      status.latestChange
        == PlanChange(previousProductID: "xxx_3", date: 1_585_195_703_000, wasAtOnce: true))
    #expect(try only(facts, at: 1_585_195_702_999).productID == "xxx_3")
    #expect(try !only(facts, at: 1_585_196_603_000).isEntitled)
  }

  @Test func `A renewal that was turned off is reported, and a consumable in the answer is ignored`() throws {
    let facts = try SubscriptionFacts(Fixture.cancelledRenewal.response)
    #expect(facts.periods.count == 2)
    let before = try only(facts, at: 1_574_921_298_999)
    #expect(before.state == .active && before.willAutoRenew == false && before.nextProductID == nil)
    #expect(before.groupID == "20577287" && before.environment == .sandbox)
    #expect(before.transactionID == "1000000598475362")
    let after = try only(facts, at: 1_574_929_092_579)
    #expect(after.state == .lapsed(.cancelled) && after.endedAt == 1_574_921_299_000)
    // Between the first period and the latest. The answer has no others, so none is known to be paid.
    #expect(try only(facts, at: 1_574_919_800_000).state == .lapsed(nil))
    let none = try SubscriptionFacts(Fixture.numericConsumable.response)
    #expect(SubscriptionStatus.all(in: none, at: 0).isEmpty)
    #expect(SubscriptionStatus.groups(in: none, at: 0).isEmpty)
  }
}
