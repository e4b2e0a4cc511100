import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// Refunds of a part: how many units a share is, and what a payload says that contradicts itself.
struct RefundedShareTests {
  @Test(arguments: [
    (33_333, 3, 1), (33_334, 3, 1), (66_666, 3, 2), (66_667, 3, 2), (99_999, 3, 3), (100_000, 3, 3),
    (0, 3, 0), (33_332, 3, 0), (50_000, 3, 1), (50_000, 2, 1), (10_000, 10, 1), (90_000, 10, 9),
    (60_000, 1, 0),
    (14_285, 7, 1), (14_286, 7, 1), (100_000, 1, 1), (50_000, 0, 0), (50_000, -3, 0), (100_000, -3, 0),
  ])
  func `a unit counts as refunded if the share covers it, as the store rounds`(
    share: Int, quantity: Int, units: Int
  ) throws {
    #expect(try #require(RefundedShare(milliPercent: share)).units(of: quantity) == units)
  }

  @Test func `the share of any number of units is read as that number of units`() throws {
    for quantity in 1...1_000 {
      for units in 0...quantity {
        let share = try #require(RefundedShare(units: units, of: quantity))
        #expect(share.units(of: quantity) == units, "\(units) of \(quantity)")
        #expect(share.part(of: quantity * 7, in: quantity) == units * 7, "\(units) of \(quantity)")
      }
    }
  }

  @Test(arguments: [Int.max, Int.max / 3, 1 << 40])
  func `a share of a very large quantity does not overflow`(quantity: Int) throws {
    let half = try #require(RefundedShare(milliPercent: 50_000))
    // A share covers up to a thousandth of a percent more than it says: the store rounds it.
    #expect((quantity / 2...quantity / 2 + quantity / 100_000 + 1).contains(half.units(of: quantity)))
    #expect((quantity / 2...quantity).contains(half.part(of: quantity, in: quantity)))
    #expect(RefundedShare(units: quantity, of: quantity) == .whole)
  }

  @Test(arguments: [-1, 100_001, Int64.min, Int64.max])
  func `a number that is no share makes none`(number: Int64) {
    #expect(RefundedShare(milliPercent: number) == nil)
  }

  @Test(arguments: [(-1, 3), (4, 3), (0, 0), (1, 0), (1, -1)])
  func `units that a quantity has not are no share`(units: Int, quantity: Int) {
    #expect(RefundedShare(units: units, of: quantity) == nil)
  }

  @Test(
    arguments: [
      (#""revocationDate":5,"revocationType":"REFUND_PRORATED","revocationPercentage":33333"#, 33_333, nil),
      (#""revocationDate":5,"revocationType":"REFUND_FULL""#, 100_000, nil),
      (#""revocationDate":5,"revocationType":"REFUND_FULL","revocationPercentage":100000"#, 100_000, nil),
      (
        #""revocationDate":5,"revocationType":"REFUND_FULL","revocationPercentage":33333"#, 100_000,
        .partOfWhole
      ),
      (
        #""revocationDate":5,"revocationType":"FAMILY_REVOKE","revocationPercentage":1"#, 100_000,
        .partOfWhole
      ),
      (#""revocationDate":5,"revocationPercentage":33333"#, 33_333, nil),
      (#""revocationDate":5,"revocationType":"LATER","revocationPercentage":0"#, 0, nil),
      (#""revocationDate":5"#, nil, nil),
      (#""revocationDate":5,"revocationType":"REFUND_PRORATED""#, nil, .withoutShare),
      (#""revocationType":"REFUND_PRORATED","revocationPercentage":33333"#, nil, .withoutDate),
      (#""revocationPercentage":100000"#, nil, .withoutDate),
      (#""revocationType":"REFUND_FULL""#, nil, .withoutDate),
      (#""isUpgraded":false"#, nil, nil),
    ] as [(String, Int?, RefundFinding?)])
  func `the date says that something is refunded, and the type wins over the share`(
    fields: String, share: Int?, finding: RefundFinding?
  ) throws {
    let signed = try SignedTransaction(
      jws: jws(payload: #"{"transactionId":"7","productId":"p","purchaseDate":1,\#(fields)}"#))
    #expect(signed.refundedShare?.milliPercent == share)
    #expect(signed.refundFinding == finding)
  }

  @Test func `the rest of the price of a replaced plan is no refund of the subscription`() throws {
    let plan =
      #"{"transactionId":"7","productId":"p","purchaseDate":1,"expiresDate":100,"isUpgraded":true,"#
      + #""revocationDate":50,"revocationType":"REFUND_PRORATED","revocationPercentage":50000}"#
    for (payload, state) in [
      (plan, SubscriptionStatus.State.upgraded),
      (plan.replacingOccurrences(of: "REFUND_PRORATED", with: "REFUND_FULL"), .refunded),
      (plan.replacingOccurrences(of: #""isUpgraded":true,"#, with: ""), .refunded),
    ] {
      let facts = SubscriptionFacts(transactions: [try SignedTransaction(jws: jws(payload: payload))])
      #expect(SubscriptionStatus.all(in: facts, at: 60).map(\.state) == [state])
    }
  }
}
